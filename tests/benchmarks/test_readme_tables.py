"""The README's measured tables are put between their marks, and nothing else of it is touched."""

from __future__ import annotations

import pytest

from benchmarks.readme_tables import README, with_table

TEXT = "Before.\n<!-- measured: a -->\nold\n<!-- end -->\nBetween.\n<!-- measured: b -->\nkept\n<!-- end -->\nAfter.\n"


def test_a_table_takes_the_place_of_the_old_one_and_leaves_the_rest():
    assert with_table(TEXT, "a", "| new |") == TEXT.replace("old", "| new |")


def test_a_text_without_the_marks_is_refused_by_their_name():
    with pytest.raises(ValueError, match="measured: c"):
        with_table(TEXT, "c", "| new |")


def test_the_readme_has_both_tables():
    text = README.read_text(encoding="utf-8")
    for name in ("tasks", "prompts"):
        assert with_table(text, name, "") != text
