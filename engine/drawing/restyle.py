"""The command that changes the style of what is selected."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.drawing.records import AnyObject, Ellipse, Line, Polygon, Rectangle, Stroke
from engine.drawing.selection import selected_objects
from engine.drawing.style import StyleChanges
from engine.errors import ConflictError, InvalidArgumentError
from engine.records import Transaction
from engine.world import Command


@dataclass(frozen=True, slots=True)
class Restyled:
    """How many objects were selected, and how many of them are different now."""

    selected: int
    changed: int


@dataclass(frozen=True, slots=True)
class UpdateSelectionStyle(Command[Restyled]):
    """Change the style of the selected objects.

    Raises `InvalidArgumentError` where no change or an impossible one is given, and `ConflictError` when nothing is
    selected or when what is asked for shows on none of the selected objects.
    """

    label = "update style"
    changes: StyleChanges

    def run(self, world: Transaction) -> Restyled:
        """Change it."""
        names = self.changes.names()
        if not names:
            raise InvalidArgumentError(
                "Give at least one style change: stroke_color, fill_color, stroke_width, opacity or fill_enabled."
            )
        changes, items = self.changes.checked(), selected_objects(world, "restyle")
        if set(names) <= {"fill_color", "fill_enabled"} and not any(_has_filling(item) for item in items):
            raise ConflictError(
                "None of the selected objects has a filling: lines, strokes and text are painted in stroke_color."
            )
        unseen = next((item for item in items if isinstance(item, Line | Stroke)), None)
        if changes.stroke_width == 0 and unseen is not None:
            raise InvalidArgumentError(
                f"stroke_width 0 takes the outline off shapes, but {unseen.id} is a {unseen.kind} and would vanish."
            )
        changed = 0
        for item in items:
            style = changes.apply_to(item.style)
            if style != item.style:
                world.put(replace(item, style=style))
                changed += 1
        return Restyled(len(items), changed)


def _has_filling(item: AnyObject) -> bool:
    return isinstance(item, Rectangle | Ellipse | Polygon)
