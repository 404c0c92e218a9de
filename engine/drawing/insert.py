"""Commands that put one new object on top of the active layer. Owns what makes an object valid when it is made.

The new object becomes the whole selection. Source: findings on the existing tools, section 1.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import Literal

from engine.drawing.document import active_layer, ensure_layers, pen_of, set_focus
from engine.drawing.extents import bounds_of
from engine.drawing.font import text_size
from engine.drawing.geometry import (
    MAX_COORDINATE,
    MIN_EXTENT,
    Bounds,
    Motion,
    Point,
    bounds_of_points,
    checked_number,
    checked_points,
    normal_degrees,
)
from engine.drawing.index import DrawingIndex
from engine.drawing.records import (
    AnyObject,
    Ellipse,
    Layer,
    Line,
    Polygon,
    Rectangle,
    Stroke,
    Text,
)
from engine.drawing.style import Style, StyleChanges, is_transparent, stroke_tool_style
from engine.drawing.words import checked_text
from engine.errors import InvalidArgumentError
from engine.records import Transaction
from engine.world import Command

MIN_POINT_DISTANCE = 0.35
"""Points of a stroke that are nearer than this to the last kept one are dropped, as hands tremble; document units."""
MAX_POINTS = 10_000
"""Most points of one stroke or polygon: minutes of a pen at 60 points a second."""
MIN_FONT_SIZE = 0.01
"""Smallest font size, in document units."""
MAX_FONT_SIZE = 10_000.0
"""Largest font size, in document units."""
DEFAULT_FONT_SIZE = 24.0
"""Font size where none is given, in document units: a headline beside shapes of a few hundred units."""

StrokeTool = Literal["pen", "brush", "marker"]
STROKE_TOOLS: tuple[StrokeTool, ...] = ("pen", "brush", "marker")
"""The tools that draw freehand strokes."""

_LEAST_CORNERS = 3
"""Different corners of a polygon; fewer make a line."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a new object goes, and the style it would have without a word about it."""

    id: str
    layer_id: str
    order: int
    style: Style


@dataclass(frozen=True, slots=True)
class Inserted:
    """The new object, its true bounds and its layer. `dropped_points` counts points of a stroke that were too near."""

    item: AnyObject
    bounds: Bounds
    layer: Layer
    dropped_points: int = 0

    @property
    def is_invisible(self) -> bool:
        """Whether nothing of it can be seen, because of its style or because its layer is hidden."""
        return not self.layer.visible or paints_nothing(self.item)


def paints_nothing(item: AnyObject) -> bool:
    """Whether the style of the object leaves nothing of it to be seen."""
    style = item.style
    if style.opacity == 0:
        return True
    inked = not is_transparent(style.stroke_color) and (style.stroke_width > 0 or isinstance(item, Text))
    filled = style.fill_enabled and not is_transparent(style.fill_color)
    return not inked and not (filled and isinstance(item, Rectangle | Ellipse | Polygon))


@dataclass(frozen=True, slots=True, kw_only=True)
class InsertCommand(Command[Inserted]):
    """Base of the commands of this module. `style` says what is to differ from the pen's style.

    All raise `InvalidArgumentError` for a number or a style that no object can have.
    """

    style: StyleChanges = field(default_factory=StyleChanges)

    @abstractmethod
    def make(self, at: Placement, pen_tool: str) -> tuple[AnyObject, int]:
        """The object, and how many points were left out of it."""

    def run(self, world: Transaction) -> Inserted:
        """Make the object, put it on top of the active layer and select it."""
        style, pen = self.style.checked(), pen_of(world)
        if style.fill_color is not None and style.fill_enabled is None:
            style = replace(style, fill_enabled=True)  # who names a filling wants to see it
        layer = active_layer(world)
        ensure_layers(world)
        order = world.index(DrawingIndex).content(layer.id).top_order + 1
        base = self.base_style(pen.style, pen.tool)
        at = Placement(world.new_id("object"), layer.id, order, style.apply_to(base))
        item, dropped = self.make(at, pen.tool)
        bounds = bounds_of(item)
        if max(abs(number) for number in bounds) > MAX_COORDINATE:
            raise InvalidArgumentError(
                f"The {item.kind} would reach beyond ±{MAX_COORDINATE:.0f}: its bounds would be {_shown(bounds)}."
            )
        world.put(item)
        set_focus(world, layer.id, (item.id,))
        return Inserted(item, bounds, layer, dropped)

    def base_style(self, style: Style, pen_tool: str) -> Style:
        """The style that the changes are made to; the pen's own unless a tool has its say."""
        del pen_tool
        return style


@dataclass(frozen=True, slots=True, kw_only=True)
class InsertBox(InsertCommand):
    """A rectangle or an ellipse from the corner (x, y) to the corner (x + width, y + height), turned about its middle.

    Positive width goes right, positive height goes up; negative ones go left and down.
    """

    label = "insert shape"
    kind: Literal["rectangle", "ellipse"]
    x: float
    y: float
    width: float
    height: float
    rotation_degrees: float = 0.0

    def make(self, at: Placement, pen_tool: str) -> tuple[AnyObject, int]:
        """See `InsertCommand.make`."""
        x, y = checked_number(self.x, "x"), checked_number(self.y, "y")
        width, height = checked_number(self.width, "width"), checked_number(self.height, "height")
        for name, extent in (("width", width), ("height", height)):
            if abs(extent) < MIN_EXTENT:
                raise InvalidArgumentError(
                    f"{name} must be at least {MIN_EXTENT} document units, to the one or the other side; got {extent}"
                )
        figure = Rectangle if self.kind == "rectangle" else Ellipse
        return figure(
            id=at.id,
            layer_id=at.layer_id,
            order=at.order,
            style=at.style,
            center=Point(x + width / 2, y + height / 2),
            size=Point(abs(width), abs(height)),
            rotation=_checked_degrees(self.rotation_degrees),
        ), 0


@dataclass(frozen=True, slots=True, kw_only=True)
class InsertText(InsertCommand):
    """A text, painted in the stroke colour, turned about the middle of its box.

    (x, y) is the lower left corner of the box of the text, or its middle where `anchor` is `center`. `font_size` is in
    document units; a line is 1.2 times as high. Newlines begin new lines.
    """

    label = "insert text"
    x: float
    y: float
    text: str
    font_size: float = DEFAULT_FONT_SIZE
    anchor: Literal["lower_left", "center"] = "lower_left"
    rotation_degrees: float = 0.0

    def make(self, at: Placement, pen_tool: str) -> tuple[AnyObject, int]:
        """See `InsertCommand.make`."""
        if self.style.fill_color is not None:
            raise InvalidArgumentError("Text is painted in stroke_color and has no filling: give stroke_color instead.")
        x, y, text = checked_number(self.x, "x"), checked_number(self.y, "y"), checked_text(self.text)
        if not MIN_FONT_SIZE <= self.font_size <= MAX_FONT_SIZE:
            raise InvalidArgumentError(
                f"font_size must be {MIN_FONT_SIZE:g} to {MAX_FONT_SIZE:g} document units; got {self.font_size}"
            )
        em_width, em_height = text_size(text)
        size = Point(max(em_width * self.font_size, MIN_EXTENT), em_height * self.font_size)
        lower_left = self.anchor == "lower_left"
        return Text(
            id=at.id,
            layer_id=at.layer_id,
            order=at.order,
            style=at.style,
            center=Point(x + size.x / 2, y + size.y / 2) if lower_left else Point(x, y),
            size=size,
            rotation=_checked_degrees(self.rotation_degrees),
            text=text,
            font_size=float(self.font_size),
        ), 0


@dataclass(frozen=True, slots=True, kw_only=True)
class InsertPolygon(InsertCommand):
    """A closed figure through at least three corners, moved by (dx, dy) and turned about the middle of its bounds."""

    label = "insert shape"
    points: tuple[tuple[float, float], ...]
    dx: float = 0.0
    dy: float = 0.0
    rotation_degrees: float = 0.0

    def make(self, at: Placement, pen_tool: str) -> tuple[AnyObject, int]:
        """See `InsertCommand.make`."""
        corners = checked_points(self.points, "points")
        if len(corners) > 1 and corners[0] == corners[-1]:
            corners = corners[:-1]  # the figure is closed anyway
        if len(corners) > MAX_POINTS:
            raise InvalidArgumentError(f"A polygon has at most {MAX_POINTS} corners; points gives {len(corners)}.")
        different = len(set(corners))
        if different < _LEAST_CORNERS:
            raise InvalidArgumentError(
                f"A polygon needs at least {_LEAST_CORNERS} different corners; the {len(self.points)} points given lie "
                f"at {different} different place{'' if different == 1 else 's'}."
            )
        motion = Motion(
            origin=bounds_of_points(corners).center,
            dx=checked_number(self.dx, "x"),
            dy=checked_number(self.dy, "y"),
            rotation_degrees=_checked_degrees(self.rotation_degrees),
        )
        points = corners if motion.is_identity else tuple(motion.move_all(corners))
        bounds = bounds_of_points(points)
        if max(bounds.width, bounds.height) < MIN_EXTENT:
            raise InvalidArgumentError(f"The corners of the polygon all lie within {MIN_EXTENT} document units.")
        return Polygon(id=at.id, layer_id=at.layer_id, order=at.order, style=at.style, points=points), 0


@dataclass(frozen=True, slots=True, kw_only=True)
class InsertLine(InsertCommand):
    """A straight line from (x1, y1) to (x2, y2)."""

    label = "insert line"
    x1: float
    y1: float
    x2: float
    y2: float

    def make(self, at: Placement, pen_tool: str) -> tuple[AnyObject, int]:
        """See `InsertCommand.make`."""
        _refuse_filling(self.style, "line")
        _demand_width(at.style, "line")
        start = Point(checked_number(self.x1, "x1"), checked_number(self.y1, "y1"))
        end = Point(checked_number(self.x2, "x2"), checked_number(self.y2, "y2"))
        length = math.dist(start, end)
        if length < MIN_EXTENT:
            raise InvalidArgumentError(
                f"A line must be at least {MIN_EXTENT} document units long; from ({start.x:g}, {start.y:g}) to "
                f"({end.x:g}, {end.y:g}) it would be {length:g}."
            )
        return Line(id=at.id, layer_id=at.layer_id, order=at.order, style=at.style, points=(start, end)), 0


@dataclass(frozen=True, slots=True, kw_only=True)
class InsertStroke(InsertCommand):
    """A freehand stroke: a smooth curve through the points.

    A brush is wider and a marker wider still, and both are more transparent than the pen; widths and opacities that are
    given are taken as they are. Without `tool` it is the active tool where that draws strokes, else the pen.
    """

    label = "insert stroke"
    points: tuple[tuple[float, float], ...]
    tool: StrokeTool | None = None

    def base_style(self, style: Style, pen_tool: str) -> Style:
        """The pen's style as the stroke tool makes it."""
        active = pen_tool if pen_tool in STROKE_TOOLS else "pen"
        return stroke_tool_style(self.tool or active, style)

    def make(self, at: Placement, pen_tool: str) -> tuple[AnyObject, int]:
        """See `InsertCommand.make`."""
        _refuse_filling(self.style, "stroke")
        _demand_width(at.style, "stroke")
        given = checked_points(self.points, "points")
        if len(given) > MAX_POINTS:
            raise InvalidArgumentError(f"A stroke has at most {MAX_POINTS} points; got {len(given)}. Split it.")
        kept = list(given[:1])
        for point in given[1:]:
            if math.dist(point, kept[-1]) > MIN_POINT_DISTANCE:
                kept.append(point)
        if len(kept) < 2:
            raise InvalidArgumentError(
                f"A stroke needs at least 2 points that are more than {MIN_POINT_DISTANCE} document units apart; "
                f"of {len(given)} given, {len(kept)} could be kept."
            )
        made = Stroke(id=at.id, layer_id=at.layer_id, order=at.order, style=at.style, points=tuple(kept))
        return made, len(given) - len(kept)


def _checked_degrees(degrees: float) -> float:
    return normal_degrees(checked_number(degrees, "rotation_degrees"))


def _refuse_filling(style: StyleChanges, kind: str) -> None:
    if style.fill_color is not None or style.fill_enabled:
        raise InvalidArgumentError(f"A {kind} has no filling: leave fill_color and fill_enabled out.")


def _demand_width(style: Style, kind: str) -> None:
    if style.stroke_width == 0:
        raise InvalidArgumentError(
            f"A {kind} of width 0 cannot be seen: give a stroke_width above 0 (the default may be 0 now)."
        )


def _shown(bounds: Bounds) -> str:
    return f"({bounds.left:g}, {bounds.bottom:g}) to ({bounds.right:g}, {bounds.top:g})"
