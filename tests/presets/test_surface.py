"""Surface, canvas and activity belong together."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from presets.context import FactValue
from presets.surface import coherent

Facts = Mapping[str, FactValue | None]


@pytest.mark.parametrize(
    ("changes", "all_changes"),
    [
        ({"surface": "canvas"}, {"surface": "canvas", "canvas_visible": True}),
        ({"surface": "scene"}, {"surface": "scene", "canvas_visible": False}),
        ({"canvas_visible": True}, {"surface": "canvas", "canvas_visible": True}),
        ({"canvas_visible": False}, {"surface": "scene", "canvas_visible": False}),
        ({"activity": "graph"}, {"activity": "graph", "surface": "canvas", "canvas_visible": True}),
    ],
)
def test_what_is_changed_takes_the_rest_along(changes: Facts, all_changes: Facts) -> None:
    assert coherent(changes) == all_changes


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"activity": None},
        {"surface": "board"},
        {"selection_kind": "drawing-object", "world_id": "world-2"},
        {"surface": "scene", "canvas_visible": True},
        {"surface": "canvas", "canvas_visible": False, "activity": "drawing"},
    ],
)
def test_nothing_follows_from_what_stands_for_itself(changes: Facts) -> None:
    assert coherent(changes) == changes


@pytest.mark.parametrize(
    ("changes", "all_changes"),
    [
        (
            {"canvas_visible": False, "activity": "drawing"},
            {"surface": "scene", "canvas_visible": False, "activity": "drawing"},
        ),
        (
            {"surface": "scene", "activity": "drawing"},
            {"surface": "scene", "canvas_visible": False, "activity": "drawing"},
        ),
        ({"surface": "board", "activity": "drawing"}, {"surface": "board", "activity": "drawing"}),
    ],
)
def test_the_surface_speaks_before_the_canvas_and_that_before_the_activity(changes: Facts, all_changes: Facts) -> None:
    assert coherent(changes) == all_changes


def test_the_activity_outlives_a_visit_to_the_scene() -> None:
    assert "activity" not in coherent({"surface": "scene"})
    assert "activity" not in coherent({"canvas_visible": False})


def test_other_changes_pass_through() -> None:
    assert coherent({"surface": "scene", "zoom": 2.0}) == {"surface": "scene", "canvas_visible": False, "zoom": 2.0}
