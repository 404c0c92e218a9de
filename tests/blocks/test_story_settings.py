"""The settings of a story that Space knows: what is refused, and that others are let through."""

from __future__ import annotations

from typing import Any

import pytest

from actors.generation import MOST_STEPS_ASKED, STEPS_KEY
from actors.run_prompt import PLANNING, PLANNING_KEY
from blocks.issue import InvalidBlockDataError, shown_path
from blocks.story_settings import GENERATION_MODES, MOST_STEPS, check_settings


@pytest.mark.parametrize(
    ("settings", "path"),
    [
        ({"generationMode": "nonsense"}, "settings.generationMode"),
        ({"maxSteps": 0}, "settings.maxSteps"),
        ({"maxSteps": "5"}, "settings.maxSteps"),
        ({"maxSteps": True}, "settings.maxSteps"),
        ({"modelOverrides": []}, "settings.modelOverrides"),
        ({"modelOverrides": {"librarian": 5}}, "settings.modelOverrides.librarian"),
        ({"modelOverrides": {"librarian": {"model": "m"}}}, "settings.modelOverrides.librarian.model"),
        ({"modelOverrides": {"librarian": {"modelId": 5}}}, "settings.modelOverrides.librarian.modelId"),
        ({"modelOverrides": {"librarian": {"temperature": 9}}}, "settings.modelOverrides.librarian.temperature"),
        ({"contextCompact": {"type": "x", "value": 1}}, "settings.contextCompact.type"),
        ({"contextCompact": {"type": "proseLimit", "value": -1}}, "settings.contextCompact.value"),
        ({"enableHierarchicalSummary": "yes"}, "settings.enableHierarchicalSummary"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_with_its_path(settings: dict[str, Any], path: str):
    with pytest.raises(InvalidBlockDataError) as caught:
        check_settings(settings)
    assert [shown_path(issue.path) for issue in caught.value.issues] == [path]


def test_good_settings_null_and_those_of_others_are_taken():
    check_settings(
        {
            "generationMode": "prewriter",
            "maxSteps": 50,
            "modelOverrides": {"librarian.chat": {"providerId": "p", "modelId": None, "temperature": 0.5}, "x": None},
            "contextCompact": {"type": "maxTokens", "value": 0},
            "enableHierarchicalSummary": None,
            "somebody-elses": {"anything": [1]},
        }
    )


def test_the_settings_are_those_that_runs_look_at():
    assert (STEPS_KEY, MOST_STEPS_ASKED) == ("maxSteps", MOST_STEPS)
    assert PLANNING_KEY == "generationMode"
    assert PLANNING in GENERATION_MODES
