"""Which names worlds may have, and how another is found where one is taken."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import ConflictError, InvalidArgumentError
from engine.world_name import MAX_WORLD_NAME_CHARACTERS, check_free, check_world_name, free_name


@pytest.mark.parametrize(
    ("wanted", "taken", "found"),
    [
        ("garden", (), "garden"),
        ("garden", ("garden",), "garden 2"),
        ("garden", ("garden", "garden 2"), "garden 3"),
        ("garden 2", ("garden 2",), "garden 3"),
        ("garden 2", ("garden", "garden 2"), "garden 3"),
        ("garden 02", ("garden 02",), "garden 02 2"),
        ("2", ("2",), "2 2"),
    ],
)
def test_a_taken_name_gets_the_next_number(wanted: str, taken: tuple[str, ...], found: str) -> None:
    assert free_name(wanted, taken) == found


@given(
    st.text("ab 12", min_size=1, max_size=MAX_WORLD_NAME_CHARACTERS).filter(lambda name: name == name.strip()),
    st.sets(st.sampled_from(["a", "a 2", "a 3", "b"])),
    st.integers(0, 12),
)
def test_a_found_name_is_free_and_fine(wanted: str, others: set[str], more: int) -> None:
    taken = set(others)
    for _ in range(more):
        taken.add(free_name(wanted, taken))
    found = free_name(wanted, taken)
    check_world_name(found)
    assert found not in taken


def test_a_name_of_full_length_makes_room_for_its_number() -> None:
    long = "x" * MAX_WORLD_NAME_CHARACTERS
    assert free_name(long, {long}) == "x" * (MAX_WORLD_NAME_CHARACTERS - 2) + " 2"


@pytest.mark.parametrize("name", ["", " a", "a ", "a\tb", "\x1b[2J", "x" * 101])
def test_a_name_that_cannot_be_shown_in_a_line_is_refused(name: str) -> None:
    with pytest.raises(InvalidArgumentError):
        check_world_name(name)


def test_a_taken_name_is_refused_naming_its_owner() -> None:
    check_free("yard", {"home": "world-1"})
    with pytest.raises(ConflictError, match="world-1"):
        check_free("home", {"home": "world-1"})
