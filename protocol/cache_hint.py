"""How long a client may keep an answer, and whether it may share it. Owns the value; who keeps what is the client's.

Source: MCP specification 2026-07-28, caching.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType


class CacheScope(StrEnum):
    """Whose answer it is."""

    PRIVATE = "private"
    """This caller's: another one might be answered differently."""

    PUBLIC = "public"
    """Everybody's: whatever stands between may give it to others."""


@dataclass(frozen=True, slots=True)
class CacheHint:
    """Keep an answer for `ttl_ms` milliseconds, a whole number from 0 on. Raises `ValueError` for another one."""

    ttl_ms: int
    scope: CacheScope = CacheScope.PRIVATE

    def __post_init__(self) -> None:
        if type(self.ttl_ms) is not int or self.ttl_ms < 0:
            raise ValueError(f"ttl_ms must be a whole number of milliseconds from 0 on, not {self.ttl_ms!r}")


LIST_TTL_MS = 1000
"""How long a list may be kept, milliseconds. Lists follow what the user does, and a change is announced besides."""

SERVER_TTL_MS = 60_000
"""How long the description of the server may be kept, milliseconds. It changes with a restart."""

FOLLOWS_THE_USER = CacheHint(LIST_TTL_MS)
"""For what depends on the user's context: short, and shared with nobody."""

NOT_KEPT = CacheHint(0)
"""For what may be different the next moment."""

DEFAULT_HINTS: Mapping[str, CacheHint] = MappingProxyType(
    {
        "server/discover": CacheHint(SERVER_TTL_MS),
        "tools/list": FOLLOWS_THE_USER,
        "prompts/list": FOLLOWS_THE_USER,
        "resources/list": FOLLOWS_THE_USER,
        "resources/templates/list": FOLLOWS_THE_USER,
        "resources/read": NOT_KEPT,
    }
)
"""The hint of each answer that has one, where nobody says otherwise."""
