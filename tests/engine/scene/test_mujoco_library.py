"""What MuJoCo has to say reaches whoever called it, and neither a file nor the console."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier

import pytest

from engine.errors import ConflictError
from engine.scene.mujoco_library import MOST_WARNINGS, mujoco, warnings_heard
from engine.scene.physics import Simulation
from engine.scene.vector import Vector
from tests.engine.scene.samples import Scene

PROJECT = Path(__file__).parents[3]

EXPLODING = """
from engine.scene.physics import Simulation
from engine.scene.records import Body
from engine.scene.vector import ORIGIN, Vector
from engine.errors import ConflictError
size = Vector(1.0, 1.0, 1.0)
body = Body(id="b", shape="box", position=ORIGIN, size=size, color="#FF0000", mass=1.0, friction=1.0,
            velocity=Vector(1e12, 0.0, 0.0))
try:
    Simulation((body,), ()).advance(10)
except ConflictError:
    print("refused")
"""


def exploding(speed: float = 1e12) -> Simulation:
    """A run that MuJoCo warns of."""
    scene = Scene()
    return Simulation((replace(scene.body(), velocity=Vector(speed, 0, 0)),), ())


def test_an_unstable_motion_is_refused_in_mujocos_words_too_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConflictError, match=r"became unstable .* MuJoCo: Nan, Inf or huge value in QVEL"):
        exploding().advance(10)
    assert os.listdir(tmp_path) == []


@pytest.mark.slow
def test_a_process_that_meets_a_warning_writes_nothing_of_its_own_and_ends_well(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", EXPLODING],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "refused\n", "")
    assert os.listdir(tmp_path) == []


def test_warnings_are_heard_in_the_thread_that_caused_them_and_in_no_other() -> None:
    together = Barrier(2)

    def listen(run: Simulation) -> list[str]:
        with warnings_heard() as heard:
            together.wait(10)
            mujoco().mj_step(run._model, run._data, nstep=10)
            together.wait(10)
        return heard

    with ThreadPoolExecutor(2) as threads:
        loud, calm = threads.map(listen, (exploding(), exploding(1.0)))
    assert ["huge value in QVEL" in warning for warning in loud] == [True]
    assert calm == []


def test_whoever_listens_meanwhile_listens_again_afterwards_and_is_not_flooded() -> None:
    library = mujoco()
    say = library.get_mju_user_warning()
    with warnings_heard() as outer:
        say("first")
        with warnings_heard() as inner:
            say("second")
        for number in range(2 * MOST_WARNINGS):
            say(f"repeated {number // 2}")
    say("nobody listens")
    assert inner == ["second"]
    assert outer == ["first", *(f"repeated {number}" for number in range(MOST_WARNINGS - 1))]
