"""What resources and prompts read of the running engine. Owns the protocol; the actors implement it.

Reached through `App.readings`. Everything it gives is a frozen value or plain JSON values, as of the moment of asking.
"""

from __future__ import annotations

from typing import Protocol

from engine.engine import WorldInfo
from presets.view_model import PresetView
from protocol.session import Audience
from protocol.tool import JsonObject


class Readings(Protocol):
    """The running engine, to be looked at. Whatever is asked for by an id raises `NotFoundError` where there is none.

    Raises `EngineError` for what else the engine refuses.
    """

    async def context(self) -> JsonObject:
        """The facts of the live context, the overrides, and the active presets with their reasons."""
        ...

    async def presets(self) -> PresetView:
        """Every preset."""
        ...

    async def worlds(self) -> tuple[WorldInfo, ...]:
        """Every world, in order of creation."""
        ...

    async def world(self, world_id: str) -> JsonObject:
        """One world: how much is in it, and how long its history is."""
        ...

    async def svg(self) -> str:
        """The current surface as an SVG document. Raises `ConflictError` for one that shows nothing."""
        ...

    async def agents(self) -> tuple[JsonObject, ...]:
        """Every agent, usable or not, each as a row."""
        ...

    async def agent(self, agent_id: str) -> JsonObject:
        """One agent: its row, and of what it is composed."""
        ...

    async def programs(self, audience: Audience) -> tuple[JsonObject, ...]:
        """The programs of that audience's agent that are kept, the latest first, each as a row."""
        ...

    async def program(self, program_id: str, audience: Audience) -> JsonObject:
        """One program of that audience's agent, whole: its text, its calls, all that it printed and returned."""
        ...

    def has_program(self, program_id: str, audience: Audience) -> bool:
        """Whether `program` would find it now."""
        ...

    async def agent_prompt(self, audience: Audience) -> tuple[tuple[str, str], ...]:
        """What the model of an agent is to read now, as pairs of role and text.

        The role is `system`, `user` or `assistant`.
        """
        ...
