"""Commands on what is drawn with: the active tool and the default style. No steps of the history."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.drawing.document import pen_of, set_pen
from engine.drawing.records import DrawingPen, DrawingTool
from engine.drawing.style import StyleChanges
from engine.records import Transaction
from engine.world import Command


@dataclass(frozen=True, slots=True)
class SetTool(Command[DrawingPen]):
    """Take another tool into the hand."""

    label = "set tool"
    undoable = False
    tool: DrawingTool

    def run(self, world: Transaction) -> DrawingPen:
        """Take it."""
        pen = replace(pen_of(world), tool=self.tool)
        set_pen(world, pen)
        return pen


@dataclass(frozen=True, slots=True)
class SetDefaults(Command[DrawingPen]):
    """Change the style of what is inserted next, all of the changes or none. Raises `InvalidArgumentError`."""

    label = "set defaults"
    undoable = False
    changes: StyleChanges

    def run(self, world: Transaction) -> DrawingPen:
        """Change it."""
        pen = pen_of(world)
        pen = replace(pen, style=self.changes.checked().apply_to(pen.style))
        set_pen(world, pen)
        return pen
