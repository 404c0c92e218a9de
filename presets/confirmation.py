"""The question before a call that may destroy something. Owns when it is asked, its words, and what the answer means.

It is asked where the client can ask its user, once for each call, before anything is done. Where it cannot, nothing
stands between the call and its tool but what stood there before: that the preset had to be turned on. What is agreed to
is what was shown: nothing of it is hidden from the eye, what is left out is counted, and what cannot be shown is not
asked about.
"""

from __future__ import annotations

from presets.definition import Risk
from presets.interactions import InteractiveRun
from presets.json_preview import json_without_middle
from protocol.client_capabilities import Capability
from protocol.input_request import ElicitAnswer, ElicitForm, InputRefused, InputResponse
from protocol.interaction import Interaction, MalformedAnswerError
from protocol.tool import JsonObject, NotRunError, ToolError, ToolOutcome
from protocol.visible_text import visible

CONFIRM = "space_confirm"
"""The key of the question. No other question of a call has it."""

SHOWN_CHARACTERS = 2400
"""Of the arguments in a question: what a dialogue shows without being scrolled for long."""

_TITLE_CHARACTERS = 100
"""Of the title of a tool in a question: whoever offers the tool wrote it."""

_CONSEQUENCES = {
    Risk.SHELL: "It runs a command with your rights.",
    Risk.FILESYSTEM_WRITE: "It writes files of your workspace, and may replace what is there.",
}
_LINE_END = "\n"
_LOSS = "It may take away what undo does not bring back."


def asking_first(mcp_name: str, title: str | None, risk: Risk, body: InteractiveRun) -> InteractiveRun:
    """The same body, run once the user has agreed, where the client can ask."""

    async def run(arguments: JsonObject, call: Interaction) -> ToolOutcome:
        if Capability.ELICITATION_FORM in call.client:
            asked = question(mcp_name, title, risk, arguments)
            try:
                answers = await call.ask({CONFIRM: asked})
            except MalformedAnswerError as error:
                again = "To ask the user again send the request without requestState and inputResponses"
                raise MalformedAnswerError(f"{error}; {_nothing_done(mcp_name)} {again}") from error
            except NotRunError:
                raise
            except ToolError as error:
                raise NotRunError(f"{str(error).rstrip('.')}. {_nothing_done(mcp_name)}") from error
            _demand_agreement(mcp_name, answers.get(CONFIRM))
        return await body(arguments, call)

    return run


def question(mcp_name: str, title: str | None, risk: Risk, arguments: JsonObject) -> ElicitForm:
    """The question about one call. There is nothing to fill in: to accept is to agree.

    Raises `NotRunError` for arguments of which nothing could be shown.
    """
    what = mcp_name if title is None else f"{visible(title[:_TITLE_CHARACTERS])} ({mcp_name})"
    consequence = _CONSEQUENCES.get(risk, _LOSS)
    asked = f"May the agent call {what}? {consequence}{_shown(mcp_name, arguments)}"
    return ElicitForm(asked, {"type": "object", "properties": {}}, agreement=True)


def _shown(mcp_name: str, arguments: JsonObject) -> str:
    if not arguments:
        return " It has no arguments."
    shown = json_without_middle(arguments, SHOWN_CHARACTERS)
    if shown is None:
        raise NotRunError(
            f"The user has to agree to this call, and its arguments cannot be shown to them. {_nothing_done(mcp_name)} "
            "Make several calls of it with less each"
        )
    more = "" if shown.is_whole else " Not everything fits here: where something is left out, it says how much."
    return f"{more}\n{visible(shown.text, keep=_LINE_END)}"


def _nothing_done(mcp_name: str) -> str:
    return f"{mcp_name} was not run and changed nothing."


def _demand_agreement(mcp_name: str, answer: InputResponse | None) -> None:
    match answer:
        case ElicitAnswer(action="accept"):
            return
        case ElicitAnswer(action="decline"):
            raise NotRunError(
                f"The user declined: {_nothing_done(mcp_name)} Do not call it again for this; "
                "say what you wanted to do, and let the user decide."
            )
        case ElicitAnswer():
            raise NotRunError(
                f"The user closed the question without deciding: {_nothing_done(mcp_name)} Ask the "
                "user in words before you call it again."
            )
        case InputRefused(message=message):
            raise NotRunError(f"The client would not ask the user ({message}): {_nothing_done(mcp_name)}")
        case _:
            raise NotRunError(f"The user has not agreed: {_nothing_done(mcp_name)}")
