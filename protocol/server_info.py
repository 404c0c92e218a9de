"""How the server presents itself. Owns the value only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerInfo:
    """How the server presents itself to clients."""

    name: str
    version: str
    title: str | None = None
