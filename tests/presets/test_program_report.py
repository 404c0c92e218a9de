"""What a model reads after a program: everything where that is short, a whole preview where it is not."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from presets.json_preview import json_preview
from presets.program_report import CallNote, Failure, ProgramRun, report_of

ID = "p-7"

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=300),
    lambda inner: st.lists(inner, max_size=40) | st.dictionaries(st.text(max_size=20), inner, max_size=30),
    max_leaves=120,
)


@pytest.mark.parametrize(
    ("run", "text"),
    [
        (ProgramRun(has_result=True, result="plain text"), "plain text"),
        (ProgramRun(has_result=True, result={"a": [1, None]}), '{"a": [1, null]}'),
        (ProgramRun(has_result=True, result=None), "null"),
        (ProgramRun(logs=("one", "two"), has_result=True, result=3), "one\ntwo\n3"),
        (ProgramRun(), "The program returned nothing and printed nothing; use `return` to see a value."),
        (ProgramRun(logs=("only this",)), "only this"),
        (ProgramRun(has_result=True, result=""), ""),
    ],
)
def test_output_comes_first_and_then_the_result(run: ProgramRun, text: str) -> None:
    assert report_of(run, ID).text == text


def test_a_failure_says_where_what_had_happened_and_what_was_printed() -> None:
    run = ProgramRun(
        logs=("hello",),
        failure=Failure("exception", "TypeError: no bar", 2, 17, "const b = a.foo.bar"),
        calls=(CallNote("space_add"), CallNote("space_drop", "no such thing"), CallNote("space_wait", finished=False)),
        unawaited=1,
    )
    assert report_of(run, ID).text.splitlines() == [
        "exception in line 2, column 17: TypeError: no bar",
        "  2 | const b = a.foo.bar",
        "Calls that already happened, and are not taken back: space_add (ok), space_drop (failed), "
        "space_wait (cut off). Calls not awaited: 1.",
        "Output before the failure:",
        "hello",
        f"[Kept as program {ID}.]",
    ]


@pytest.mark.parametrize("column", [1, 3, 5_000, 9_999, 10_000, None])
def test_of_a_long_line_the_part_around_the_column_is_shown(column: int | None) -> None:
    line = "".join(f"{number:05d}" for number in range(2_000))
    text = report_of(ProgramRun(failure=Failure("exception", "Error: no", 4, column, line)), ID).text
    shown = text.splitlines()[1].removeprefix("  4 | ")
    assert len(shown) <= 202
    start = (column or 1) - 1
    assert line[start : start + 1] in shown
    assert line[max(start - 4, 0) : start + 4] in shown
    assert shown.startswith("…") is (start > 200)
    assert shown.endswith("…") is (start < 9_800)


def test_a_line_that_is_short_enough_is_shown_whole() -> None:
    line = "x" * 200
    assert line in report_of(ProgramRun(failure=Failure("exception", "Error: no", 1, 150, line)), ID).text


def test_a_message_without_end_is_cut_and_says_how_much_is_missing() -> None:
    text = report_of(ProgramRun(failure=Failure("refused", "m" * 20_000)), ID).text
    assert len(text) < 9_000
    assert "… (12000 more characters)" in text


def test_a_failure_without_calls_says_that_nothing_was_called() -> None:
    assert "No tool had been called." in report_of(ProgramRun(failure=Failure("timeout", "too slow")), ID).text


def test_calls_that_nobody_awaited_are_told_of_after_a_success() -> None:
    assert "await every call" in report_of(ProgramRun(has_result=True, result=1, unawaited=2), ID).text


@pytest.mark.parametrize("log_lines", [0, 10, 5_000])
@pytest.mark.parametrize("result", [None, "x" * 100_000, list(range(50_000)), {"rows": [{"text": "y" * 500}] * 900}])
def test_a_long_run_stays_below_the_cap_and_says_where_the_rest_is(log_lines: int, result: object) -> None:
    run = ProgramRun(logs=("0123456789",) * log_lines, has_result=True, result=result)
    report = report_of(run, ID, 2_000)
    assert len(report.text) < 2_300
    if report.shortened:
        assert ID in report.text
        assert "2000 characters" in report.text


def test_a_short_output_beside_a_long_result_is_whole() -> None:
    run = ProgramRun(logs=("the answer follows",), has_result=True, result=list(range(10_000)))
    assert report_of(run, ID, 1_000).text.startswith("the answer follows\n[\n")


@given(json_values, st.integers(300, 3_000))
def test_a_preview_is_json_whatever_it_was_made_of(value: object, characters: int) -> None:
    text = json_preview(value, characters)
    json.loads(text)
    assert len(text) <= characters


def test_a_preview_counts_what_it_leaves_out() -> None:
    found = json.loads(json_preview({"rows": list(range(1_000)), "text": "z" * 5_000}, 900))
    assert found["rows"][-1].startswith("… ")
    assert found["rows"][-1].endswith(" more items")
    assert "more characters" in found["text"]


def test_a_deep_value_does_not_exhaust_the_stack() -> None:
    value: object = 1
    for _ in range(900):
        value = [value]
    assert "array of 1 items" in json_preview(value, 500)
