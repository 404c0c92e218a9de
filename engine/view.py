"""What a rendered picture of a surface is, and what can be asked of one. Owns these values; rendering is elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Protocol, runtime_checkable

from engine.errors import InvalidArgumentError
from engine.theme import Theme

MIN_VIEW_SIDE = 16
"""Pixels. Below this a picture shows nothing that a model could read."""

MAX_VIEW_SIDE = 2000
"""Pixels. Clients refuse or shrink images whose longer side is above it."""

DEFAULT_VIEW_WIDTH = 1024
"""Pixels. Fine enough to read text of ordinary size, small enough to cost a model few tokens."""

DEFAULT_VIEW_HEIGHT = 768
"""Pixels. See `DEFAULT_VIEW_WIDTH`."""


@dataclass(frozen=True, slots=True)
class ViewBox:
    """A part of a canvas in its own units, +y up: the lower left corner, and how far it reaches right and up.

    Raises `InvalidArgumentError` for numbers that are not finite and extents that are not above 0.
    """

    x: float
    y: float
    width: float
    height: float

    def __post_init__(self) -> None:
        if not all(map(isfinite, (self.x, self.y, self.width, self.height))):
            raise InvalidArgumentError("the numbers of a box must be finite")
        if self.width <= 0 or self.height <= 0:
            raise InvalidArgumentError(f"a box has width and height above 0; this one is {self.width} by {self.height}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewRequest:
    """A picture that is wanted: of which surface (None: the current one), how large in pixels, and of which part.

    `box` grows in one direction to the picture's shape; None shows everything that is there. Raises
    `InvalidArgumentError` for a side outside `MIN_VIEW_SIDE` to `MAX_VIEW_SIDE`, and for an empty surface name.
    """

    surface: str | None = None
    width: int = DEFAULT_VIEW_WIDTH
    height: int = DEFAULT_VIEW_HEIGHT
    box: ViewBox | None = None

    def __post_init__(self) -> None:
        if self.surface == "":
            raise InvalidArgumentError("surface is empty; leave it out to see the current surface")
        for name, side in (("width", self.width), ("height", self.height)):
            if not MIN_VIEW_SIDE <= side <= MAX_VIEW_SIDE:
                raise InvalidArgumentError(
                    f"{name} is {side} pixels; a picture has from {MIN_VIEW_SIDE} to {MAX_VIEW_SIDE} on each side"
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A picture as a PNG file's bytes with its size in pixels.

    `box` is the part of the surface that it really shows, so that pixels can be related to coordinates; None for a
    surface that has no such box. `renderer` says what made it, where there is a choice.
    """

    png: bytes
    width: int
    height: int
    box: ViewBox | None = None
    renderer: str | None = None


class Picture(Protocol):
    """One surface of a world at one moment: frozen, taken by the world's owner, rendered by whoever has the time."""

    def png(self, request: ViewRequest, theme: Theme) -> Rendered:
        """The picture in that size. May take seconds for a large world."""
        ...

    def svg(self, theme: Theme) -> str:
        """The picture as an SVG document. Raises `ConflictError` for a surface that has none."""
        ...


@runtime_checkable
class Solid(Protocol):
    """A picture of something that has a shape in space, and can be written as such."""

    def glb(self) -> bytes:
        """The shape as a binary glTF file. May take a second."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A picture of one surface of one world at one revision: a PNG file's bytes, and its size in pixels.

    `box` is the part of the canvas that it really shows, so that pixels can be related to coordinates; None for a
    surface that has no such box.
    """

    png: bytes
    width: int
    height: int
    surface: str
    world_id: str
    revision: int
    box: ViewBox | None = None
