"""The named themes: the colours of an empty canvas and of what is drawn over it for orientation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Theme:
    """A theme by name. Colours are `#RRGGBB`: of the empty canvas, and of what must be readable upon it."""

    name: str
    background: str
    foreground: str


THEMES: Mapping[str, Theme] = MappingProxyType(
    {
        theme.name: theme
        for theme in (
            Theme("dark", "#14161A", "#E6E8EB"),
            Theme("light", "#FFFFFF", "#1B1D21"),
        )
    }
)
"""Every theme by its name."""

DEFAULT_THEME = "dark"
