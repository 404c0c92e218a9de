"""What the engine keeps beside the worlds, so that a restart brings the user back to where they were."""

from __future__ import annotations

from dataclasses import dataclass

from engine.theme import DEFAULT_THEME


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The theme, the active world, and the user's last context. The defaults are those of a fresh data folder."""

    active_world_id: str
    theme: str = DEFAULT_THEME
    surface: str = "canvas"
    activity: str | None = "drawing"
    canvas_visible: bool = True
