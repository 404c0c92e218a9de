"""Requests of clients that know no sessions, and a server that offers everything, for the tests of the protocol."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from mcp_types import PromptMessage as Message
from mcp_types import TextContent, TextResourceContents

from protocol.completion import CompletionOutcome
from protocol.decision import Decision
from protocol.handler import Handler
from protocol.http_facts import HttpFacts
from protocol.interaction import Interaction
from protocol.jsonrpc import parse
from protocol.ladder import NAMED_BY
from protocol.offer import Offer
from protocol.prompt import PromptArgument, PromptDefinition, PromptOutcome
from protocol.prompt_list import PromptRegistry
from protocol.request_state import StateSealer
from protocol.resource import ResourceDefinition, ResourceOutcome, ResourceTemplate
from protocol.resource_list import ResourceRegistry
from protocol.session import Session
from protocol.stateless_rules import Stateless
from protocol.tool import TaskSupport
from protocol.uri_template import UriTemplate
from tests.protocol.samples import NOW, SERVER, SHAPE_SCHEMA, post, request, tool, tools

VERSION = "2026-07-28"
PREFIX = "io.modelcontextprotocol/"
TASKS = {"extensions": {"io.modelcontextprotocol/tasks": {}}}
EVERYTHING = {"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}, **TASKS}


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


CLOCK = Clock()
SEALER = StateSealer(b"k" * 32, CLOCK)
STATELESS = Handler(SERVER, stateless=Stateless(sealer=SEALER))


async def read_text(uri: str, values: Mapping[str, str], call: Interaction) -> ResourceOutcome:
    return ResourceOutcome((TextResourceContents(uri=uri, text=str(values)),))


async def write_prompt(arguments: Mapping[str, str], call: Interaction) -> PromptOutcome:
    return PromptOutcome((Message(role="user", content=TextContent(type="text", text=str(arguments))),))


async def suggest(value: str, filled_in: Mapping[str, str]) -> CompletionOutcome:
    return CompletionOutcome((f"{value}!",))


def resource(uri: str = "space://world", **changes: Any) -> ResourceDefinition:
    members: dict[str, Any] = {"uri": uri, "name": "world", "read": read_text, "owner": "worlds", "source": "world"}
    return ResourceDefinition(**{**members, **changes})


def template(text: str = "space://object/{id}", **changes: Any) -> ResourceTemplate:
    members: dict[str, Any] = {"name": "object", "read": read_text, "owner": "worlds", "source": "object"}
    return ResourceTemplate(template=UriTemplate.parse(text), **{**members, **changes})


def prompt(name: str = "sketch", **changes: Any) -> PromptDefinition:
    members: dict[str, Any] = {"name": name, "run": write_prompt, "owner": "blocks", "source": "story"}
    return PromptDefinition(**{**members, **changes})


HEADED_SCHEMA = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "count": {"type": "integer", "x-mcp-header": "Count"},
        "deep": {"type": "object", "properties": {"dry": {"type": "boolean", "x-mcp-header": "Dry-Run"}}},
    },
}

ALL_TOOLS = tools(
    tool(),
    tool("space_shape", input_schema=SHAPE_SCHEMA),
    tool("space_routed", input_schema=HEADED_SCHEMA),
    tool("space_slow", task_support=TaskSupport.OPTIONAL),
    tool("space_job", task_support=TaskSupport.REQUIRED),
)
RESOURCES = ResourceRegistry().apply(
    additions=[resource(), resource("space://tree", name="tree"), template(completers={"id": suggest})]
)
PROMPTS = PromptRegistry().apply(
    additions=[
        prompt(),
        prompt(
            "draw",
            description="Draws.",
            arguments=(PromptArgument(name="what", required=True, completer=suggest), PromptArgument(name="how")),
        ),
    ]
)
OFFER = Offer(
    tools=ALL_TOOLS,
    resources=RESOURCES,
    prompts=PROMPTS,
    completions=True,
    logging=True,
    tasks=True,
    asks_clients=True,
    instructions="Draw with +y up.",
)


def meta(version: object = VERSION, client: object = None, **more: Any) -> dict[str, Any]:
    """What `_meta` holds; names without a slash get the prefix."""
    about = {f"{PREFIX}protocolVersion": version, f"{PREFIX}clientCapabilities": {} if client is None else client}
    plain = {"progressToken", "traceparent"}
    return about | {name if name in plain else f"{PREFIX}{name}": value for name, value in more.items()}


def modern(
    method: str, params: Mapping[str, Any] | None = None, request_id: object = 1, **about: Any
) -> dict[str, object]:
    """A request with everything that its body needs."""
    return request(method, {"_meta": meta(**about), **(params or {})}, request_id)


def headers_of(message: Mapping[str, Any], **changes: str | None) -> tuple[tuple[str, str], ...]:
    """The headers that a request needs, some of them changed, or left out (None)."""
    params = message.get("params", {})
    member = NAMED_BY.get(str(message.get("method")))
    found: dict[str, str | None] = {"mcp-protocol-version": VERSION, "mcp-method": str(message.get("method"))}
    if member is not None and isinstance(params, Mapping) and isinstance(params.get(member), str):
        found["mcp-name"] = in_header(params[member])
    found |= {name.replace("_", "-"): value for name, value in changes.items()}
    return tuple((name, value) for name, value in found.items() if value is not None)


def in_header(text: str) -> str:
    plain = text.isascii() and text.isprintable() and text == text.strip()
    return text if plain else f"=?base64?{b64encode(text.encode()).decode()}?="


def facts_of(message: Mapping[str, Any], *more: tuple[str, str], **changes: str | None) -> HttpFacts:
    found = headers_of(message, **changes)
    version = dict(found).get("mcp-protocol-version")
    return post(None, version, mcp_headers=(*found, *more))


def decide(
    message: Any,
    facts: HttpFacts | None = None,
    *,
    offer: Offer = OFFER,
    of: Session | None = None,
    handler: Handler = STATELESS,
) -> Decision:
    """Decide about a message with the headers that it needs, or with others."""
    known = facts or facts_of(message if isinstance(message, Mapping) else {"method": ""})
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return handler.decide(known, parse(body), of, offer)
