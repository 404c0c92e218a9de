"""What a real process has acknowledged is there after `kill -9` at any moment, and no half of a change is."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter as Tally
from pathlib import Path

import pytest

from engine.engine import Engine
from engine.store import Store
from tests.engine.samples import NOW, Note, note_codec
from tests.engine.writing_child import NOTES_PER_STEP

KILLS = 12
PROJECT = Path(__file__).parents[2]


def kill_a_writer(folder: Path, after: int) -> int:
    """Let a process write, kill it once it has acknowledged that many numbers, and return the last one it did."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.engine.writing_child", str(folder)],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    said = [child.stdout.readline() for _ in range(after)]
    child.kill()
    # Whatever it has said before it died counts as well; a line that was cut off does not.
    said += child.stdout.readlines()
    child.stdout.close()
    child.wait()
    return max(int(line) for line in said if line.endswith("\n"))


def reopened(folder: Path) -> Engine:
    with Store.open(folder, now=NOW, codec=note_codec()) as store:
        state = store.load()
    assert state.reports == ()
    return Engine(state, clock=lambda: NOW, selection_kind=lambda *_: None)


def all_up_to(last: int) -> dict[int, int]:
    return dict.fromkeys(range(1, last + 1), NOTES_PER_STEP)


def numbers(engine: Engine) -> Tally[int]:
    return Tally(int(note.text.split()[0]) for note in engine.active_world.read().all(Note))


@pytest.mark.slow
def test_what_was_acknowledged_survives_kill_9_under_load(tmp_path: Path) -> None:
    moments = random.Random(20260102)
    last = 0
    for _ in range(KILLS):
        acknowledged = kill_a_writer(tmp_path, after=moments.randrange(1, 120))
        engine = reopened(tmp_path)
        found = numbers(engine)
        assert found == all_up_to(max(found)), "no half of a change, and no gap"
        while engine.active_world.redo_count:
            engine.redo()
        # The one after the last that was acknowledged may be there: its acknowledgement was then lost on the way.
        assert max(numbers(engine)) in (acknowledged, acknowledged + 1)
        assert acknowledged > last, "each process went on behind the one before"
        last = acknowledged
    engine = reopened(tmp_path)
    done = max(numbers(engine))
    while engine.active_world.undo_count:
        engine.undo()
    assert numbers(engine) == {}
    for _ in range(done):
        engine.redo()
    assert numbers(engine) == all_up_to(done)
