"""The command that selects objects of a scene: bodies, terrains and lights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from engine.errors import InvalidArgumentError, NotFoundError
from engine.records import Transaction
from engine.scene.index import SceneIndex, in_order
from engine.scene.reading import is_there, lights_of, selected_ids
from engine.scene.records import Body, SceneSelection, Terrain
from engine.scene.vector import Box
from engine.world import Command

SelectionMode = Literal["replace", "add", "remove"]
ObjectKind = Literal["box", "sphere", "cylinder", "capsule", "terrain", "light"]
"""The shape of a body, or what else an object is."""


@dataclass(frozen=True, slots=True)
class Selected:
    """The selection after a command, and how many objects met the criteria."""

    selection: tuple[str, ...]
    matched: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectObjects(Command[Selected]):
    """Select the objects that meet every criterion that is given; at least one must be. No step of the history.

    `bounds` means bodies and terrains whose box touches it. No ids select nothing. Raises `NotFoundError` for an
    unknown id, `InvalidArgumentError` where no criterion is given.
    """

    label: ClassVar[str] = "select"
    undoable: ClassVar[bool] = False
    ids: tuple[str, ...] | None = None
    all: bool = False
    kind: ObjectKind | None = None
    bounds: Box | None = None
    mode: SelectionMode = "replace"

    def run(self, world: Transaction) -> Selected:
        """Select them."""
        if not self.all and (self.ids, self.kind, self.bounds) == (None, None, None):
            raise InvalidArgumentError(
                "Say what to select: id or ids, kind, bounds (together: what meets all of them), or all: true; "
                "ids: [] selects nothing."
            )
        for object_id in self.ids or ():
            if not is_there(world, object_id):
                raise NotFoundError(f"There is no object {object_id!r:.80} in this scene; inspect lists the objects.")
        matched = frozenset(self._matched(world))
        old = frozenset(selected_ids(world))
        found = {"replace": matched, "add": old | matched, "remove": old - matched}[self.mode]
        selection = tuple(in_order(tuple(found)))
        before = world.get(SceneSelection, "selection") or SceneSelection()
        if before.ids != selection:
            world.put(SceneSelection(ids=selection))
        return Selected(selection, len(matched))

    def _matched(self, world: Transaction) -> list[str]:
        found = list(dict.fromkeys(self.ids)) if self.ids is not None else self._candidates(world)
        if self.ids is not None and self.bounds is not None:
            boxes = world.index(SceneIndex).boxes
            found = [i for i in found if i in boxes and boxes[i].touches(self.bounds)]
        return found if self.kind is None else [i for i in found if self._is_kind(world, i)]

    def _candidates(self, world: Transaction) -> list[str]:
        index = world.index(SceneIndex)
        if self.bounds is not None:
            return [*index.touching(Body, self.bounds), *index.touching(Terrain, self.bounds)]
        return [*index.ids(Body), *(light.id for light in lights_of(world)), *index.ids(Terrain)]

    def _is_kind(self, world: Transaction, object_id: str) -> bool:
        return kind_of(world, object_id) == self.kind


def kind_of(world: Transaction, object_id: str) -> ObjectKind:
    """What an existing object is."""
    body = world.get(Body, object_id)
    if body is not None:
        return body.shape
    return "terrain" if world.get(Terrain, object_id) is not None else "light"
