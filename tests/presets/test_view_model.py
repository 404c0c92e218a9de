"""The rows that REST, command line and panel show."""

from __future__ import annotations

import json

from presets.definition import DefaultState, OverrideState, Risk
from presets.overrides import Overrides
from presets.registry import PresetRegistry
from presets.resolution import resolve
from presets.view_model import PresetView, preset_view
from tests.presets.samples import IN_DRAWING, SCENE, preset


def view(registry: PresetRegistry, overrides: Overrides) -> PresetView:
    return preset_view(registry, resolve(registry, SCENE, overrides))


def sample() -> PresetRegistry:
    return PresetRegistry(
        [
            preset("walls", group="scene", risk=Risk.DESTRUCTIVE, default_state=DefaultState.OFF),
            preset("light", "on", "off", group="scene"),
            preset("lost"),
            preset("shapes", group="drawing", contexts=[IN_DRAWING]),
        ]
    )


def test_every_preset_has_a_row_whether_it_is_active_or_not():
    rows = {row.name: row.active for row in view(sample(), Overrides()).rows}
    assert rows == {"shapes": False, "lost": True, "light": True, "walls": False}


def test_groups_and_rows_are_sorted_by_name_and_no_group_is_other():
    seen = [(group.name, [row.name for row in group.rows]) for group in view(sample(), Overrides()).groups]
    assert seen == [("drawing", ["shapes"]), ("other", ["lost"]), ("scene", ["light", "walls"])]


def test_a_row_says_what_its_preset_is_and_what_the_user_said():
    (row,) = [row for row in view(sample(), Overrides({"walls": "on"})).rows if row.name == "walls"]
    assert row.to_json() == {
        "name": "walls",
        "group": "scene",
        "risk": "destructive",
        "default_state": "off",
        "contexts": [{"surface": "any"}],
        "tool_ids": ["walls.tool"],
        "tool_count": 1,
        "resource_ids": [],
        "prompt_ids": [],
        "override_state": "on",
        "active": True,
        "active_reason": "override",
    }


def test_after_a_reset_every_row_says_auto():
    said = Overrides({"walls": "on", "light": "off"})
    assert {row.override_state for row in view(sample(), said).rows} == set(OverrideState)
    assert {row.override_state for row in view(sample(), said.cleared()).rows} == {OverrideState.AUTO}


def test_an_override_without_its_preset_is_listed_as_orphaned():
    registry = sample()
    registry.unregister("lost")
    seen = view(registry, Overrides({"lost": "off", "light": "off"}))
    assert seen.orphaned_overrides == (("lost", OverrideState.OFF),)
    assert seen.to_json()["orphaned_overrides"] == [{"preset": "lost", "state": "off"}]


def test_the_view_is_plain_json():
    seen = view(sample(), Overrides()).to_json()
    assert json.loads(json.dumps(seen)) == seen
