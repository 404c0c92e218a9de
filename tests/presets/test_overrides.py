"""Overrides: what the user said, as a value. Auto is the absence of one, which is our choice."""

from __future__ import annotations

from typing import Any

import pytest

from presets.definition import OverrideState
from presets.overrides import NO_OVERRIDES, InvalidOverrideError, Overrides, UnknownOverrideError

KNOWN = ("alpha", "beta")


def test_a_state_is_stored_by_name():
    said = NO_OVERRIDES.with_state("beta", "on", KNOWN).with_state("alpha", OverrideState.OFF, KNOWN)
    assert said.to_json() == {"alpha": "off", "beta": "on"}
    assert said.state_of("beta") is OverrideState.ON
    assert said.state_of("gamma") is OverrideState.AUTO


def test_storing_auto_where_nothing_was_said_changes_nothing():
    assert NO_OVERRIDES.with_state("alpha", "auto", KNOWN) is NO_OVERRIDES


def test_saying_the_same_again_changes_nothing():
    said = NO_OVERRIDES.with_state("alpha", "on", KNOWN)
    assert said.with_state("alpha", "on", KNOWN) is said


def test_auto_takes_an_override_away():
    said = NO_OVERRIDES.with_state("alpha", "on", KNOWN)
    assert said.with_state("alpha", "auto", KNOWN) == NO_OVERRIDES
    assert len(said) == 1


@pytest.mark.parametrize("state", ["on", "off", "auto"])
def test_a_preset_that_does_not_exist_is_refused_naming_it(state: str):
    with pytest.raises(UnknownOverrideError, match=r"'alpah'.*Did you mean 'alpha'\?"):
        NO_OVERRIDES.with_state("alpah", state, KNOWN)


@pytest.mark.parametrize("state", ["", "ON", "enabled", None, 1, ["on"]])
def test_a_state_that_does_not_exist_is_refused_naming_the_states(state: Any):
    with pytest.raises(InvalidOverrideError, match=r"'alpha'.*on, off, auto"):
        NO_OVERRIDES.with_state("alpha", state, KNOWN)
    with pytest.raises(InvalidOverrideError):
        Overrides({"alpha": state})


def test_an_override_outlives_its_preset_and_is_listed_as_orphaned():
    said = NO_OVERRIDES.with_state("alpha", "off", KNOWN).with_state("beta", "on", KNOWN)
    assert said.orphaned(("beta",)).to_json() == {"alpha": "off"}
    assert said.orphaned(KNOWN) == NO_OVERRIDES


def test_an_orphaned_override_can_be_cleared_but_not_changed():
    said = NO_OVERRIDES.with_state("alpha", "off", KNOWN)
    assert said.with_state("alpha", "auto", ("beta",)) == NO_OVERRIDES
    with pytest.raises(UnknownOverrideError):
        said.with_state("alpha", "on", ("beta",))


def test_resetting_gives_every_preset_back_to_auto():
    said = Overrides({"alpha": "on", "beta": "off"})
    assert said.cleared() == NO_OVERRIDES
    assert NO_OVERRIDES.cleared() is NO_OVERRIDES


def test_equal_overrides_are_equal_in_whatever_order_they_were_said():
    first, second = Overrides({"a": "on", "b": "off"}), Overrides({"b": "off", "c": "auto", "a": "on"})
    assert first == second
    assert hash(first) == hash(second)
    assert list(second) == ["a", "b"]


def test_a_later_change_of_what_they_were_made_from_does_not_reach_in():
    states = {"a": "on"}
    said = Overrides(states)
    states["a"] = "off"
    assert said["a"] is OverrideState.ON
