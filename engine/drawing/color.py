"""Colours of drawings: `#RRGGBB` and `#RRGGBBAA` as text. Owns reading and normalising them; never blends.

Records and results carry the normal form: upper case, with the alpha part only where the colour is not opaque, so that
equal colours are equal strings. See docs/coordinates.md.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from engine.errors import InvalidArgumentError

OPAQUE = 255
"""The alpha of a colour that lets nothing through, of 0 to 255."""

_COLOR = re.compile(r"#?([0-9A-Fa-f]{6})([0-9A-Fa-f]{2})?", re.ASCII)


class Color(NamedTuple):
    """A colour by its channels, each 0 to 255; alpha 0 is invisible."""

    red: int
    green: int
    blue: int
    alpha: int = OPAQUE

    def text(self) -> str:
        """The normal form: `#RRGGBB`, or `#RRGGBBAA` where alpha is below 255."""
        rgb = f"#{self.red:02X}{self.green:02X}{self.blue:02X}"
        return rgb if self.alpha == OPAQUE else f"{rgb}{self.alpha:02X}"


def parse_color(text: str, *, name: str = "color") -> Color:
    """Read a colour; the `#` may be left out. Raises `InvalidArgumentError`, naming the argument `name`."""
    match = _COLOR.fullmatch(text)
    if match is None:
        raise InvalidArgumentError(
            f"{name} must be #RRGGBB or #RRGGBBAA in hexadecimal digits, such as #FF8800 or #FF880080; got {text!r:.60}"
        )
    return Color(*bytes.fromhex("".join(part for part in match.groups() if part)))


def normal_color(text: str, *, name: str = "color") -> str:
    """The normal form of a colour. Raises as `parse_color`."""
    return parse_color(text, name=name).text()
