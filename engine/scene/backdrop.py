"""What is behind everything: the named skies, their colours in every direction, and the commands that choose one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, Literal, get_args

import numpy as np

from engine.drawing.color import parse_color
from engine.errors import NotFoundError
from engine.records import Transaction
from engine.scene.measures import checked, checked_color
from engine.scene.reading import backdrop_of
from engine.scene.records import Backdrop
from engine.scene.shape import Floats
from engine.world import Command

SkyName = Literal["day", "sunset", "night", "overcast", "studio"]
SKY_NAMES: tuple[SkyName, ...] = get_args(SkyName)
"""The skies there are."""

MAX_BRIGHTNESS = 1.0
"""At 1, the sky alone lights a white surface fully."""
DEFAULT_BRIGHTNESS = 0.1
"""Source: findings on the existing tools, section 3."""


@dataclass(frozen=True, slots=True)
class Sky:
    """A sky by name: its colours straight up, at the horizon, and straight down."""

    name: SkyName
    zenith: str
    horizon: str
    ground: str


SKIES: Mapping[str, Sky] = MappingProxyType(
    {
        sky.name: sky
        for sky in (
            Sky("day", "#3F7FD0", "#CFE3F5", "#8A8478"),
            Sky("sunset", "#39406F", "#F2A25C", "#3B2F35"),
            Sky("night", "#060912", "#1B2740", "#0A0C12"),
            Sky("overcast", "#97A1AB", "#D5DADE", "#7C7F82"),
            Sky("studio", "#F4F5F7", "#DDE0E4", "#B9BDC3"),
        )
    }
)
"""Every sky by its name."""

_RISE = 0.55
"""The power by which a sky goes from horizon to zenith: most of the change is near the horizon, as outdoors."""
_GROUND_FADE = 8.0
"""How fast the colour below the horizon becomes that of the ground."""


def channels(color: str) -> Floats:
    """A colour as red, green and blue from 0 to 1."""
    return np.array(parse_color(color)[:3]) / 255


def colors_behind(backdrop: Backdrop, theme_color: str, rise: Floats) -> Floats:
    """The colours (n by 3, 0 to 1) of the backdrop in directions whose upward part (their y at length 1) is `rise`."""
    if backdrop.sky is None:
        return np.broadcast_to(channels(backdrop.color or theme_color), (*rise.shape, 3))
    sky = SKIES[backdrop.sky]
    horizon = channels(sky.horizon)
    up = np.clip(rise, 0, 1)[..., None] ** _RISE
    down = np.clip(-rise * _GROUND_FADE, 0, 1)[..., None]
    above = horizon + (channels(sky.zenith) - horizon) * up
    below = horizon + (channels(sky.ground) - horizon) * down
    return np.where(rise[..., None] >= 0, above, below)


def sky_light(backdrop: Backdrop) -> Floats:
    """The light (red, green, blue) that the sky gives to everything from all sides."""
    if backdrop.sky is None:
        return np.zeros(3)
    sky = SKIES[backdrop.sky]
    return (channels(sky.zenith) + channels(sky.horizon)) / 2 * backdrop.brightness


@dataclass(frozen=True, slots=True, kw_only=True)
class SetSkybox(Command[Backdrop]):
    """Put a sky behind everything. Raises `NotFoundError` for an unknown name, naming those there are."""

    label: ClassVar[str] = "set sky"
    sky: str
    brightness: float = DEFAULT_BRIGHTNESS

    def run(self, world: Transaction) -> Backdrop:
        """Set it."""
        if self.sky not in SKIES:
            raise NotFoundError(f"There is no sky {self.sky!r:.80}. Skies: {', '.join(SKIES)}.")
        brightness = checked(self.brightness, "brightness", 0.0, MAX_BRIGHTNESS)
        return _put(world, Backdrop(sky=self.sky, brightness=brightness, color=backdrop_of(world).color))


@dataclass(frozen=True, slots=True)
class SetBackground(Command[Backdrop]):
    """Put one colour behind everything, instead of a sky. Raises `InvalidArgumentError` for what is no colour."""

    label: ClassVar[str] = "set background"
    color: str

    def run(self, world: Transaction) -> Backdrop:
        """Set it."""
        return _put(world, Backdrop(color=checked_color(self.color)))


def checked_backdrop(backdrop: Backdrop) -> Backdrop:
    """The backdrop, its values in normal form. Raises as the commands do."""
    if backdrop.sky is not None and backdrop.sky not in SKIES:
        raise NotFoundError(f"There is no sky {backdrop.sky!r:.80}. Skies: {', '.join(SKIES)}.")
    brightness = checked(backdrop.brightness, "brightness", 0.0, MAX_BRIGHTNESS)
    color = None if backdrop.color is None else checked_color(backdrop.color)
    return Backdrop(sky=backdrop.sky, brightness=brightness, color=color)


def _put(world: Transaction, backdrop: Backdrop) -> Backdrop:
    if backdrop != backdrop_of(world):
        world.put(backdrop)
    return backdrop
