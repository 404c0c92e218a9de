"""A drawing as SVG: self-contained, and the same to look at in a browser as in the engine's own renderer.

Owns the mapping from document to picture. Documents have +y up and SVG has +y down, so every y is negated and every
angle with it, number by number; text therefore stands upright. See docs/coordinates.md.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from functools import cache, lru_cache
from html import escape

from engine.drawing.color import OPAQUE, normal_color, parse_color
from engine.drawing.curve import smooth_segments
from engine.drawing.extents import painted_bounds
from engine.drawing.font import (
    BASELINE_DROP,
    FONT_FAMILY,
    LINE_HEIGHT,
    WEB_FONT_FILE,
    is_covered,
    line_width,
    text_lines,
)
from engine.drawing.geometry import Bounds, Point
from engine.drawing.records import AnyObject, BoxObject, Ellipse, Line, Polygon, Rectangle, Stroke, Text
from engine.drawing.snapshot import DrawingSnapshot
from engine.errors import InvalidArgumentError

MARGIN = 0.05
"""Room around the content where no box is asked for, as a part of its longer side."""
LONGER_SIDE = 1024
"""Pixels of the longer side of the picture where no size is asked for: fits a screen, and shows text."""
EMPTY_BOX = Bounds(-400.0, -300.0, 400.0, 300.0)
"""What a drawing without visible objects shows, so that its picture has a size: around the origin, 4 by 3."""
DOCUMENT_ORIGIN = Point(0.0, 0.0)
MIN_BOX_SIDE = 1e-4
"""Smallest side of a box that can be shown, in document units."""
MAX_SIDE = 16_384
"""Most pixels of a side of a picture; renderers refuse more."""


_INHERITED = (
    ' fill="none" stroke-linecap="round" stroke-linejoin="round"'
    f' font-family="{FONT_FAMILY}, sans-serif" style="white-space:pre" xml:space="preserve"'
)
"""What holds for every element, said once; with many objects it is half of the file."""


def content_box(snapshot: DrawingSnapshot) -> Bounds:
    """The box that shows all of the drawing with a margin."""
    return box_with_margin(snapshot.painted_bounds())


def box_with_margin(painted: Bounds | None) -> Bounds:
    """What is shown of a drawing whose paint reaches so far; None is one without visible objects."""
    if painted is None:
        return EMPTY_BOX
    return painted.grown(max(MARGIN * max(painted.width, painted.height), MIN_BOX_SIDE))


def render_svg(
    snapshot: DrawingSnapshot,
    *,
    background: str | None,
    width: int | None = None,
    height: int | None = None,
    box: Bounds | None = None,
) -> str:
    """The drawing as an SVG document that needs nothing beside it.

    `background` is a colour, or None for a transparent picture. `box` is the part of the document to show (all of it,
    with a margin, by default). `width` and `height` are the picture's size in pixels; where both are given, the box
    grows in one direction to their shape, and where one or none is, the other follows the box. Raises
    `InvalidArgumentError` for a colour, a box or a size that cannot be.
    """
    frame, size = frame_of(content_box(snapshot) if box is None else box, width, height)
    return compose_svg(snapshot, frame=frame, size=size, background=background, embed_font=True)


def frame_of(box: Bounds, width: int | None, height: int | None) -> tuple[Bounds, tuple[int, int]]:
    """The part of the document that a picture of that size shows, and its size in whole pixels. See `render_svg`."""
    if not (box.width >= MIN_BOX_SIDE and box.height >= MIN_BOX_SIDE):
        raise InvalidArgumentError(f"box must be at least {MIN_BOX_SIDE:g} document units wide and high")
    if width is None and height is None:
        scale = LONGER_SIDE / max(box.width, box.height)
    else:
        scale = min(
            (pixels / extent for pixels, extent in ((width, box.width), (height, box.height)) if pixels is not None)
        )
    pixels_wide = max(1, round(box.width * scale)) if width is None else width
    pixels_high = max(1, round(box.height * scale)) if height is None else height
    for name, side in (("width", pixels_wide), ("height", pixels_high)):
        if not 1 <= side <= MAX_SIDE:
            raise InvalidArgumentError(f"{name} must be 1 to {MAX_SIDE} pixels; got {side}")
    x, y = box.center
    half_width, half_height = pixels_wide / scale / 2, pixels_high / scale / 2
    return Bounds(x - half_width, y - half_height, x + half_width, y + half_height), (pixels_wide, pixels_high)


def compose_svg(
    snapshot: DrawingSnapshot,
    *,
    frame: Bounds,
    size: tuple[int, int],
    background: str | None,
    embed_font: bool,
    origin: Point = DOCUMENT_ORIGIN,
) -> str:
    """The document with every choice made. What cannot reach into the frame is left out.

    `origin` is the document point that the SVG's own origin shows: renderers count in single precision, so a picture
    of something far out is sharp only when its numbers are small.
    """
    pen = _Pen(origin)
    left, top = frame.left - origin.x, origin.y - frame.top
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]}" height="{size[1]}" '
        f'viewBox="{_n(left)} {_n(top)} {_n(frame.width)} {_n(frame.height)}"{_INHERITED}>\n'
    ]
    body: list[str] = []
    has_text = False
    for sheet in snapshot.sheets:
        body.append(f'<g id="{sheet.layer.id}" data-name="{escape(sheet.layer.name)}">\n')
        for item in sheet.objects:
            if painted_bounds(item).overlaps(frame):
                has_text = has_text or isinstance(item, Text)
                body.append(pen.element(item))
        body.append("</g>\n")
    if has_text and embed_font:
        parts.append(_font_face())
    if background is not None:
        paint = _paint("fill", normal_color(background, name="background"))
        parts.append(
            f'<rect x="{_n(left)}" y="{_n(top)}" width="{_n(frame.width)}" height="{_n(frame.height)}"{paint}/>\n'
        )
    return "".join((*parts, *body, "</svg>\n"))


def texts_are_covered(snapshot: DrawingSnapshot) -> bool:
    """Whether the font of drawings has every character of every visible text."""
    return all(is_covered(item.text) for sheet in snapshot.sheets for item in sheet.objects if isinstance(item, Text))


@cache
def _font_face() -> str:
    encoded = base64.b64encode(WEB_FONT_FILE.read_bytes()).decode("ascii")
    source = f"url(data:font/woff2;base64,{encoded})"
    return f'<style>@font-face{{font-family:"{FONT_FAMILY}";src:{source} format("woff2")}}</style>\n'


def _n(number: float) -> str:
    """Eight digits are what renderers keep (single precision); adding zero drops the sign of -0."""
    return f"{number + 0.0:.8g}"


@lru_cache(maxsize=4096)  # a drawing has few colours and many objects
def _paint(what: str, text: str) -> str:
    color = parse_color(text)
    opacity = "" if color.alpha == OPAQUE else f' {what}-opacity="{color.alpha / OPAQUE:.4g}"'
    return f' {what}="{color._replace(alpha=OPAQUE).text()}"{opacity}'


class _Pen:
    """Writes objects as elements, each in one line."""

    def __init__(self, origin: Point) -> None:
        self._origin_x, self._origin_y = origin

    def element(self, item: AnyObject) -> str:
        if isinstance(item, Text):
            return self._text(item)
        paint = self._paint(item)
        match item:
            case Rectangle():
                return f'<rect id="{item.id}" {self._rectangle(item)}{paint}/>\n'
            case Ellipse():
                return f'<ellipse id="{item.id}" {self._ellipse(item)}{paint}/>\n'
            case Polygon():
                return f'<polygon id="{item.id}" points="{self._points(item.points)}"{paint}/>\n'
            case Line():
                (x1, y1), (x2, y2) = (self._at(point) for point in item.points)
                return f'<line id="{item.id}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"{paint}/>\n'
            case Stroke():
                return f'<path id="{item.id}" d="{self._curve(item.points)}"{paint}/>\n'

    def _at(self, point: Point) -> tuple[str, str]:
        return _n(point.x - self._origin_x), _n(self._origin_y - point.y)

    def _paint(self, item: AnyObject) -> str:
        style = item.style
        fill = ""
        if isinstance(item, Rectangle | Ellipse | Polygon) and style.fill_enabled:
            fill = _paint("fill", style.fill_color)
        stroke = ""
        if style.stroke_width:
            color = _paint("stroke", style.stroke_color)
            stroke = f'{color} stroke-width="{_n(style.stroke_width)}"'
        return fill + stroke + _opacity(style.opacity)

    def _turn(self, item: BoxObject) -> str:
        if not item.rotation:
            return ""
        x, y = self._at(item.center)
        return f' transform="rotate({_n(-item.rotation)} {x} {y})"'

    def _rectangle(self, item: Rectangle) -> str:
        x, y = self._at(Point(item.center.x - item.size.x / 2, item.center.y + item.size.y / 2))
        return f'x="{x}" y="{y}" width="{_n(item.size.x)}" height="{_n(item.size.y)}"{self._turn(item)}'

    def _ellipse(self, item: Ellipse) -> str:
        x, y = self._at(item.center)
        return f'cx="{x}" cy="{y}" rx="{_n(item.size.x / 2)}" ry="{_n(item.size.y / 2)}"{self._turn(item)}'

    def _points(self, points: tuple[Point, ...]) -> str:
        return " ".join(",".join(self._at(point)) for point in points)

    def _curve(self, points: tuple[Point, ...]) -> str:
        return "M" + ",".join(self._at(points[0])) + "".join(self._segments(points))

    def _segments(self, points: tuple[Point, ...]) -> Iterator[str]:
        for first, second, end in smooth_segments(points):
            yield "C" + self._points((first, second, end))

    def _text(self, item: Text) -> str:
        """Lines begin at the left of the box.

        Where the font lacks a character, `textLength` makes the line as wide as it was measured, in whatever font.
        """
        x, y = self._at(item.center)
        turn = f" rotate({_n(-item.rotation)})" if item.rotation else ""
        stretch = f" scale({_n(item.stretch)} 1)" if item.stretch != 1 else ""
        left, top = -item.size.x / item.stretch / 2, -item.size.y / 2
        lines: list[str] = []
        for number, line in enumerate(text_lines(item.text)):
            baseline = top + (BASELINE_DROP + number * LINE_HEIGHT) * item.font_size
            place, width = f'x="{_n(left)}" y="{_n(baseline)}"', line_width(line) * item.font_size
            if width and not is_covered(line):
                place += f' textLength="{_n(width)}" lengthAdjust="spacingAndGlyphs"'
            if width:
                lines.append(f"<tspan {place}>{escape(line, quote=False)}</tspan>")
        paint = _paint("fill", item.style.stroke_color) + _opacity(item.style.opacity)
        place = f'transform="translate({x} {y}){turn}{stretch}" font-size="{_n(item.font_size)}"'
        return f'<text id="{item.id}" {place}{paint}>{"".join(lines)}</text>\n'


def _opacity(opacity: float) -> str:
    return "" if opacity == 1 else f' opacity="{_n(opacity)}"'
