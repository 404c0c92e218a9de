"""A picture of a scene: taken by the world's owner, painted elsewhere by the renderer that is to be had.

Owns which renderer paints it, the marks around what is selected, and the PNG.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from engine.errors import ConflictError
from engine.records import RecordTable
from engine.scene.gl_context import GlPlatform, NoContextError
from engine.scene.gltf import to_glb
from engine.scene.lens import Lens
from engine.scene.mujoco_library import mujoco
from engine.scene.mujoco_picture import can_paint
from engine.scene.outline import frame_around, line_on_picture
from engine.scene.painting_thread import PaintingThread
from engine.scene.renderer import RendererName, detect_renderer, platform_of
from engine.scene.snapshot import SceneSnapshot, snapshot
from engine.scene.software_picture import paint_in_software
from engine.scene.vector import Vector
from engine.theme import Theme
from engine.view import Rendered, ViewRequest

MARK_COLOR = "#FFB000"
"""Of the frames around what is selected: seldom the colour of anything else, and seen on dark and on light."""
MOST_MARKS = 500
"""Frames in one picture; more would hide what they mark."""

_MARK_WIDTH = 2
_SHADE_WIDTH = 4
_SHADE_COLOR = "#1A1200"
"""A dark line below each mark keeps it visible on bright things."""
_PNG_LEVEL = 6
_painting = PaintingThread()
"""OpenGL's libraries are not made for several pictures at a time in one process."""


@dataclass(frozen=True, slots=True)
class ScenePicture:
    """The scene at one moment. See `engine.view.Picture`."""

    scene: SceneSnapshot

    def png(self, request: ViewRequest, theme: Theme) -> Rendered:
        """The view of the scene's camera. `request.box` has no meaning here."""
        size = request.width, request.height
        pixels, renderer = paint(self.scene, *size, theme.background)
        image = Image.fromarray(np.ascontiguousarray(pixels))
        _mark_selection(image, self.scene, Lens(self.scene.camera, *size))
        file = io.BytesIO()
        image.save(file, "PNG", compress_level=_PNG_LEVEL)
        return Rendered(png=file.getvalue(), width=request.width, height=request.height, renderer=renderer)

    def svg(self, theme: Theme) -> str:
        """Raises `ConflictError`: a view of a space has no lines to write down."""
        del theme
        raise ConflictError("The scene has no SVG picture; ask for PNG, or export the scene as glTF.")

    def glb(self) -> bytes:
        """The bodies and terrains as a binary glTF file."""
        return to_glb(self.scene)


def picture(table: RecordTable) -> ScenePicture:
    """A picture of the scene as it is now, to be painted elsewhere."""
    return ScenePicture(snapshot(table))


def paint(
    scene: SceneSnapshot, width: int, height: int, theme_color: str, *, renderer: RendererName | None = None
) -> tuple[NDArray[np.uint8], RendererName]:
    """The pixels without marks, and what painted them: the wanted renderer, or the one of this machine.

    Where that one fails, or knows too few lights for this scene, software paints.
    """
    chosen = detect_renderer() if renderer is None else renderer
    platform = platform_of(chosen)
    if platform is not None and can_paint(scene):
        pixels = _by_mujoco(scene, width, height, theme_color, platform)
        if pixels is not None:
            return pixels, chosen
    return paint_in_software(scene, width, height, theme_color), "software"


def _by_mujoco(
    scene: SceneSnapshot, width: int, height: int, theme_color: str, platform: GlPlatform
) -> NDArray[np.uint8] | None:
    try:
        return _painting.paint(scene, width, height, theme_color, platform)
    except (NoContextError, mujoco().FatalError):
        return None  # a driver out of memory, say: the picture is made all the same, and says by whom


def _mark_selection(image: Image.Image, scene: SceneSnapshot, lens: Lens) -> None:
    draw = ImageDraw.Draw(image)
    lines = [line for edge in _edges_of_selected(scene) if (line := _on_picture(lens, *edge)) is not None]
    for color, width in ((_SHADE_COLOR, _SHADE_WIDTH), (MARK_COLOR, _MARK_WIDTH)):
        for line in lines:
            draw.line(line, fill=color, width=width)


def _edges_of_selected(scene: SceneSnapshot) -> Iterator[tuple[Vector, Vector]]:
    selected = frozenset(scene.selection[:MOST_MARKS])
    for item in (*scene.bodies, *scene.terrains, *scene.lights):
        if item.id in selected and (frame := frame_around(item)) is not None:
            yield from frame.edges()


def _on_picture(lens: Lens, start: Vector, end: Vector) -> tuple[float, float, float, float] | None:
    """The line between two points of the space on the picture; None for one that cannot be drawn there."""
    ends = line_on_picture(lens, start, end)
    if ends is None:
        return None
    line = (*ends[0], *ends[1])
    return line if max(map(abs, line)) < _FAR_OUTSIDE else None


_FAR_OUTSIDE = 1e6
"""Pixels beside the picture beyond which a line is not drawn: the painter counts in whole numbers."""
