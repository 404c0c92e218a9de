"""The picture of a drawing. Owns how a request for a view becomes a frame of the document; painting is elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

from engine.drawing.geometry import Bounds
from engine.drawing.raster import render_png
from engine.drawing.snapshot import DrawingSnapshot
from engine.drawing.svg import content_box, frame_of, render_svg
from engine.theme import Theme
from engine.view import Rendered, ViewBox, ViewRequest


@dataclass(frozen=True, slots=True)
class DrawingPicture:
    """A drawing as it was when the snapshot was taken. A `Picture`."""

    snapshot: DrawingSnapshot

    def png(self, request: ViewRequest, theme: Theme) -> Rendered:
        """Everything that is drawn, or the box that is asked for, grown to the shape of the picture."""
        wanted = content_box(self.snapshot) if request.box is None else _bounds(request.box)
        frame, (width, height) = frame_of(wanted, request.width, request.height)
        png = render_png(self.snapshot, width=width, height=height, background=theme.background, box=frame)
        return Rendered(
            png=png, width=width, height=height, box=ViewBox(frame.left, frame.bottom, frame.width, frame.height)
        )

    def svg(self, theme: Theme) -> str:
        """The whole drawing on the theme's background."""
        return render_svg(self.snapshot, background=theme.background)


def _bounds(box: ViewBox) -> Bounds:
    return Bounds(box.x, box.y, box.x + box.width, box.y + box.height)
