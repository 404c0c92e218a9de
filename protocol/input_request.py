"""What a server can ask of its client in the middle of a request, and what the client answers.

Owns these values, their wire form, and the judging of answers. Whether a question travels as a request of ours (in a
session) or inside a result that the client comes back from (stateless) is not known here.
Source: MCP specification, client/elicitation, client/sampling and client/roots; 2026-07-28, multi round-trip requests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from mcp_types import ModelPreferences, SamplingMessage, Tool, ToolChoice

from protocol.client_capabilities import Capability, ClientCapabilities
from protocol.jsonrpc import json_type
from protocol.schema import compile_schema, preview
from protocol.tool import JsonObject
from protocol.versions import Generation, Revision


@dataclass(frozen=True, slots=True)
class ElicitForm:
    """Ask the user to fill in a form. `schema` is an object schema with members of simple types only.

    `agreement` says that to accept is to permit something. Where the answer comes with a request that begins anew, it
    counts only together with the state that went out with this very question, and once.
    """

    message: str
    schema: JsonObject
    agreement: bool = False


@dataclass(frozen=True, slots=True)
class ElicitUrl:
    """Ask the user to visit a page, for what must not pass through the client. The answer says only that they agreed.

    Sessions need an `elicitation_id`, because the server can tell later that the visit is over; nobody else gets it.
    """

    message: str
    url: str
    elicitation_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Ask the client's model for a message of at most `max_tokens` tokens."""

    messages: tuple[SamplingMessage, ...]
    max_tokens: int
    system_prompt: str | None = None
    temperature: float | None = None
    stop_sequences: tuple[str, ...] = ()
    model_preferences: ModelPreferences | None = None
    tools: tuple[Tool, ...] = ()
    tool_choice: ToolChoice | None = None


@dataclass(frozen=True, slots=True)
class ListRoots:
    """Ask which folders the client works in."""


InputRequest = ElicitForm | ElicitUrl | Sample | ListRoots


@dataclass(frozen=True, slots=True)
class ElicitAnswer:
    """What the user did. `content` is there where a form was accepted, and matches its schema."""

    action: Literal["accept", "decline", "cancel"]
    content: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class SampleAnswer:
    """What the client's model wrote: its content blocks as JSON, always as several."""

    role: str
    content: tuple[JsonObject, ...]
    model: str
    stop_reason: str | None = None

    @property
    def text(self) -> str:
        """The text of it, without whatever else there is."""
        return "\n".join(str(block["text"]) for block in self.content if block.get("type") == "text")


@dataclass(frozen=True, slots=True)
class Root:
    """One folder or other place, by its uri."""

    uri: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class RootsAnswer:
    """The places that the client works in."""

    roots: tuple[Root, ...]


@dataclass(frozen=True, slots=True)
class InputRefused:
    """The client answered with an error: in sessions only."""

    code: int
    message: str


InputResponse = ElicitAnswer | SampleAnswer | RootsAnswer | InputRefused


@dataclass(frozen=True, slots=True)
class InputRequired:
    """A request that cannot go on before its client has answered. Either of the two must be there.

    `state` is any JSON value but null; the client gets it sealed, and brings it back with its answers. `once` says that
    it may be brought back a single time, since it stands for an agreement.
    """

    requests: Mapping[str, InputRequest]
    state: object = None
    once: bool = False

    def __post_init__(self) -> None:
        if not self.requests and self.state is None:
            raise ValueError("input is required, but neither a request nor a state says which")


@dataclass(frozen=True, slots=True)
class MalformedAnswer:
    """An answer that is no answer to its question at all. The text says which and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Settled:
    """Which questions have been answered, and which are open: those with no answer, or with one that will not do."""

    answers: Mapping[str, InputResponse]
    missing: Mapping[str, InputRequest]


def needs(request: InputRequest) -> frozenset[Capability]:
    """What a client must be able to do for a request."""
    match request:
        case ElicitForm():
            return frozenset({Capability.ELICITATION_FORM})
        case ElicitUrl():
            return frozenset({Capability.ELICITATION_URL})
        case Sample(tools=tools, tool_choice=choice):
            wanted = {Capability.SAMPLING}
            return frozenset(wanted | {Capability.SAMPLING_TOOLS} if tools or choice is not None else wanted)
        case ListRoots():
            return frozenset({Capability.ROOTS})


def possible(request: InputRequest, client: ClientCapabilities, revision: Revision) -> bool:
    """Whether a client of that revision can be asked this.

    To declare a capability is to permit what it is for, also where the client agreed on a revision from before there
    were forms: it knows them all the same. What the declaration does not tell apart, the revision has to.
    """
    known = {
        ElicitForm: True,
        ElicitUrl: revision.url_elicitation,
        Sample: revision.sampling_tools or Capability.SAMPLING_TOOLS not in needs(request),
        ListRoots: True,
    }
    return known[type(request)] and not client.lacking(needs(request))


def method_of(request: InputRequest) -> str:
    """The method under which a request travels."""
    return _METHODS[type(request)]


def params_of(request: InputRequest, revision: Revision) -> dict[str, Any]:
    """The params of a request as a revision writes them."""
    match request:
        case ElicitForm(message=message, schema=schema):
            wanted: JsonObject = {"type": "object", "properties": {}, **schema}
            form: dict[str, Any] = {"message": message, "requestedSchema": wanted}
            # Clients that know forms only have never heard of a mode.
            return {"mode": "form", **form} if revision.url_elicitation else form
        case ElicitUrl(message=message, url=url, elicitation_id=elicitation_id):
            page = {"mode": "url", "message": message, "url": url}
            named = elicitation_id is not None and revision.generation is Generation.SESSIONS
            return {**page, "elicitationId": elicitation_id} if named else page
        case Sample():
            return _sample_params(request)
        case ListRoots():
            return {}


def wire_request(request: InputRequest, revision: Revision) -> JsonObject:
    """A request as a value of `inputRequests`."""
    return {"method": method_of(request), "params": params_of(request, revision)}


def read_answer(request: InputRequest, value: object) -> InputResponse | MalformedAnswer | None:
    """What a client's answer says; None where it is an answer, but its content is not what the form asked for.

    Raises `SchemaError` for a form whose own schema is none.
    """
    if not isinstance(value, Mapping):
        return MalformedAnswer(f"must be an object, not {json_type(value)}")
    answer = cast("JsonObject", value)
    match request:
        case ElicitForm(schema=schema):
            return _read_form(schema, answer)
        case ElicitUrl():
            return _read_action(answer)
        case Sample():
            return _read_sample(answer)
        case ListRoots():
            return _read_roots(answer)


def settle(requests: Mapping[str, InputRequest], answers: Mapping[str, object]) -> Settled | MalformedAnswer:
    """Which of the questions the answers settle. Answers that nobody asked for are skipped.

    Raises `SchemaError` as `read_answer`.
    """
    settled: dict[str, InputResponse] = {}
    missing: dict[str, InputRequest] = {}
    for key, request in requests.items():
        found = read_answer(request, answers[key]) if key in answers else None
        if isinstance(found, MalformedAnswer):
            return MalformedAnswer(f"the answer to {preview(key)} {found.reason}")
        if found is None:
            missing[key] = request
        else:
            settled[key] = found
    return Settled(settled, missing)


def refused_answer(error: JsonObject) -> InputRefused:
    """The answer of a client that responded with an error."""
    code, message = error.get("code"), error.get("message")
    reason = message if isinstance(message, str) else "the client gave no reason"
    return InputRefused(code if type(code) is int else 0, reason)


_METHODS: Mapping[type[InputRequest], str] = {
    ElicitForm: "elicitation/create",
    ElicitUrl: "elicitation/create",
    Sample: "sampling/createMessage",
    ListRoots: "roots/list",
}


def _sample_params(request: Sample) -> dict[str, Any]:
    optional: dict[str, object] = {
        "systemPrompt": request.system_prompt,
        "temperature": request.temperature,
        "stopSequences": list(request.stop_sequences) or None,
        "modelPreferences": request.model_preferences,
        "tools": list(request.tools) or None,
        "toolChoice": request.tool_choice,
    }
    params: dict[str, Any] = {"messages": list(request.messages), "maxTokens": request.max_tokens}
    return params | {name: value for name, value in optional.items() if value is not None}


def _read_action(answer: JsonObject) -> ElicitAnswer | MalformedAnswer:
    action = answer.get("action")
    if action == "accept" or action == "decline" or action == "cancel":
        return ElicitAnswer(action)
    return MalformedAnswer(f"must have an action, which is accept, decline or cancel; it is {preview(action)}")


def _read_form(schema: JsonObject, answer: JsonObject) -> InputResponse | MalformedAnswer | None:
    done = _read_action(answer)
    if isinstance(done, MalformedAnswer) or done.action != "accept":
        return done
    content: object = answer.get("content", {})
    if not isinstance(content, Mapping):
        return MalformedAnswer(f"must have content that is an object, not {json_type(content)}")
    filled = cast("JsonObject", content)
    return None if compile_schema({"type": "object", **schema}).problems(filled) else ElicitAnswer("accept", filled)


def _read_sample(answer: JsonObject) -> SampleAnswer | MalformedAnswer:
    role, model = answer.get("role"), answer.get("model")
    content: object = answer.get("content")
    if not isinstance(role, str) or not isinstance(model, str):
        return MalformedAnswer("must have a role and a model, which are strings")
    blocks = (cast("JsonObject", content),) if isinstance(content, Mapping) else _objects(content)
    if blocks is None:
        return MalformedAnswer("must have content that is a block, or an array of blocks")
    stop = answer.get("stopReason")
    return SampleAnswer(role, blocks, model, stop if isinstance(stop, str) else None)


def _read_roots(answer: JsonObject) -> RootsAnswer | MalformedAnswer:
    found = _objects(answer.get("roots"))
    if found is None or not all(isinstance(root.get("uri"), str) for root in found):
        return MalformedAnswer("must have roots, which is an array of objects that have a uri")
    return RootsAnswer(tuple(Root(root["uri"], _text_or_none(root.get("name"))) for root in found))


def _objects(value: object) -> tuple[JsonObject, ...] | None:
    if not isinstance(value, list):
        return None
    items = cast("list[object]", value)
    return tuple(cast("list[JsonObject]", items)) if all(isinstance(item, Mapping) for item in items) else None


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None


def keep(requests: Mapping[str, InputRequest], wanted: Callable[[InputRequest], bool]) -> dict[str, InputRequest]:
    """The requests that are wanted, under their keys and in their order."""
    return {key: request for key, request in requests.items() if wanted(request)}


def all_needs(requests: Iterable[InputRequest]) -> frozenset[Capability]:
    """What a client must be able to do for all of them."""
    return frozenset(capability for request in requests for capability in needs(request))
