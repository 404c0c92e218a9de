"""A world that was imported, deleted or recovered is whole or not there after `kill -9` at any moment."""

from __future__ import annotations

import random
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from engine.engine import Engine
from engine.store import Store
from tests.engine.library_child import deeds, the_file
from tests.engine.samples import NOW, note_codec
from tests.engine.world_files import read_notes, sorted_content

KILLS = 6
PROJECT = Path(__file__).parents[2]
TIMEOUT_SECONDS = 30


def deeds_until_killed(folder: Path, after: int) -> list[str]:
    """Let a process work, kill it once it has said that much, and return all that it has said whole."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.engine.library_child", str(folder)],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == "ready\n"
        said = [child.stdout.readline() for _ in range(after)]
    finally:
        child.kill()
    said += child.stdout.readlines()
    child.stdout.close()
    child.wait(TIMEOUT_SECONDS)
    return [line.strip() for line in said if line.endswith("\n")]


def state_after(start: dict[str, str], first: int, count: int) -> dict[str, str]:
    return {**start, **{world_id: deed for deed, world_id in islice(deeds(first), count)}}


@pytest.mark.slow
def test_what_was_acknowledged_of_whole_worlds_survives_kill_9(tmp_path: Path) -> None:
    moments = random.Random(20260103)
    content = read_notes(the_file()).content
    state, number = {"world-1": "there"}, 2
    for _ in range(KILLS):
        said = deeds_until_killed(tmp_path, moments.randrange(1, 40))
        assert said == [" ".join(deed) for deed in islice(deeds(number), len(said))]
        with Store.open(tmp_path, now=NOW, codec=note_codec()) as store:
            stored = store.load()
            deleted = {world.id: "gone" for world in store.deleted_worlds(NOW)}
        assert stored.reports == ()
        engine = Engine(stored, clock=lambda: NOW, selection_kind=lambda *_: None)
        found = {**dict.fromkeys((world.id for world in engine.worlds()), "there"), **deleted}
        # The one after the last that was acknowledged may be done: its acknowledgement was then lost on the way.
        assert found in (state_after(state, number, len(said)), state_after(state, number, len(said) + 1))
        for world in engine.worlds()[1:]:
            assert sorted_content(engine.content_of(world.id)) == content
        state, number = found, stored.next_world_number
