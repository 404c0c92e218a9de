"""Unified diffs: strict, exact in what they say of a mismatch, all or nothing."""

from __future__ import annotations

import difflib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.units.patch import PatchError, apply_patches, parse_patch, replace_once
from tests.presets.samples import EXAMPLES

FILE = "one\ntwo\nthree\nfour\nfive\n"

PATCH = """\
--- a/unit.py
+++ b/unit.py
@@ -2,2 +2,3 @@
 two
-three
+THREE
+more
"""


def patched(text: str, files: dict[str, str], *, anywhere: bool = False) -> dict[str, str | None]:
    return apply_patches(files, parse_patch(text), anywhere=anywhere)


def test_a_hunk_changes_the_lines_that_it_names() -> None:
    assert patched(PATCH, {"unit.py": FILE}) == {"unit.py": "one\ntwo\nTHREE\nmore\nfour\nfive\n"}


def test_a_patch_in_an_envelope_is_the_same() -> None:  # 229
    text = "*** Begin Patch\n*** Update File: unit.py\n@@ -1,1 +1,1 @@\n-one\n+ONE\n*** End Patch\n"
    assert patched(text, {"unit.py": FILE}) == {"unit.py": FILE.replace("one", "ONE")}


def test_one_patch_changes_creates_and_deletes() -> None:
    text = (
        "diff --git a/x.py b/x.py\n" + PATCH + "--- /dev/null\n+++ b/sub/new.py\n@@ -0,0 +1,2 @@\n+a\n+b\n"
        "--- a/old.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n"
    )
    made = patched(text, {"unit.py": FILE, "old.py": "gone\n"})
    assert made == {"unit.py": "one\ntwo\nTHREE\nmore\nfour\nfive\n", "sub/new.py": "a\nb\n", "old.py": None}


def test_a_mismatch_says_which_hunk_which_line_and_what_stands_there() -> None:  # 309
    with pytest.raises(PatchError) as refused:
        patched(PATCH, {"unit.py": FILE.replace("three", "3")})
    said = str(refused.value)
    assert "hunk 1 of 'unit.py' (@@ -2,2 +2,3 @@)" in said
    assert "line 3 should be 'three', but there stands '3'" in said
    assert "stand nowhere else" in said


def test_a_hunk_at_another_line_is_refused_with_that_line_and_taken_only_when_asked() -> None:
    moved = "zero\n" + FILE
    with pytest.raises(PatchError, match="Its lines stand at line 3: correct the header, or set anywhere"):
        patched(PATCH, {"unit.py": moved})
    assert patched(PATCH, {"unit.py": moved}, anywhere=True) == {"unit.py": "zero\none\ntwo\nTHREE\nmore\nfour\nfive\n"}


def test_a_hunk_that_fits_at_two_places_is_never_guessed() -> None:
    twice = "x\n" + FILE + FILE
    with pytest.raises(PatchError, match="stand at lines 3, 8; keep more lines"):
        patched(PATCH, {"unit.py": twice}, anywhere=True)


def test_when_the_second_file_does_not_fit_nothing_is_given() -> None:
    text = PATCH + "--- a/other.py\n+++ b/other.py\n@@ -1 +1 @@\n-a\n+b\n"
    with pytest.raises(PatchError, match=r"hunk 1 of 'other.py'"):
        patched(text, {"unit.py": FILE, "other.py": "c\n"})


def test_the_end_of_a_file_without_a_line_break_is_told_and_kept() -> None:
    bare = "one\ntwo"
    with pytest.raises(PatchError, match="right but for its end: in the file it has no line break"):
        patched("--- a/f\n+++ b/f\n@@ -2 +2 @@\n-two\n+TWO\n", {"f": bare})
    marked = "--- a/f\n+++ b/f\n@@ -2 +2 @@\n-two\n\\ No newline at end of file\n+TWO\n\\ No newline at end of file\n"
    assert patched(marked, {"f": bare}) == {"f": "one\nTWO"}
    with pytest.raises(PatchError, match="would have no line break"):
        patched("--- a/f\n+++ b/f\n@@ -2,0 +3 @@\n+three\n", {"f": bare})


def test_line_breaks_of_the_file_stay_as_they_are() -> None:
    made = patched(PATCH, {"unit.py": FILE.replace("\n", "\r\n")})
    assert made == {"unit.py": "one\r\ntwo\r\nTHREE\r\nmore\r\nfour\r\nfive\r\n"}


def test_lines_that_look_like_headers_are_lines_where_a_hunk_counts_them() -> None:
    text = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n--- old\n+++ new\n x\n"
    assert patched(text, {"f": "-- old\nx\n"}) == {"f": "++ new\nx\n"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "changes nothing"),
        ("hello\n", "belongs to no hunk"),
        ("@@ -1 +1 @@\n-a\n+b\n", "below no file"),
        ("--- a/f\n+++ b/f\n@@ -1,2 +1 @@\n-a\n+b\n", "count them again"),
        ("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n+c\n", "count them again"),
        ("--- a/f\n+++ b/f\n@@ one @@\n", "no header of a hunk"),
        ("--- a/f\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n", "would rename"),
        ("rename from a\nrename to b\n", "is not taken"),
        ("--- /dev/null\n+++ /dev/null\n", "both names"),
        ("--- a/f\n+++ b/f\n@@ -0,1 +1 @@\n-a\n+b\n", "lines count from 1"),
    ],
)
def test_what_is_no_patch_is_refused_with_its_line(text: str, said: str) -> None:
    with pytest.raises(PatchError, match=said):
        parse_patch(text)


def test_creating_a_file_that_is_there_and_changing_one_that_is_not_are_refused() -> None:
    with pytest.raises(PatchError, match="already exists"):
        patched("--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n", {"f": "x\n"})
    with pytest.raises(PatchError, match="was not found"):
        patched(PATCH, {})


LINES = st.lists(st.sampled_from(["a", "b", "c", "", "  d", "-- e", "++ f"]), max_size=12)


@EXAMPLES
@given(LINES, LINES, st.integers(0, 3))
def test_what_difflib_says_leads_from_the_one_file_to_the_other(
    before: list[str], after: list[str], lines: int
) -> None:
    old, new = ([line + "\n" for line in each] for each in (before, after))
    text = "".join(difflib.unified_diff(old, new, "a/f", "b/f", n=lines))
    if not text:
        return
    assert patched(text, {"f": "".join(old)}) == {"f": "".join(new)}


def test_a_piece_is_replaced_only_where_it_stands_exactly_once() -> None:
    assert replace_once("f", "a b a", "b", "c") == "a c a"
    with pytest.raises(PatchError, match="old text was not found"):
        replace_once("f", "a", "x", "y")
    with pytest.raises(PatchError, match="2 times"):
        replace_once("f", "a a", "a", "y")
    with pytest.raises(PatchError, match="empty"):
        replace_once("f", "a", "", "y")


def hunks_off_by_two(count: int) -> str:
    return "--- a/unit.py\n+++ b/unit.py\n" + "".join(
        f"@@ -{at + 3},1 +{at + 3},1 @@\n-value {at}\n+other\n" for at in range(0, 2 * count, 2)
    )


@pytest.mark.slow
def test_thousands_of_hunks_that_stand_elsewhere_are_found_in_a_second() -> None:
    before = "".join(f"value {number}\n" for number in range(100_000))
    started = time.monotonic()
    made = patched(hunks_off_by_two(9999), {"unit.py": before}, anywhere=True)["unit.py"]
    assert time.monotonic() - started < 10
    assert made is not None
    assert (made.count("other\n"), made[:22]) == (9999, "other\nvalue 1\nother\nva")


@pytest.mark.parametrize("anywhere", [True, False])
def test_a_search_among_lines_that_all_look_the_same_is_given_up_with_what_to_do(anywhere: bool) -> None:
    block = "a\nb\n" * 5000
    before = "first\n" + block + "a\na\n" + block
    hunk = "@@ -1,1002 +1,1 @@\n" + "-a\n-b\n" * 500 + "-b\n-b\n+x\n"
    started = time.monotonic()
    with pytest.raises(PatchError, match="after 5000000 comparisons it was given up: correct the line numbers"):
        patched("--- a/unit.py\n+++ b/unit.py\n" + hunk, {"unit.py": before}, anywhere=anywhere)
    assert time.monotonic() - started < 5


def test_of_many_places_the_nearest_are_named() -> None:
    before = "first\n" + "same\nother\n" * 100
    with pytest.raises(PatchError, match="stand at lines 100, 102, 104, 106, 108 and at more; keep more lines"):
        patched("--- a/unit.py\n+++ b/unit.py\n@@ -103 +103 @@\n-same\n+x\n", {"unit.py": before}, anywhere=True)


def test_a_patch_of_too_many_files_is_refused_before_any_is_looked_at() -> None:
    text = "".join(f"--- /dev/null\n+++ b/f{number}.txt\n@@ -0,0 +1 @@\n+x\n" for number in range(501))
    with pytest.raises(PatchError, match="more than 500 files; make several"):
        parse_patch(text)


def test_a_piece_over_several_lines_is_found_whatever_the_line_breaks_are_and_they_stay() -> None:
    windows = "one\r\ntwo\r\nthree\r\n"
    assert replace_once("x", windows, "one\ntwo", "1\n2\nmore") == "1\r\n2\r\nmore\r\nthree\r\n"
    assert replace_once("x", windows, "one\r\ntwo", "1\r\n2") == "1\r\n2\r\nthree\r\n"
    assert replace_once("x", windows, "two", "2\nmore") == "one\r\n2\r\nmore\r\nthree\r\n"
    mixed = "one\ntwo\r\nthree\r\n"
    with pytest.raises(PatchError, match="there but for its line breaks"):
        replace_once("x", mixed, "one\ntwo\nthree", "1")
    with pytest.raises(PatchError, match="occurs 2 times"):
        replace_once("x", windows * 2, "one\ntwo", "1")
    with pytest.raises(PatchError, match="was not found; read the file again"):
        replace_once("x", windows, "one\nthree", "1")
