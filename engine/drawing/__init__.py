"""The drawing: a vector document of layers and objects on the records of a world.

Everything here is synchronous and pure. Source of names and rules: docs/coordinates.md and agent-presets, "Drawing".
"""

from __future__ import annotations

from engine.drawing.document import selection_kind
from engine.drawing.records import RECORD_TYPES
from engine.drawing.snapshot import DrawingSnapshot, snapshot

__all__ = ["RECORD_TYPES", "DrawingSnapshot", "selection_kind", "snapshot"]
