"""What a client says that it can do for the server. Owns the reading, and the words in which a lack is told.

Source: MCP specification, lifecycle ("Capability Negotiation"), client/elicitation and client/sampling.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import cast

from protocol.jsonrpc import json_type
from protocol.tool import JsonObject

TASKS_EXTENSION = "io.modelcontextprotocol/tasks"
"""The extension under which calls go on as tasks."""


class Capability(StrEnum):
    """One thing that a client can do, as a path into the object in which it says so."""

    ROOTS = "roots"
    SAMPLING = "sampling"
    SAMPLING_TOOLS = "sampling.tools"
    ELICITATION_FORM = "elicitation.form"
    ELICITATION_URL = "elicitation.url"
    TASKS = f"extensions|{TASKS_EXTENSION}"


@dataclass(frozen=True, slots=True)
class ClientCapabilities:
    """What one client can do."""

    known: frozenset[Capability] = frozenset()

    def __contains__(self, capability: object) -> bool:
        return capability in self.known

    @classmethod
    def read(cls, value: object) -> ClientCapabilities | str:
        """What an object of capabilities says; or what is wrong with it, as the end of a sentence about the object.

        Members that nobody knows are skipped. A bare `elicitation` means forms, as it did before there were pages.
        """
        if not isinstance(value, Mapping):
            return f"must be an object, not {json_type(value)}"
        declared = cast("JsonObject", value)
        parts: dict[str, JsonObject] = {}
        for name in ("roots", "sampling", "elicitation", "extensions"):
            part: object = declared.get(name)
            if part is None:
                continue
            if not isinstance(part, Mapping):
                return f"has a member {name}, which must be an object, not {json_type(part)}"
            parts[name] = cast("JsonObject", part)
        return cls(frozenset(_known(parts)))

    def lacking(self, needed: Iterable[Capability]) -> frozenset[Capability]:
        """Those that the client has not declared."""
        return frozenset(needed) - self.known


NO_CAPABILITIES = ClientCapabilities()
"""A client that can do nothing for the server."""


def required_capabilities(needed: Iterable[Capability]) -> JsonObject:
    """The object that a client would have had to send: `{"elicitation": {"form": {}}}`."""
    wanted: dict[str, dict[str, object]] = {}
    for capability in sorted(needed):
        part, _, inner = capability.value.replace("|", ".", 1).partition(".")
        members = wanted.setdefault(part, {})
        # Forms are what a bare `elicitation` means, and clients look for no more than that.
        if inner and capability is not Capability.ELICITATION_FORM:
            members[inner] = {}
    return wanted


def _known(parts: Mapping[str, JsonObject]) -> Iterable[Capability]:
    if "roots" in parts:
        yield Capability.ROOTS
    if "sampling" in parts:
        yield Capability.SAMPLING
        if parts["sampling"].get("tools") is not None:
            yield Capability.SAMPLING_TOOLS
    elicitation = parts.get("elicitation")
    if elicitation is not None:
        by_url = elicitation.get("url") is not None
        if by_url:
            yield Capability.ELICITATION_URL
        if not by_url or elicitation.get("form") is not None:
            yield Capability.ELICITATION_FORM
    if parts.get("extensions", {}).get(TASKS_EXTENSION) is not None:
        yield Capability.TASKS
