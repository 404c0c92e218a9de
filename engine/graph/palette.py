"""The colours of a graph's picture. Owns which kind of node has which colour, on a dark and on a light background."""

from __future__ import annotations

import zlib
from collections.abc import Iterable

from engine.drawing.color import Color, parse_color
from engine.theme import Theme

_KNOWN = {
    "string-entity": "#4C8DF6",
    "identity": "#E0A13A",
    "file": "#3FA66B",
    "folder": "#8A9A3B",
}
_OTHERS = ("#B565D9", "#D9605A", "#2FA7A0", "#D06CA0", "#7C7FE8", "#C27B3F", "#5AA9D6", "#9A8C6A")
"""For kinds that people think up: far apart, and readable as an outline on black and on white."""

MARK = "#FF9F1C"
"""What is selected or in focus."""

_FILL_SHARE = 0.22
_LINE_SHARE = 0.62
_MUTED_SHARE = 0.6


IDENTITY_COLOR = _KNOWN["identity"]
"""Identities, and the ties to them."""


def kind_colors(kinds: Iterable[str]) -> dict[str, str]:
    """A colour for each kind: the same for the same word, unless another kind of the map has it already."""
    colors: dict[str, str] = {}
    taken: set[int] = set()
    for kind in sorted(set(kinds)):
        known = _KNOWN.get(kind)
        if known is not None:
            colors[kind] = known
            continue
        place = zlib.crc32(kind.encode()) % len(_OTHERS)
        if len(taken) < len(_OTHERS):
            while place in taken:
                place = (place + 1) % len(_OTHERS)
        taken.add(place)
        colors[kind] = _OTHERS[place]
    return colors


def fill_color(color: str, theme: Theme) -> str:
    """The inside of a node: a breath of its kind's colour, opaque, so that edges below do not show through."""
    return mixed(color, theme.background, _FILL_SHARE)


def edge_color(theme: Theme) -> str:
    """Edges and their labels."""
    return mixed(theme.foreground, theme.background, _LINE_SHARE)


def muted_color(theme: Theme) -> str:
    """Words and lines of less weight."""
    return mixed(theme.foreground, theme.background, _MUTED_SHARE)


def mixed(over: str, under: str, share: float) -> str:
    """A part of one colour, and the rest of another; opaque."""
    top, bottom = parse_color(over), parse_color(under)
    red, green, blue = (round(a * share + b * (1 - share)) for a, b in zip(top[:3], bottom[:3], strict=True))
    return Color(red, green, blue).text()
