"""The commands that add and remove terrain, and the rules that every terrain keeps."""

from __future__ import annotations

import binascii
import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from engine.errors import ConflictError, InvalidArgumentError, NotFoundError
from engine.records import Transaction
from engine.scene.height_field import decode_heights, encode_heights
from engine.scene.index import SceneIndex
from engine.scene.measures import (
    MAX_FRICTION,
    MAX_HEIGHT,
    MAX_SAMPLES,
    MAX_TERRAIN_SIZE,
    MAX_TERRAINS,
    MIN_TERRAIN_SIZE,
    checked,
    checked_color,
    checked_point,
)
from engine.scene.noise import perlin
from engine.scene.reading import selected_ids
from engine.scene.records import SceneSelection, Terrain, TerrainKind
from engine.scene.shape import Floats
from engine.scene.vector import ORIGIN, Box, Vector
from engine.world import Command

DEFAULT_TERRAIN_SIZE = 20.0
"""Metres along each side."""
DEFAULT_TERRAIN_FRICTION = 0.6
"""As of the bodies."""
DEFAULT_TERRAIN_COLOR = "#6B8F5A"
"""A meadow."""
DEFAULT_NOISE_HEIGHT = 2.0
"""From the lowest to the highest point, in metres."""
DEFAULT_NOISE_SAMPLES = 65
"""Along each side."""
DEFAULT_OCTAVES = 4
"""Hills on hills on hills, down to an eighth of the largest."""
MAX_OCTAVES = 8
"""Finer ones are smaller than the distance of the samples."""
MAX_SEED = 2**53 - 1
"""The largest whole number that JSON carries exactly everywhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseRecipe:
    """Hills from a seed: see `engine.scene.noise`. `feature_size` is the width of the largest hills in metres."""

    seed: int = 0
    height: float = DEFAULT_NOISE_HEIGHT
    feature_size: float | None = None
    octaves: int = DEFAULT_OCTAVES
    samples: int = DEFAULT_NOISE_SAMPLES

    def heights(self, size_x: float, size_z: float) -> Floats:
        """The samples for a terrain of that size. Raises `InvalidArgumentError` for what cannot be made."""
        height = checked(self.height, "height", 0.0, MAX_HEIGHT, "metres")
        octaves = int(checked(self.octaves, "octaves", 1, MAX_OCTAVES))
        samples = int(checked(self.samples, "samples", 2, MAX_SAMPLES))
        seed = int(checked(self.seed, "seed", 0, MAX_SEED))
        feature = max(size_x, size_z) / 3 if self.feature_size is None else self.feature_size
        finest = max(size_x, size_z) / MAX_SAMPLES
        feature = checked(feature, "feature_size", finest, 10 * MAX_TERRAIN_SIZE, "metres")
        unit = perlin(samples, samples, waves_x=size_x / feature, waves_z=size_z / feature, octaves=octaves, seed=seed)
        return unit * height


@dataclass(frozen=True, slots=True)
class TerrainInfo:
    """A terrain and the box around its surface."""

    terrain: Terrain
    bounds: Box


@dataclass(frozen=True, slots=True, kw_only=True)
class AddTerrain(Command[TerrainInfo]):
    """Put ground into the scene, the middle of its foot at `position`.

    `heights` are rows of metres over the foot, both from the smallest z and x on; None makes it flat. Raises
    `InvalidArgumentError` for what no terrain can have, and `ConflictError` beyond `MAX_TERRAINS`.
    """

    label: ClassVar[str] = "add terrain"
    kind: TerrainKind = "flat"
    position: Vector = ORIGIN
    size_x: float = DEFAULT_TERRAIN_SIZE
    size_z: float = DEFAULT_TERRAIN_SIZE
    heights: tuple[tuple[float, ...], ...] | None = None
    noise: NoiseRecipe | None = None
    color: str = DEFAULT_TERRAIN_COLOR
    friction: float = DEFAULT_TERRAIN_FRICTION

    def run(self, world: Transaction) -> TerrainInfo:
        """Add it."""
        flat = Terrain(
            id="terrain",
            kind=self.kind,
            position=self.position,
            size_x=self.size_x,
            size_z=self.size_z,
            color=self.color,
            friction=self.friction,
        )
        terrain = self._with_heights(_checked_foot(flat))
        if world.index(SceneIndex).count(Terrain) >= MAX_TERRAINS:
            raise ConflictError(f"The scene has {MAX_TERRAINS} terrains, which is the most; remove one first.")
        terrain = replace(terrain, id=world.new_id("terrain"))
        world.put(terrain)
        return TerrainInfo(terrain, world.index(SceneIndex).boxes[terrain.id])

    def _with_heights(self, terrain: Terrain) -> Terrain:
        match self.kind:
            case "flat":
                if self.heights is not None or self.noise is not None:
                    raise InvalidArgumentError("A flat terrain has no heights; the kind for them is heightfield.")
                return terrain
            case "heightfield":
                if self.heights is None or self.noise is not None:
                    raise InvalidArgumentError("A terrain of kind heightfield needs heights, and no seed.")
                return _raised(terrain, _checked_rows(self.heights))
            case "perlin":
                if self.heights is not None:
                    raise InvalidArgumentError("A terrain of kind perlin makes its own heights: give none.")
                return _raised(terrain, (self.noise or NoiseRecipe()).heights(terrain.size_x, terrain.size_z))


@dataclass(frozen=True, slots=True)
class RemoveTerrain(Command[TerrainInfo]):
    """Take a terrain away and say what it was. Raises `NotFoundError`, naming those that are there."""

    label: ClassVar[str] = "remove terrain"
    terrain_id: str

    def run(self, world: Transaction) -> TerrainInfo:
        """Remove it."""
        index = world.index(SceneIndex)
        terrain = world.get(Terrain, self.terrain_id)
        if terrain is None:
            there = ", ".join(index.ids(Terrain)) or "none"
            raise NotFoundError(f"There is no terrain {self.terrain_id!r:.80}. Terrains: {there}.")
        bounds, selection = index.boxes[terrain.id], selected_ids(world)
        world.remove(Terrain, terrain.id)
        if terrain.id in selection:
            world.put(SceneSelection(ids=tuple(i for i in selection if i != terrain.id)))
        return TerrainInfo(terrain, bounds)


def checked_terrain(terrain: Terrain) -> Terrain:
    """The terrain, its values in normal form. Raises `InvalidArgumentError` for what no terrain can have."""
    checked_one = _checked_foot(terrain)
    if (terrain.kind == "flat") != (not terrain.heights):
        raise InvalidArgumentError(
            f"A terrain of kind {terrain.kind} has {'no ' if terrain.kind == 'flat' else ''}heights"
        )
    if not terrain.heights:
        return replace(checked_one, rows=0, columns=0, lowest=0.0, highest=0.0)
    for name, count in (("rows", terrain.rows), ("columns", terrain.columns)):
        checked(count, name, 2, MAX_SAMPLES)
    try:
        heights = decode_heights(terrain)
    except (ValueError, binascii.Error) as error:
        raise InvalidArgumentError(
            f"heights must be {terrain.rows} * {terrain.columns} little-endian 32-bit floats as base64: {error}"
        ) from error
    return _raised(checked_one, heights)


def heights_from(values: Floats, height: float) -> tuple[tuple[float, ...], ...]:
    """Samples from 0 to 1 as rows of metres, 1 becoming `height`."""
    most = checked(height, "height", 0.0, MAX_HEIGHT, "metres")
    return tuple(tuple(row) for row in (values * most).tolist())


def _checked_foot(terrain: Terrain) -> Terrain:
    return replace(
        terrain,
        position=checked_point(terrain.position, "position"),
        size_x=checked(terrain.size_x, "size", MIN_TERRAIN_SIZE, MAX_TERRAIN_SIZE, "metres"),
        size_z=checked(terrain.size_z, "size_z", MIN_TERRAIN_SIZE, MAX_TERRAIN_SIZE, "metres"),
        color=checked_color(terrain.color),
        friction=checked(terrain.friction, "friction", 0.0, MAX_FRICTION),
    )


def _checked_rows(rows: tuple[tuple[float, ...], ...]) -> Floats:
    checked(len(rows), "the number of rows of heights", 2, MAX_SAMPLES)
    columns = len(rows[0])
    checked(columns, "the number of heights in a row", 2, MAX_SAMPLES)
    for number, row in enumerate(rows):
        if len(row) != columns:
            raise InvalidArgumentError(
                f"heights[{number}] has {len(row)} numbers and heights[0] has {columns}; all rows must be as long"
            )
    return np.array(rows, dtype=np.float64)


def _raised(terrain: Terrain, heights: Floats) -> Terrain:
    low, high = float(heights.min()), float(heights.max())
    if not (math.isfinite(low) and math.isfinite(high)) or max(-low, high) > MAX_HEIGHT:
        raise InvalidArgumentError(
            f"heights must be finite and from {-MAX_HEIGHT:g} to {MAX_HEIGHT:g} metres; they reach from {low} to {high}"
        )
    kept = heights.astype("<f4")
    rows, columns = heights.shape
    return replace(
        terrain,
        rows=int(rows),
        columns=int(columns),
        heights=encode_heights(kept.astype(np.float64)),
        lowest=float(kept.min()),
        highest=float(kept.max()),
    )
