"""What a stateless request says about its sender: everything that a session would have remembered.

Owns the value and the reading of `_meta`. Source: MCP specification 2026-07-28, base protocol ("_meta").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import cast

from protocol.client_capabilities import NO_CAPABILITIES, ClientCapabilities
from protocol.jsonrpc import json_type
from protocol.log_level import LEVEL_NAMES, LogLevel
from protocol.request_state import StateBinding
from protocol.schema import preview
from protocol.tool import JsonObject

META_PREFIX = "io.modelcontextprotocol/"
VERSION_CLAIM = f"{META_PREFIX}protocolVersion"
"""The member of `_meta` with which clients that know no sessions name their revision."""

CAPABILITIES_CLAIM = f"{META_PREFIX}clientCapabilities"
CLIENT_CLAIM = f"{META_PREFIX}clientInfo"
LOG_LEVEL_CLAIM = f"{META_PREFIX}logLevel"
SERVER_CLAIM = f"{META_PREFIX}serverInfo"
SUBSCRIPTION_CLAIM = f"{META_PREFIX}subscriptionId"

TRACE_MEMBERS = ("traceparent", "tracestate", "baggage")
"""Members of `_meta` that belong to tracing, and are handed on as they came."""

CLIENT_CHARACTERS = 200
"""Of the name and of the version of a client: they are kept with each of its sessions, shown and logged."""

_NO_ANSWERS: Mapping[str, object] = MappingProxyType({})
_NO_TRACE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class StatelessFacts:
    """The sender of one request.

    `log_level` is from where on it wants log messages, None for none at all. `answers` are its answers to what it was
    asked before, as they came; `state` is what was sealed for it then, None where there was nothing. `binding` is what
    a new state must be sealed for.
    """

    version: str
    client: ClientCapabilities = NO_CAPABILITIES
    client_name: str | None = None
    client_version: str | None = None
    log_level: LogLevel | None = None
    answers: Mapping[str, object] = field(default_factory=lambda: _NO_ANSWERS)
    state: object = None
    binding: StateBinding = field(repr=False)
    trace: Mapping[str, str] = field(default_factory=lambda: _NO_TRACE)

    @property
    def principal(self) -> str:
        """Whose request it is."""
        return self.binding.principal


@dataclass(frozen=True, slots=True)
class Claims:
    """What `_meta` says, before anybody has checked it against headers."""

    version: str
    client: ClientCapabilities
    client_name: str | None
    client_version: str | None
    log_level: LogLevel | None
    trace: Mapping[str, str]


def claimed_version(params: JsonObject) -> object:
    """What `_meta` gives as the revision, of whatever type; None where it says nothing."""
    meta = params.get("_meta")
    return cast("JsonObject", meta).get(VERSION_CLAIM) if isinstance(meta, Mapping) else None


def read_claims(params: JsonObject) -> Claims | str:
    """What `_meta` says; or what is wrong with it, as a sentence. Who the client is need not be said."""
    meta_value: object = params.get("_meta")
    if not isinstance(meta_value, Mapping):
        got = "absent" if meta_value is None else json_type(meta_value)
        return f"params._meta must be an object with {VERSION_CLAIM} and {CAPABILITIES_CLAIM}; it is {got}"
    meta = cast("JsonObject", meta_value)
    version: object = meta.get(VERSION_CLAIM)
    if not isinstance(version, str):
        return f"params._meta must have {VERSION_CLAIM}, a string; it is {_kind(version)}"
    if meta.get(CAPABILITIES_CLAIM) is None:
        return f"params._meta must have {CAPABILITIES_CLAIM}, an object, which may be empty"
    client = ClientCapabilities.read(meta[CAPABILITIES_CLAIM])
    if isinstance(client, str):
        return f"params._meta: {CAPABILITIES_CLAIM} {client}"
    level: object = meta.get(LOG_LEVEL_CLAIM)
    log_level = LogLevel.read(level)
    if level is not None and log_level is None:
        return f"params._meta: {LOG_LEVEL_CLAIM} must be one of {LEVEL_NAMES}; it is {preview(level)}"
    info: object = meta.get(CLIENT_CLAIM)
    about: JsonObject = cast("JsonObject", info) if isinstance(info, Mapping) else {}
    trace = {name: meta[name] for name in TRACE_MEMBERS if isinstance(meta.get(name), str)}
    return Claims(version, client, client_text(about.get("name")), client_text(about.get("version")), log_level, trace)


def client_text(value: object) -> str | None:
    """A name or version that a client gives itself, cut to what anybody looks at; None for what is no text."""
    return value[:CLIENT_CHARACTERS] if isinstance(value, str) else None


def _kind(value: object) -> str:
    return "absent" if value is None else json_type(value)
