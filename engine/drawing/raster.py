"""A drawing as pixels, by resvg. Owns pictures and single colours; each call may take long, so run it off the world.

Text is shown in the font of drawings, which comes with the engine, so a bare machine shows it too. Only where a text
has characters that this font lacks are the fonts of the machine looked at.
"""

from __future__ import annotations

import struct
import zlib

from engine.drawing.color import Color
from engine.drawing.font import FONT_FAMILY, FONT_FILE
from engine.drawing.geometry import Bounds, Point
from engine.drawing.snapshot import DrawingSnapshot
from engine.drawing.svg import compose_svg, content_box, frame_of, texts_are_covered
from engine.rasteriser import SvgFonts, shared_rasteriser

SAMPLE_SIDE = 0.002
"""Side of the square whose colour a sample is, in document units: small enough that edges do not blur into it."""

_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_RGBA_8 = (8, 6)
"""Bit depth and colour type of the pictures that resvg writes."""


def render_png(
    snapshot: DrawingSnapshot, width: int, height: int, background: str | None, *, box: Bounds | None = None
) -> bytes:
    """The drawing as a PNG of that many pixels; what is shown, and what is raised, is as in `render_svg`.

    Raises also as `Rasteriser.render` does, such as `ConflictError` for a drawing that takes too long.
    """
    frame, size = frame_of(content_box(snapshot) if box is None else box, width, height)
    return _render(snapshot, frame, size, background)


def sample_region(point: Point) -> Bounds:
    """The square around a point that `sample_color` looks at; a snapshot of it is all it needs."""
    return Bounds(*point, *point).grown(SAMPLE_SIDE / 2)


def sample_color(snapshot: DrawingSnapshot, point: Point) -> Color:
    """The colour of the drawing at a document point, all visible layers blended, without a background.

    Raises as `Rasteriser.render` does.
    """
    return _only_pixel(_render(snapshot, sample_region(point), (1, 1), None))


def _render(snapshot: DrawingSnapshot, frame: Bounds, size: tuple[int, int], background: str | None) -> bytes:
    svg = compose_svg(snapshot, frame=frame, size=size, background=background, embed_font=False, origin=frame.center)
    fonts = SvgFonts(files=(str(FONT_FILE),), family=FONT_FAMILY, system=not texts_are_covered(snapshot))
    return shared_rasteriser().render(svg, fonts)


def _only_pixel(png: bytes) -> Color:
    """Read a PNG of one pixel. Its filter does not matter, for every filter predicts zero there."""
    if not png.startswith(_PNG_SIGNATURE):
        raise ValueError("the renderer gave no PNG")
    position, packed = len(_PNG_SIGNATURE), b""
    while position < len(png):
        length, kind = struct.unpack_from(">I4s", png, position)
        data = png[position + 8 : position + 8 + length]
        if kind == b"IHDR" and struct.unpack(">IIBB", data[:10]) != (1, 1, *_RGBA_8):
            raise ValueError("the renderer gave a PNG of another size or form than one pixel of RGBA")
        if kind == b"IDAT":
            packed += data
        position += 12 + length
    _filter, red, green, blue, alpha = zlib.decompress(packed)
    return Color(red, green, blue, alpha)
