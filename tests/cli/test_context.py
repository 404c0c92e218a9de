"""`space context` reads and changes facts."""

from __future__ import annotations

from cli.failure import USAGE
from tests.cli.conftest import Space
from tests.cli.fake_engine import STATUS, FakeEngine


def test_get_shows_a_fact_a_line(space: Space) -> None:
    ran = space("context", "get")
    assert ran.code == 0
    assert ran.out.splitlines() == [
        "surface         canvas",
        "canvas_visible  yes",
        "activity        drawing",
        "world_id        world-1",
    ]


def test_get_gives_programs_the_answer_as_it_is(space: Space) -> None:
    assert space("context", "get", "--json").json == STATUS["context"]


def test_set_patches_and_shows_the_new_facts(space: Space, engine: FakeEngine) -> None:
    ran = space("context", "set", "surface=scene", "canvas_visible=false", "activity=", "zoom=2.5", 'label="5"')
    assert ran.code == 0
    assert (engine.last.method, engine.last.path) == ("PATCH", "/api/context")
    assert engine.last.body == {
        "surface": "scene",
        "canvas_visible": False,
        "activity": None,
        "zoom": 2.5,
        "label": "5",
    }
    assert "surface         scene" in ran.out
    assert "activity" not in ran.out


def test_set_without_an_assignment_is_a_usage_error(space: Space, engine: FakeEngine) -> None:
    assert space("context", "set").code == USAGE
    ran = space("context", "set", "surface:scene")
    assert ran.code == USAGE
    assert "surface=canvas" in ran.err
    assert engine.requests == []
