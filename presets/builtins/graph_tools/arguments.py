"""The arguments that several graph tools share. Owns their schemas; the engine checks what depends on the map."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from engine.drawing.geometry import MAX_COORDINATE
from engine.errors import InvalidArgumentError
from engine.graph.keys import MAX_KEY_LENGTH
from engine.graph.words import (
    KIND_PATTERN,
    MAX_CONTENT_LENGTH,
    MAX_EDGE_LABEL_LENGTH,
    MAX_KIND_LENGTH,
    MAX_LABEL_LENGTH,
)

NodeId = Annotated[str, Field(min_length=1, max_length=MAX_KEY_LENGTH)]
KindWord = Annotated[str, Field(pattern=KIND_PATTERN, max_length=MAX_KIND_LENGTH)]
LabelText = Annotated[str, Field(min_length=1, max_length=MAX_LABEL_LENGTH)]
EdgeLabelText = Annotated[str, Field(max_length=MAX_EDGE_LABEL_LENGTH)]
ContentText = Annotated[str, Field(max_length=MAX_CONTENT_LENGTH)]
Coordinate = Annotated[float, Field(ge=-MAX_COORDINATE, le=MAX_COORDINATE)]

ID_HELP = "Id of a node, such as string-entity:node-1, identity:identity-1, file:notes/plan.md."
LOAD_HELP = (
    f"{ID_HELP} One that is not on the map is loaded: file:<path> shows name, size and type of a file or folder of the "
    "workspace (not its content), world:<world-id>/<node-id> a node of another world."
)
PLACE_HELP = "Middle of the node, graph units, +y is up. Give x and y, or neither for a free place."


def position_of(x: float | None, y: float | None) -> tuple[float, float] | None:
    """The position that two arguments give. Raises `InvalidArgumentError` when there is only one."""
    if x is None and y is None:
        return None
    if x is None or y is None:
        raise InvalidArgumentError("give both x and y, or neither for a free place")
    return x, y
