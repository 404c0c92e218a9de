"""The thread that paints with OpenGL: one at a time, with a context that is kept, and given back when nobody asks."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from engine.scene.gl_context import GlPlatform
from engine.scene.mujoco_library import mujoco
from engine.scene.mujoco_picture import MujocoPainter
from engine.scene.painting_thread import PaintingThread
from engine.scene.renderer import detect_renderer, platform_of
from engine.scene.terrain import NoiseRecipe
from engine.scene.vector import Vector
from tests.engine.scene.samples import Scene

pytestmark = pytest.mark.slow

BLACK = "#000000"
NEVER = 3600.0
BOUND_SECONDS = 20.0


@pytest.fixture
def platform() -> GlPlatform:
    found = platform_of(detect_renderer())
    if found is None:
        pytest.skip("this machine has no OpenGL that MuJoCo could render with")
    return found


def test_a_kept_context_paints_the_same_as_a_new_one_whatever_came_before(platform: GlPlatform) -> None:
    scene = Scene()
    stages = [(scene.snapshot(), 80, 60, BLACK)]
    scene.body("box", Vector(0, 0, 0))
    stages.append((scene.snapshot(), 80, 60, BLACK))
    scene.ground(kind="perlin", noise=NoiseRecipe(seed=3))
    stages.append((scene.snapshot(), 80, 60, BLACK))
    stages += [(scene.snapshot(), 120, 60, BLACK), (scene.snapshot(), 120, 60, "#FFFFFF"), stages[0], stages[1]]
    expected = []
    for stage in stages:
        with MujocoPainter(platform) as new:
            expected.append(new.paint(*stage))
    with MujocoPainter(platform) as kept:
        for stage, picture in zip(stages, expected, strict=True):
            assert np.array_equal(kept.paint(*stage), picture)


def test_pictures_that_are_ordered_from_many_threads_are_each_their_own(platform: GlPlatform) -> None:
    painting = PaintingThread(NEVER)
    scene = Scene()
    scene.body("sphere", Vector(0, 0, 0))
    snapshot = scene.snapshot()
    sizes = [(40 + 10 * number, 30) for number in range(8)]
    with ThreadPoolExecutor(8) as threads:
        pictures = list(threads.map(lambda size: painting.paint(snapshot, size[0], size[1], BLACK, platform), sizes))
    assert [picture.shape for picture in pictures] == [(height, width, 3) for width, height in sizes]
    assert [thread.name for thread in threading.enumerate()].count("scene-painter") >= 1


def test_a_picture_that_fails_is_told_to_who_ordered_it_and_the_next_one_is_made(
    platform: GlPlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    painting = PaintingThread(NEVER)
    snapshot = Scene().snapshot()
    painting.paint(snapshot, 40, 30, BLACK, platform)

    def fail(*_: object) -> None:
        raise mujoco().FatalError("out of memory")

    with monkeypatch.context() as patch:
        patch.setattr("engine.scene.mujoco_picture._view", fail)
        with pytest.raises(mujoco().FatalError, match="out of memory"):
            painting.paint(snapshot, 40, 30, BLACK, platform)
    assert painting.paint(snapshot, 40, 30, BLACK, platform).shape == (30, 40, 3)


def test_a_thread_that_nobody_needs_ends_and_another_one_begins_with_the_next_picture(platform: GlPlatform) -> None:
    painting = PaintingThread(0.05)
    snapshot = Scene().snapshot()
    for _ in range(2):
        painting.paint(snapshot, 40, 30, BLACK, platform)
        deadline = time.monotonic() + BOUND_SECONDS
        while painting.runs:
            assert time.monotonic() < deadline
            time.sleep(0.01)
