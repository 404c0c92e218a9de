"""The commands on the set of worlds and the settings. Owns their rules: which names are fine, what may be deleted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from engine.engine import EngineCommand, EngineTransaction, WorldInfo
from engine.errors import ConflictError, InvalidArgumentError, NotFoundError
from engine.theme import THEMES, Theme
from engine.world_name import check_free, check_world_name

MAX_WORLDS = 200
"""Every world is held in memory, and a list of them must stay readable."""


def check_room(worlds: Sequence[WorldInfo]) -> None:
    """Raise `ConflictError` when there are `MAX_WORLDS` worlds already."""
    if len(worlds) >= MAX_WORLDS:
        raise ConflictError(f"There are {len(worlds)} worlds, which is the most; delete one before making another.")


@dataclass(frozen=True, slots=True)
class CreateWorld(EngineCommand[WorldInfo]):
    """Make an empty world, and make it the active one where `activate` is set.

    Raises `InvalidArgumentError` for a name that is empty, has space around it, holds a control character or is longer
    than `MAX_WORLD_NAME_CHARACTERS`; `ConflictError` for a name that another world has, and beyond `MAX_WORLDS`.
    """

    label: ClassVar[str] = "create world"
    name: str
    activate: bool = False

    def run(self, engine: EngineTransaction) -> WorldInfo:
        """See the class."""
        check_world_name(self.name)
        worlds = engine.worlds()
        check_free(self.name, {world.name: world.id for world in worlds})
        check_room(worlds)
        made = engine.add_world(self.name)
        if self.activate:
            engine.set_settings(replace(engine.settings, active_world_id=made.id))
        return engine.world(made.id)


@dataclass(frozen=True, slots=True)
class SwitchWorld(EngineCommand[WorldInfo]):
    """Make another world the active one. Raises `NotFoundError`. Switching to the active world changes nothing."""

    label: ClassVar[str] = "switch world"
    world_id: str

    def run(self, engine: EngineTransaction) -> WorldInfo:
        """See the class."""
        engine.set_settings(replace(engine.settings, active_world_id=self.world_id))
        return engine.world(self.world_id)


@dataclass(frozen=True, slots=True)
class DeleteWorld(EngineCommand[WorldInfo]):
    """Delete a world and return it as it was. Deleting the active one makes its neighbour active.

    Raises `NotFoundError` for an unknown id, `InvalidArgumentError` when `confirm_name` is not exactly its name, and
    `ConflictError` for the last world.
    """

    label: ClassVar[str] = "delete world"
    world_id: str
    confirm_name: str

    def run(self, engine: EngineTransaction) -> WorldInfo:
        """See the class."""
        doomed = engine.world(self.world_id)
        if doomed.name != self.confirm_name:
            raise InvalidArgumentError(
                f"The world {doomed.id} is named {doomed.name!r}, not {self.confirm_name!r}; "
                "to delete it, confirm_name must be exactly its name."
            )
        worlds = engine.worlds()
        if len(worlds) == 1:
            raise ConflictError(f"{doomed.id} ({doomed.name}) is the last world; make another one before deleting it.")
        if doomed.active:
            at = worlds.index(doomed)
            heir = worlds[at + 1] if at + 1 < len(worlds) else worlds[at - 1]
            engine.set_settings(replace(engine.settings, active_world_id=heir.id))
        engine.remove_world(doomed.id)
        return doomed


@dataclass(frozen=True, slots=True)
class ListWorlds(EngineCommand[tuple[WorldInfo, ...]]):
    """Every world, in order of creation. Changes nothing."""

    label: ClassVar[str] = "list worlds"

    def run(self, engine: EngineTransaction) -> tuple[WorldInfo, ...]:
        """See the class."""
        return engine.worlds()


@dataclass(frozen=True, slots=True)
class SetTheme(EngineCommand[Theme]):
    """Choose one of `THEMES` by name. Raises `NotFoundError`, naming them."""

    label: ClassVar[str] = "set theme"
    theme: str

    def run(self, engine: EngineTransaction) -> Theme:
        """See the class."""
        theme = THEMES.get(self.theme)
        if theme is None:
            raise NotFoundError(f"There is no theme {self.theme!r}. Themes: {', '.join(THEMES)}.")
        engine.set_settings(replace(engine.settings, theme=theme.name))
        return theme


@dataclass(frozen=True, slots=True)
class RememberContext(EngineCommand[None]):
    """Keep what the user is doing, so that a restart brings them back there."""

    label: ClassVar[str] = "remember context"
    surface: str
    activity: str | None
    canvas_visible: bool

    def run(self, engine: EngineTransaction) -> None:
        """See the class."""
        engine.set_settings(
            replace(engine.settings, surface=self.surface, activity=self.activity, canvas_visible=self.canvas_visible)
        )
