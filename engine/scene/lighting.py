"""The commands that add and change lights, and the rules that every light keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar, cast

from engine.errors import ConflictError, InvalidArgumentError, NotFoundError
from engine.records import Transaction
from engine.scene.measures import (
    MAX_CONE,
    MAX_INTENSITY,
    MAX_RANGE,
    MIN_RANGE,
    checked,
    checked_color,
    checked_point,
)
from engine.scene.reading import AMBIENT, DEFAULT_LIGHTS, light_of, lights_of
from engine.scene.records import Light, LightKind, PlacedLightKind
from engine.scene.vector import ORIGIN, Vector
from engine.world import Command

MOST_LIGHTS: Mapping[LightKind, int] = MappingProxyType({"ambient": 1, "point": 8, "directional": 4, "spot": 4})
"""How many lights there may be of each kind; the sun is one of the directional ones."""

DEFAULT_LIGHT_POSITION = Vector(0.0, 5.0, 0.0)
"""Above the middle of the space, in metres."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LightChanges:
    """What of a light is to be different; None leaves it as it is. `direction` or `target`, not both."""

    enabled: bool | None = None
    color: str | None = None
    intensity: float | None = None
    x: float | None = None
    y: float | None = None
    z: float | None = None
    direction: Vector | None = None
    target: Vector | None = None
    range: float | None = None
    cone_degrees: float | None = None

    def apply_to(self, light: Light) -> Light:
        """The light with the changes made. Raises `InvalidArgumentError` for what that kind of light cannot have."""
        self._refuse_what_it_lacks(light.kind)
        place = light.position
        moved = Vector(*(old if new is None else new for old, new in zip(place, (self.x, self.y, self.z), strict=True)))
        direction = light.direction if self.direction is None else self.direction.unit()
        if self.target is not None:
            direction = _towards(self.target, moved)
        return checked_light(
            replace(
                light,
                enabled=light.enabled if self.enabled is None else self.enabled,
                color=light.color if self.color is None else self.color,
                intensity=light.intensity if self.intensity is None else self.intensity,
                position=moved,
                direction=direction,
                range=light.range if self.range is None else self.range,
                cone_degrees=light.cone_degrees if self.cone_degrees is None else self.cone_degrees,
            )
        )

    def _refuse_what_it_lacks(self, kind: LightKind) -> None:
        lacking = {
            "ambient": ("x", "y", "z", "direction", "target", "range", "cone_degrees"),
            "point": ("direction", "target", "cone_degrees"),
            "directional": ("range", "cone_degrees"),
            "spot": (),
        }[kind]
        given = [name for name in lacking if getattr(self, name) is not None]
        if given:
            raise InvalidArgumentError(f"A light of kind {kind} has no {' and no '.join(given)}; leave that out.")
        if self.direction is not None and self.target is not None:
            raise InvalidArgumentError("direction and target both say where the light shines; give one of them.")


@dataclass(frozen=True, slots=True, kw_only=True)
class AddLight(Command[Light]):
    """Put a light into the scene. Directional and spot lights shine at the middle of the space unless told otherwise.

    The position of a directional light only says, with its target, where its rays come from. Raises
    `InvalidArgumentError` for what that kind of light cannot have, and `ConflictError` beyond `MOST_LIGHTS`.
    """

    label: ClassVar[str] = "add light"
    kind: PlacedLightKind
    settings: LightChanges

    def run(self, world: Transaction) -> Light:
        """Add it."""
        there = [light.id for light in lights_of(world) if light.kind == self.kind]
        if len(there) >= MOST_LIGHTS[self.kind]:
            raise ConflictError(
                f"There are {len(there)} {self.kind} lights, which is the most: {', '.join(there)}. "
                "Change one of them with space_scene_set_light_state instead."
            )
        settings = self.settings
        if self.kind != "point" and settings.direction is None and settings.target is None:
            settings = replace(settings, target=ORIGIN)
        blank = Light(id="light", kind=self.kind, position=DEFAULT_LIGHT_POSITION)
        light = settings.apply_to(blank)
        while light_of(world, light_id := world.new_id("light")) is not None:
            pass  # a world that came from elsewhere may have lights beyond its counter
        light = replace(light, id=light_id)
        world.put(light)
        return light


@dataclass(frozen=True, slots=True, kw_only=True)
class SetLightState(Command[Light]):
    """Change a light and say how it is now. An id is enough to name it, and for the ambient light its kind is.

    Raises `NotFoundError` for an unknown id before anything else, `InvalidArgumentError` for a kind that is not that of
    the light, for no change at all, and for what that kind cannot have.
    """

    label: ClassVar[str] = "set light"
    kind: LightKind | None = None
    light_id: str | None
    changes: LightChanges

    def run(self, world: Transaction) -> Light:
        """Change it."""
        light = self._light(world)
        if self.changes == LightChanges():
            raise InvalidArgumentError(
                f"Say what of the light {light.id!r} is to be different: enabled, color, intensity, or its place."
            )
        changed = self.changes.apply_to(light)
        if changed != light:
            world.put(changed)
        return changed

    def _light(self, world: Transaction) -> Light:
        if self.kind == "ambient":
            return cast("Light", light_of(world, AMBIENT.id))
        light = None if self.light_id is None else light_of(world, self.light_id)
        if light is None:
            there = ", ".join(f"{light.id} ({light.kind})" for light in lights_of(world))
            if self.light_id is None:
                raise InvalidArgumentError(f"Say which light, by id. Lights: {there}.")
            raise NotFoundError(f"There is no light {self.light_id!r:.80}. Lights: {there}.")
        if self.kind not in (None, light.kind):
            raise InvalidArgumentError(f"{light.id} is a light of kind {light.kind}, not {self.kind}.")
        return light


def checked_light(light: Light) -> Light:
    """The light, its values in normal form. Raises `InvalidArgumentError` for what no light can have."""
    return replace(
        light,
        color=checked_color(light.color),
        intensity=checked(light.intensity, "intensity", 0.0, MAX_INTENSITY),
        position=checked_point(light.position, "position"),
        direction=_checked_direction(light.direction),
        range=checked(light.range, "range", MIN_RANGE, MAX_RANGE, "metres"),
        cone_degrees=checked(light.cone_degrees, "cone_degrees", 1.0, MAX_CONE, "degrees"),
    )


def checked_lights(lights: tuple[Light, ...]) -> tuple[Light, ...]:
    """The lights of a whole scene: none too many, and of the two that are always there, the right kinds."""
    kinds = {light.id: light.kind for light in lights}
    for always in DEFAULT_LIGHTS:
        if kinds.get(always.id, always.kind) != always.kind:
            raise InvalidArgumentError(f"The light {always.id!r} must be of kind {always.kind}.")
    for kind, most in MOST_LIGHTS.items():
        ids = [light.id for light in lights if light.kind == kind]
        if len(ids) > most:
            raise InvalidArgumentError(f"There are {len(ids)} lights of kind {kind}; a scene has at most {most}.")
    return tuple(checked_light(light) for light in lights)


def _towards(target: Vector, position: Vector) -> Vector:
    target = checked_point(target, "target")
    if target == position:
        raise InvalidArgumentError(
            f"The light stands at its own target ({target.x:g}, {target.y:g}, {target.z:g}); move one of them, or give "
            "a direction."
        )
    return target.minus(position).unit()


def _checked_direction(direction: Vector) -> Vector:
    """A direction of length 1; one that has it already stays as it is, so that what was stored comes back exactly."""
    return direction if abs(direction.length - 1) < 1e-9 else direction.unit()
