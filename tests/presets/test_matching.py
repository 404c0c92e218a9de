"""Context patterns: which contexts they fit. The rules stand in the document under "Context Matching"."""

from __future__ import annotations

from typing import Any

import pytest

from presets.context import ContextSnapshot, FactValue
from presets.matching import ContextPattern

DRAWING: dict[str, FactValue] = {"surface": "canvas", "activity": "drawing", "canvas_visible": True}
IDLE: dict[str, FactValue] = {"surface": "canvas", "canvas_visible": True}


@pytest.mark.parametrize(
    ("pattern", "facts", "fits"),
    [
        ({"surface": "canvas", "activity": "drawing"}, DRAWING, True),
        ({"surface": "canvas", "activity": "graph"}, DRAWING, False),
        ({"surface": "scene"}, DRAWING, False),
        ({"surface": "canvas"}, DRAWING, True),
        ({"surface": "canvas"}, IDLE, True),
        ({"surface": "any"}, DRAWING, True),
        ({"activity": "any"}, DRAWING, True),
        ({"activity": "any"}, IDLE, True),
        ({"activity": "none"}, DRAWING, False),
        ({"activity": "none"}, IDLE, True),
        ({"selection_kind": "none", "surface": "canvas"}, IDLE, True),
        ({"selection_kind": "drawing-object"}, IDLE, False),
        ({}, IDLE, True),
    ],
)
def test_a_pattern_fits_where_all_its_fields_do(pattern: dict[str, FactValue], facts: dict[str, FactValue], fits: bool):
    assert ContextPattern(pattern).matches(facts) is fits


@pytest.mark.parametrize(
    ("wanted", "fact", "fits"),
    [
        (True, True, True),
        (True, 1, False),
        (1, True, False),
        (0, False, False),
        (False, 0.0, False),
        (1, 1.0, True),
        (1, "1", False),
        ("true", True, False),
    ],
)
def test_true_is_not_one_and_text_is_no_number(wanted: FactValue, fact: FactValue, fits: bool):
    assert ContextPattern({"fact": wanted}).matches({"fact": fact}) is fits


def test_a_surface_that_is_called_any_fits_only_wildcards():
    facts = ContextSnapshot(surface="any", canvas_visible=True).facts()
    assert ContextPattern({"surface": "any"}).matches(facts)
    assert not ContextPattern({"surface": "canvas"}).matches(facts)


def test_a_fact_that_says_none_is_present():
    assert not ContextPattern({"selection_kind": "none"}).matches({"selection_kind": "none"})


def test_a_pattern_reads_like_a_mapping_and_cannot_be_changed():
    pattern: Any = ContextPattern({"surface": "canvas", "zoom": 2})
    assert dict(pattern) == {"surface": "canvas", "zoom": 2}
    assert len(pattern) == 2
    assert "activity" not in pattern
    with pytest.raises(TypeError):
        pattern["surface"] = "scene"


def test_the_order_of_fields_makes_no_difference():
    first = ContextPattern({"surface": "canvas", "activity": "drawing"})
    second = ContextPattern({"activity": "drawing", "surface": "canvas"})
    assert first == second
    assert hash(first) == hash(second)
    assert first.key == second.key


def test_a_pattern_says_itself_in_words():
    assert (
        ContextPattern({"surface": "canvas", "canvas_visible": True}).words()
        == "surface=canvas and canvas_visible=true"
    )
    assert ContextPattern({"surface": "any"}).words() == "any context"
