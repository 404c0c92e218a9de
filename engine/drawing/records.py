"""The records of a drawing: layers, the objects on them, and what the person is working with. Owns their form alone.

Every number is in document units (+y up), every angle in degrees counter-clockwise, every colour in normal form; see
docs/coordinates.md. Commands keep that, so readers need not check again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from engine.drawing.geometry import Point
from engine.drawing.style import Style
from engine.records import Record

ObjectKind = Literal["rectangle", "ellipse", "polygon", "text", "line", "stroke"]
DrawingTool = Literal["select", "rectangle", "ellipse", "polygon", "text", "line", "pen", "brush", "marker", "eraser"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer(Record):
    """A sheet of objects. Layers are painted in ascending `order`, so the highest is on top. Names are unique."""

    collection: ClassVar[str] = "drawing-layer"
    name: str
    order: int
    visible: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawingObject(Record):
    """What every object has. Within its layer, objects are painted in ascending `order`; it is unique there."""

    collection: ClassVar[str] = "drawing-object"
    kind: ObjectKind
    layer_id: str
    order: int
    style: Style


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxObject(DrawingObject):
    """An object given by the middle and the size of its box, and the angle by which the box is turned about it.

    `size` holds the width (x) and the height (y), both positive; `rotation` is in (-180, 180].
    """

    center: Point
    size: Point
    rotation: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rectangle(BoxObject):
    """A rectangle that fills its box."""

    kind: Literal["rectangle"] = "rectangle"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ellipse(BoxObject):
    """The ellipse that touches the four sides of its box."""

    kind: Literal["ellipse"] = "ellipse"


@dataclass(frozen=True, slots=True, kw_only=True)
class Text(BoxObject):
    """One or more lines of text that fill their box, left-aligned, painted in the stroke colour.

    `size` follows from the text and `font_size` (document units per em), its width times `stretch`.
    """

    kind: Literal["text"] = "text"
    text: str
    font_size: float
    stretch: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PathObject(DrawingObject):
    """An object given by points in the document."""

    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Polygon(PathObject):
    """A closed figure of at least three corners; filled by the non-zero rule."""

    kind: Literal["polygon"] = "polygon"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line(PathObject):
    """A straight line between exactly two points."""

    kind: Literal["line"] = "line"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stroke(PathObject):
    """A freehand stroke: a smooth curve through at least two points."""

    kind: Literal["stroke"] = "stroke"


AnyObject = Rectangle | Ellipse | Polygon | Text | Line | Stroke
"""One of the six classes of objects that a table really holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawingFocus(Record):
    """What is being worked on: the active layer, and the selected objects of it from bottom to top. There is one.

    Undo takes it along. It may name what is gone; read it through `engine.drawing.document.focus_of`.
    """

    collection: ClassVar[str] = "drawing-focus"
    id: str = "focus"
    active_layer_id: str
    selection: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawingPen(Record):
    """What is being worked with: the active tool, and the style of what is inserted next. There is one.

    Undo leaves it alone.
    """

    collection: ClassVar[str] = "drawing-pen"
    id: str = "pen"
    tool: DrawingTool = "select"
    style: Style = field(default_factory=Style)


RECORD_TYPES: tuple[type[Record], ...] = (
    Layer,
    Rectangle,
    Ellipse,
    Polygon,
    Text,
    Line,
    Stroke,
    DrawingFocus,
    DrawingPen,
)
"""Every class of record that a drawing keeps. Within a collection, the field `kind` tells the classes apart."""
