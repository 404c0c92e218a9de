"""The drawing group: its presets, and the adapters of their tools. Owns names, defaults, risks and prompt fragments.

Source: agent-presets, "Built-In Presets", table "Drawing".
"""

from __future__ import annotations

from functools import partial

from presets.adapters import ToolAdapter
from presets.builtins.built_in_preset import built_in_preset
from presets.builtins.drawing_tools import (
    color_tools,
    inspect_tool,
    layer_tools,
    selection_tools,
    shape_tools,
)
from presets.builtins.drawing_tools.arguments import COORDINATES
from presets.builtins.history_tools import history_adapters
from presets.definition import PresetDefinition, Risk

_preset = partial(built_in_preset, group="drawing", contexts=({"surface": "canvas", "activity": "drawing"},))

_SHAPE_PROMPT = (
    "The user is editing vector drawing content. Use the drawing tools for shapes, lines and strokes. "
    + COORDINATES
    + " Look at the drawing with space_drawing_inspect before you change what is there; what you insert goes on top of "
    "the active layer, is selected, and is answered with its id and bounds, so use those to place the next object."
)
_LAYER_PROMPT = (
    "Keep the drawing in order with layers: higher ones cover lower ones, and what is inserted goes to the active one."
)


def adapters() -> tuple[ToolAdapter, ...]:
    """The 19 tools of drawing."""
    return (
        *inspect_tool.adapters(),
        *shape_tools.adapters(),
        *layer_tools.adapters(),
        *color_tools.adapters(),
        *history_adapters("drawing"),
        *selection_tools.adapters(),
    )


def presets() -> tuple[PresetDefinition, ...]:
    """The seven presets of drawing, in the order of the document's table."""
    return (
        _preset(
            "drawing-shape-tools",
            ("inspect", "set-tool", "insert-shape", "insert-line", "insert-stroke"),
            prompt=_SHAPE_PROMPT,
        ),
        _preset(
            "drawing-layer-tools",
            ("add-layer", "duplicate-layer", "rename-layer", "set-active-layer"),
            prompt=_LAYER_PROMPT,
        ),
        _preset("drawing-layer-destructive-tools", ("delete-layer",), risk=Risk.DESTRUCTIVE),
        _preset("drawing-color-tools", ("set-defaults", "update-selection-style", "sample-color")),
        _preset("drawing-history-tools", ("undo", "redo")),
        _preset("drawing-selection-tools", ("select", "transform-selection", "clear-selection")),
        _preset("drawing-selection-destructive-tools", ("delete-selected",), risk=Risk.DESTRUCTIVE),
    )
