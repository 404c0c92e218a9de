"""Worlds and commands for the tests of the drawing."""

from __future__ import annotations

from typing import TypeVar

from hypothesis import settings
from hypothesis import strategies as st

from engine.drawing.document import object_of
from engine.drawing.index import DrawingIndex
from engine.drawing.insert import InsertBox, Inserted, InsertLine, InsertPolygon, InsertStroke, InsertText
from engine.drawing.layers import ActivateLayer, AddLayer, ArrangeLayer, DeleteLayer, DuplicateLayer, RenameLayer
from engine.drawing.pen import SetDefaults, SetTool
from engine.drawing.records import AnyObject
from engine.drawing.restyle import UpdateSelectionStyle
from engine.drawing.selection import ClearSelection, DeleteSelected, Select
from engine.drawing.style import StyleChanges
from engine.drawing.transform import TransformSelection
from engine.records import Record, RecordTable
from engine.world import Command, World

EXAMPLES = settings(max_examples=60, deadline=None)
"""For properties: enough examples to meet every rule, few enough for a fast test; a loaded machine fails none."""

CommandT = TypeVar("CommandT")


class Drawing:
    """A world, and the shortest words for working in it."""

    def __init__(self) -> None:
        self.world = World("world-1", "home")

    def do(self, command: Command[CommandT]) -> CommandT:
        return self.world.execute(command).result

    def rectangle(self, x: float = 0, y: float = 0, width: float = 10, height: float = 4) -> str:
        return self.do(InsertBox(kind="rectangle", x=x, y=y, width=width, height=height)).item.id

    def insert(self, command: Command[Inserted]) -> AnyObject:
        return self.do(command).item

    def select(self, *ids: str) -> None:
        self.do(Select(ids=ids))

    def object(self, object_id: str) -> AnyObject:
        item = object_of(self.table, object_id)
        assert item is not None, f"{object_id} is gone"
        return item

    def ids(self, layer_id: str = "layer-1") -> list[str]:
        return list(self.table.index(DrawingIndex).content(layer_id).ids())

    @property
    def table(self) -> RecordTable:
        return self.world.read()

    def records(self) -> dict[tuple[str, str], Record]:
        return {(record.collection, record.id): record for record in self.table}


coordinates = st.floats(-1000, 1000, allow_nan=False).map(lambda number: round(number, 3))
extents = st.floats(0.5, 500).map(lambda number: round(number, 3))
points = st.tuples(coordinates, coordinates)
colors = st.sampled_from(["#FF0000", "#00FF0080", "#0000FF"])
styles = st.builds(
    StyleChanges,
    stroke_color=st.none() | colors,
    stroke_width=st.none() | st.floats(0.1, 20),
    opacity=st.none() | st.floats(0, 1),
)
layer_references = st.integers(1, 4) | st.sampled_from(["layer-1", "layer-2", "Layer 1", "copy"])

inserts = st.one_of(
    st.builds(
        InsertBox,
        kind=st.sampled_from(["rectangle", "ellipse"]),
        x=coordinates,
        y=coordinates,
        width=extents,
        height=extents,
        rotation_degrees=st.sampled_from([0, 30, 90]),
        style=styles,
    ),
    st.builds(InsertText, x=coordinates, y=coordinates, text=st.sampled_from(["Hi", "two\nlines"])),
    st.builds(InsertPolygon, points=st.lists(points, min_size=3, max_size=5).map(tuple)),
    st.builds(InsertLine, x1=coordinates, y1=coordinates, x2=coordinates, y2=coordinates),
    st.builds(InsertStroke, points=st.lists(points, min_size=2, max_size=6).map(tuple)),
)
steps = st.one_of(
    inserts,
    inserts,
    st.builds(AddLayer, name=st.none() | st.sampled_from(["copy", "over"])),
    st.builds(DuplicateLayer, layer=st.none() | layer_references),
    st.builds(RenameLayer, name=st.sampled_from(["copy", "under"]), layer=st.none() | layer_references),
    st.builds(DeleteLayer, layer=st.none() | layer_references),
    st.builds(
        ArrangeLayer,
        layer=layer_references,
        visible=st.none() | st.booleans(),
        position=st.none() | st.integers(1, 4),
    ),
    st.just(DeleteSelected()),
    st.builds(UpdateSelectionStyle, changes=styles),
    st.builds(TransformSelection, dx=coordinates, rotation_degrees=coordinates, scale=st.floats(0.5, 2)),
)
asides = st.one_of(
    st.builds(ActivateLayer, layer=layer_references),
    st.builds(Select, all=st.just(True), layer=st.none() | layer_references),
    st.builds(Select, kind=st.just("rectangle"), mode=st.sampled_from(["add", "remove"])),
    st.just(ClearSelection()),
    st.builds(SetTool, tool=st.sampled_from(["pen", "select"])),
    st.builds(SetDefaults, changes=styles),
)
"""Commands that are no steps of the history."""
