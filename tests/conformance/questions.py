"""The suite's tools that ask their client: for forms, for words of its model, for its roots, once or in several rounds.

The bodies do not know whether the client answers while they wait, or comes back with its answers.
"""

from __future__ import annotations

from mcp_types import SamplingMessage, TextContent

from presets.adapters import ToolAdapter
from presets.app import App
from protocol.input_request import ElicitForm, ListRoots, RootsAnswer, Sample, SampleAnswer
from protocol.interaction import Interaction
from protocol.tool import JsonObject, ToolError, ToolOutcome
from tests.conformance.adapting import tool

_NAME: JsonObject = {"properties": {"name": {"type": "string"}}, "required": ["name"]}
_COLOR: JsonObject = {"properties": {"color": {"type": "string"}}, "required": ["color"]}
_CONSENT: JsonObject = {"properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}

ASK_NAME = ElicitForm("What is your name?", _NAME)

_ACCOUNT: JsonObject = {
    "properties": {
        "username": {"type": "string", "description": "Your name here"},
        "email": {"type": "string", "description": "Your address"},
    },
    "required": ["username", "email"],
}

_DEFAULTS: JsonObject = {
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    }
}
"""Every simple type, each with a default."""

_OPTIONS = ["option1", "option2", "option3"]
_TITLED = [
    {"const": "value1", "title": "First"},
    {"const": "value2", "title": "Second"},
    {"const": "value3", "title": "Third"},
]
_ENUMS: JsonObject = {
    "properties": {
        "untitledSingle": {"type": "string", "enum": _OPTIONS},
        "titledSingle": {"type": "string", "oneOf": _TITLED},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["Option One", "Option Two"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": _OPTIONS}},
        "titledMulti": {"type": "array", "items": {"anyOf": _TITLED}},
    }
}
"""Every way to offer a choice."""


def adapters() -> tuple[ToolAdapter, ...]:
    """The tools of this module."""
    round_trip = "test_input_required_result"
    return (
        tool(
            "test_sampling",
            _sampling,
            "Lets the client's model answer a prompt.",
            properties={"prompt": {"type": "string"}},
            required=("prompt",),
        ),
        tool(
            "test_elicitation",
            _elicitation,
            "Asks the user who they are.",
            properties={"message": {"type": "string"}},
            required=("message",),
        ),
        tool("test_elicitation_sep1034_defaults", _defaults, "Asks with a form that is filled in already."),
        tool("test_elicitation_sep1330_enums", _enums, "Asks with a form of choices."),
        tool("test_missing_capability", _sampling_alone, "Cannot do without the client's model."),
        tool("test_streaming_elicitation", _streaming, "Says how far it is, and then asks the user."),
        tool(f"{round_trip}_elicitation", _greeting, "Greets the user by the name they give."),
        tool(f"{round_trip}_sampling", _sampling_alone, "Gives back what the client's model says."),
        tool(f"{round_trip}_list_roots", _roots, "Names the folders that the client works in."),
        tool(f"{round_trip}_request_state", _state, "Gets back what it noted in the round before."),
        tool(f"{round_trip}_tampered_state", _state, "Takes back no note that is not its own."),
        tool(f"{round_trip}_multiple_inputs", _several, "Asks three things at once."),
        tool(f"{round_trip}_multi_round", _rounds, "Asks one thing after the other."),
        tool(f"{round_trip}_capabilities", _whatever_can_be_asked, "Asks what this client can be asked."),
    )


def sample(prompt: str) -> Sample:
    """The question of a prompt to the client's model."""
    message = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
    return Sample(messages=(message,), max_tokens=100)


CAPITAL = sample("What is the capital of France?")


async def _sampling(app: App, arguments: JsonObject, call: Interaction) -> ToolOutcome:
    said = (await call.ask({"answer": sample(arguments["prompt"])}))["answer"]
    return ToolOutcome.text(f"LLM response: {_words(said)}")


async def _elicitation(app: App, arguments: JsonObject, call: Interaction) -> ToolOutcome:
    given = (await call.ask({"account": ElicitForm(arguments["message"], _ACCOUNT)}))["account"]
    return ToolOutcome.text(f"User response: {given}")


async def _defaults(app: App, arguments: JsonObject, call: Interaction) -> ToolOutcome:
    given = (await call.ask({"profile": ElicitForm("Is this right?", _DEFAULTS)}))["profile"]
    return ToolOutcome.text(f"Elicitation completed: {given}")


async def _enums(app: App, arguments: JsonObject, call: Interaction) -> ToolOutcome:
    given = (await call.ask({"choices": ElicitForm("What do you choose?", _ENUMS)}))["choices"]
    return ToolOutcome.text(f"Elicitation completed: {given}")


async def _sampling_alone(app: App, arguments: JsonObject, call: Interaction) -> ToolOutcome:
    return ToolOutcome.text(_words((await call.ask({"capital": CAPITAL}))["capital"]))


async def _streaming(app: App, arguments: JsonObject, call: Interaction) -> ToolOutcome:
    await call.progress(0, 1)
    return await _greeting(app, arguments, call)


async def _greeting(app: App, arguments: JsonObject, call: Interaction) -> ToolOutcome:
    return ToolOutcome.text(f"Hello: {(await call.ask({'user_name': ASK_NAME}))['user_name']}")


async def _roots(app: App, arguments: JsonObject, call: Interaction) -> ToolOutcome:
    found = (await call.ask({"client_roots": ListRoots()}))["client_roots"]
    if not isinstance(found, RootsAnswer):
        raise ToolError(f"the client named no roots: {found}")
    return ToolOutcome.text(", ".join(root.uri for root in found.roots))


async def _state(app: App, arguments: JsonObject, call: Interaction) -> ToolOutcome:
    given = (await call.ask({"confirm": ElicitForm("Shall it go on?", _CONSENT)}, {"asked": "confirm"}))["confirm"]
    return ToolOutcome.text(f"state-ok: {call.state}, {given}")


async def _several(app: App, arguments: JsonObject, call: Interaction) -> ToolOutcome:
    questions = {"user_name": ASK_NAME, "greeting": sample("Write a greeting."), "client_roots": ListRoots()}
    return ToolOutcome.text(str(dict(await call.ask(questions, {"asked": sorted(questions)}))))


async def _rounds(app: App, arguments: JsonObject, call: Interaction) -> ToolOutcome:
    name = (await call.ask({"step1": ASK_NAME}, {"round": 1}))["step1"]
    color = (await call.ask({"step2": ElicitForm("Which color do you like?", _COLOR)}, {"round": 2}))["step2"]
    return ToolOutcome.text(f"{name} likes {color}.")


async def _whatever_can_be_asked(app: App, arguments: JsonObject, call: Interaction) -> ToolOutcome:
    return ToolOutcome.text(str(dict(await call.ask({"user_name": ASK_NAME, "capital": CAPITAL}))))


def _words(answer: object) -> str:
    if not isinstance(answer, SampleAnswer):
        raise ToolError(f"the client's model said nothing: {answer}")
    return answer.text
