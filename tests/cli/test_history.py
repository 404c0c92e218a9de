"""`space undo` and `space redo` move in the history of the active world, and say what they moved."""

from __future__ import annotations

import pytest

from cli.failure import USAGE
from tests.cli.conftest import Space
from tests.cli.fake_engine import FakeEngine, Reply

MOVED = {
    "revision": 9,
    "undone": [{"label": "insert shape"}, {"label": "add layer"}],
    "undo_count": 3,
    "redo_count": 2,
    "stopped": None,
}


def test_undo_says_each_step_and_what_is_left(space: Space, engine: FakeEngine) -> None:
    engine.replies["POST", "/api/world/undo"] = Reply.of(MOVED)
    ran = space("undo", "2")
    assert (ran.code, engine.last.body) == (0, {"steps": 2})
    assert ran.out.splitlines() == ["Undone: insert shape", "Undone: add layer", "3 to undo, 2 to redo."]


def test_redo_takes_one_step_and_says_why_it_went_no_further(space: Space, engine: FakeEngine) -> None:
    moved = {"redone": [{"label": "move"}], "undo_count": 1, "redo_count": 0, "stopped": "There is nothing to redo."}
    engine.replies["POST", "/api/world/redo"] = Reply.of(moved)
    ran = space("redo")
    assert (ran.code, engine.last.body) == (0, {"steps": 1})
    assert ran.out.splitlines() == ["Redone: move", "1 to undo, 0 to redo."]
    assert ran.err == "No further: There is nothing to redo.\n"


def test_undo_gives_programs_the_answer_as_it_is(space: Space, engine: FakeEngine) -> None:
    engine.replies["POST", "/api/world/undo"] = Reply.of(MOVED)
    assert space("undo", "--json").json == MOVED


def test_an_empty_history_is_a_refusal(space: Space, engine: FakeEngine) -> None:
    engine.replies["POST", "/api/world/undo"] = Reply.problem(409, "Not possible now", "There is nothing to undo.")
    ran = space("undo")
    assert (ran.code, ran.err) == (1, "space: There is nothing to undo.\n")


@pytest.mark.parametrize("steps", ["0", "x", "1001"])
def test_steps_that_cannot_be_are_a_usage_error(space: Space, engine: FakeEngine, steps: str) -> None:
    assert space("undo", steps).code == USAGE
    assert engine.requests == []
