"""Hills from a seed: gradient noise after Perlin, in octaves. Pure, and the same for the same arguments everywhere.

Only raw numbers of the generator are used, since numpy promises those never to change.
"""

from __future__ import annotations

import numpy as np

from engine.scene.shape import Floats

GAIN = 0.5
"""Each octave has half the height of the one before."""
_RAW_BITS = 64


def perlin(rows: int, columns: int, *, waves_x: float, waves_z: float, octaves: int, seed: int) -> Floats:
    """Samples in [0, 1], both reached. `waves` is how many of the largest hills stand side by side along each axis."""
    total = np.zeros((rows, columns))
    for octave in range(octaves):
        finer = 1 << octave
        z = np.linspace(0.0, waves_z * finer, rows)
        x = np.linspace(0.0, waves_x * finer, columns)
        total += GAIN**octave * _gradient_noise(z, x, seed=(seed, octave))
    low, high = float(total.min()), float(total.max())
    return np.zeros_like(total) if high - low <= 0 else (total - low) / (high - low)


def _gradient_noise(z: Floats, x: Floats, *, seed: tuple[int, int]) -> Floats:
    row, column = np.floor(z).astype(np.intp), np.floor(x).astype(np.intp)
    shape = (int(row.max()) + 2, int(column.max()) + 2)
    raw = np.random.PCG64(list(seed)).random_raw(shape[0] * shape[1]).reshape(shape)
    angle = raw.astype(np.float64) * (2 * np.pi / 2.0**_RAW_BITS)
    slope_z, slope_x = np.sin(angle), np.cos(angle)
    dz, dx = (z - row)[:, None], (x - column)[None, :]

    def corner(down: int, right: int) -> Floats:
        at = np.ix_(row + down, column + right)
        return slope_z[at] * (dz - down) + slope_x[at] * (dx - right)

    fade_z, fade_x = _fade(dz), _fade(dx)
    far = corner(0, 0) * (1 - fade_x) + corner(0, 1) * fade_x
    near = corner(1, 0) * (1 - fade_x) + corner(1, 1) * fade_x
    return far * (1 - fade_z) + near * fade_z


def _fade(t: Floats) -> Floats:
    return t**3 * (t * (6 * t - 15) + 10)
