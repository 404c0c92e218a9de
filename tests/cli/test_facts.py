"""Facts as a person types them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.facts import parse_facts


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("true", True),
        ("false", False),
        ("null", None),
        ("", None),
        ("5", 5),
        ("-2", -2),
        ("2.5", 2.5),
        ("1e3", 1000.0),
        ("canvas", "canvas"),
        ("True", "True"),
        ("007", "007"),
        ("nan", "nan"),
        ("1e999", "1e999"),
        ("9" * 5000, "9" * 5000),
        ('"5"', "5"),
        ('"true"', "true"),
        ('""', ""),
        ('"open', '"open'),
        ('"a" b', '"a" b'),
        ("a=b", "a=b"),
        (" padded ", "padded"),
    ],
)
def test_a_value_is_read_as_it_looks(typed: str, value: object) -> None:
    facts = parse_facts([f"key={typed}"])
    assert facts == {"key": value}
    assert type(facts["key"]) is type(value)


def test_several_facts_keep_their_order() -> None:
    assert list(parse_facts(["b=1", "a=2"])) == ["b", "a"]


@pytest.mark.parametrize("typed", ["surface", "=canvas", " =x", ""])
def test_what_is_no_assignment_is_refused_with_an_example(typed: str) -> None:
    with pytest.raises(ValueError, match="surface=canvas"):
        parse_facts([typed])


def test_a_key_given_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="'a' is given twice"):
        parse_facts(["a=1", "a=2"])


@given(st.text())
def test_no_text_makes_the_reader_fail(text: str) -> None:
    assert set(parse_facts([f"key={text}"])) == {"key"}
