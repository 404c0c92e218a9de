"""The question before a call that may destroy something. Owns when it is asked, its words, and what the answer means.

It is asked where the client can ask its user, once for each call, before anything is done. Where it cannot, nothing
stands between the call and its tool but what stood there before: that the preset had to be turned on.
"""

from __future__ import annotations

from presets.definition import Risk
from presets.interactions import InteractiveRun
from presets.json_preview import json_preview
from protocol.client_capabilities import Capability
from protocol.input_request import ElicitAnswer, ElicitForm, InputRefused, InputResponse
from protocol.interaction import Interaction
from protocol.tool import JsonObject, NotRunError, ToolOutcome

CONFIRM = "space_confirm"
"""The key of the question. No other question of a call has it."""

SHOWN_CHARACTERS = 1200
"""Of the arguments in a question: what a dialogue shows without being scrolled for long."""

_CONSEQUENCES = {
    Risk.SHELL: "It runs a command with your rights.",
    Risk.FILESYSTEM_WRITE: "It writes files of your workspace, and may replace what is there.",
}
_LOSS = "It may take away what undo does not bring back."


def asking_first(mcp_name: str, title: str | None, risk: Risk, body: InteractiveRun) -> InteractiveRun:
    """The same body, run once the user has agreed, where the client can ask."""

    async def run(arguments: JsonObject, call: Interaction) -> ToolOutcome:
        if Capability.ELICITATION_FORM in call.client:
            answers = await call.ask({CONFIRM: question(mcp_name, title, risk, arguments)})
            _demand_agreement(mcp_name, answers.get(CONFIRM))
        return await body(arguments, call)

    return run


def question(mcp_name: str, title: str | None, risk: Risk, arguments: JsonObject) -> ElicitForm:
    """The question about one call. There is nothing to fill in: to accept is to agree."""
    what = mcp_name if title is None else f"{title} ({mcp_name})"
    with_what = f"\n{json_preview(arguments, SHOWN_CHARACTERS)}" if arguments else " It has no arguments."
    consequence = _CONSEQUENCES.get(risk, _LOSS)
    return ElicitForm(f"May the agent call {what}? {consequence}{with_what}", {"type": "object", "properties": {}})


def _demand_agreement(mcp_name: str, answer: InputResponse | None) -> None:
    match answer:
        case ElicitAnswer(action="accept"):
            return
        case ElicitAnswer(action="decline"):
            raise NotRunError(
                f"The user declined: {mcp_name} was not run and nothing was changed. Do not call it again for this; "
                "say what you wanted to do, and let the user decide."
            )
        case ElicitAnswer():
            raise NotRunError(
                f"The user closed the question without deciding: {mcp_name} was not run and nothing was changed. Ask "
                "the user in words before you call it again."
            )
        case InputRefused(message=message):
            raise NotRunError(
                f"The client would not ask the user ({message}): {mcp_name} was not run and nothing was changed."
            )
        case _:
            raise NotRunError(f"The user has not agreed: {mcp_name} was not run and nothing was changed.")
