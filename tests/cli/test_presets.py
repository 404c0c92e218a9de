"""`space presets` and `space preset`."""

from __future__ import annotations

import pytest

from cli.failure import REFUSED, USAGE
from tests.cli.conftest import Space
from tests.cli.fake_engine import FakeEngine, Reply, preset_row


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({}, "yes (context)"),
        ({"active": False, "active_reason": None}, "no (context)"),
        ({"override_state": "on", "active_reason": "override"}, "yes (override)"),
        ({"override_state": "off", "active": False, "active_reason": None}, "no (override)"),
        ({"default_state": "off", "active": False, "active_reason": None}, "no (default)"),
    ],
)
def test_presets_says_which_are_active_and_what_decided_that(
    space: Space, engine: FakeEngine, members: dict[str, object], said: str
) -> None:
    row = preset_row("drawing-inspect-tools", **members)
    engine.replies["GET", "/api/presets"] = Reply.of({"presets": [row], "orphaned_overrides": []})
    lines = [" ".join(line.split()) for line in space("presets").out.splitlines()]
    assert lines == ["preset active risk tools", f"drawing-inspect-tools {said} normal 1"]


def test_overrides_of_presets_that_are_gone_are_listed(space: Space) -> None:
    ran = space("presets")
    assert ran.code == 0
    assert ["gone-tools", "on"] in [line.split() for line in ran.out.splitlines()]


def test_presets_gives_programs_the_answer_as_it_is(space: Space) -> None:
    answer = space("presets", "--json").json
    assert [row["name"] for row in answer["presets"]] == ["drawing-inspect-tools", "file-write-tools"]
    assert answer["orphaned_overrides"] == [{"preset": "gone-tools", "state": "on"}]


@pytest.mark.parametrize("state", ["on", "off", "auto"])
def test_preset_puts_the_override_and_shows_the_row(space: Space, engine: FakeEngine, state: str) -> None:
    path = "/api/presets/odd name/ü?/override"
    engine.replies["PUT", path] = Reply.of(preset_row("odd name/ü?", override_state=state))
    ran = space("preset", state, "odd name/ü?")
    assert ran.code == 0
    assert engine.last.body == {"state": state}
    assert "odd name/ü?" in ran.out


def test_an_unknown_preset_is_refused_with_the_engines_words(space: Space, engine: FakeEngine) -> None:
    engine.replies["PUT", "/api/presets/nope/override"] = Reply.problem(404, "Not found", "there is no preset 'nope'")
    ran = space("preset", "on", "nope")
    assert ran.code == REFUSED
    assert ran.err == "space: there is no preset 'nope'\n"


def test_another_state_is_a_usage_error(space: Space, engine: FakeEngine) -> None:
    ran = space("preset", "maybe", "drawing-inspect-tools")
    assert ran.code == USAGE
    assert "auto" in ran.err
    assert engine.requests == []
