"""The context snapshot: what it requires and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from presets.context import ContextSnapshot


@pytest.mark.parametrize(
    "wrong",
    [
        {"surface": "canvas"},
        {"canvas_visible": True},
        {"surface": "", "canvas_visible": True},
        {"surface": "canvas", "canvas_visible": "yes"},
        {"surface": "canvas", "canvas_visible": True, "activity": 3},
        {"surface": "canvas", "canvas_visible": True, "activity": "any"},
        {"surface": "canvas", "canvas_visible": True, "activity": "none"},
        {"surface": "canvas", "canvas_visible": True, "mode": "drawing"},
        {"surface": "canvas", "canvas_visible": True, "zoom": float("nan")},
        {"surface": "canvas", "canvas_visible": True, "zoom": [1]},
        {"surface": "canvas", "canvas_visible": True, "note": "two\nlines"},
        {"surface": "canvas", "canvas_visible": True, "note": ""},
        {"surface": "canvas", "canvas_visible": True, "note": "x" * 201},
        {"surface": "canvas", "canvas_visible": True, "": "nameless"},
        {"surface": "canvas", "canvas_visible": True, "es\x1bcape": 1},
        {"surface": "canvas", "canvas_visible": True, **{f"fact{n}": n for n in range(63)}},
    ],
)
def test_what_is_no_context_is_refused(wrong: dict[str, Any]):
    with pytest.raises(ValidationError):
        ContextSnapshot.model_validate(wrong)


def test_an_absent_fact_is_no_fact():
    made = ContextSnapshot.model_validate({"surface": "scene", "canvas_visible": False, "zoom": None, "activity": None})
    assert made.facts() == {"surface": "scene", "canvas_visible": False}
    assert made == ContextSnapshot(surface="scene", canvas_visible=False)


def test_an_app_may_add_facts_of_its_own():
    made = ContextSnapshot.model_validate({"surface": "scene", "canvas_visible": False, "repos_available": True})
    assert made.facts()["repos_available"] is True


def test_a_patch_changes_adds_and_takes_away_facts():
    made = ContextSnapshot(surface="canvas", canvas_visible=True, activity="drawing")
    patched = made.patched({"activity": None, "surface": "scene", "zoom": 2})
    assert patched.facts() == {"surface": "scene", "canvas_visible": True, "zoom": 2}
    assert made.surface == "canvas"
