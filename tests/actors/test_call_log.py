"""The log of calls: what is kept of each, how many, how much, and in which order they have changed."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
import trio
from mcp_types import ImageContent, TextContent
from trio.testing import MockClock

from actors.call_log import CallLog
from actors.kept_values import CUT_CHARACTERS, WHOLE_CHARACTERS, keep_content, keep_json
from actors.logged_call import (
    BY_A_PERSON,
    PREVIEW_CHARACTERS,
    Caller,
    CallSource,
    CallState,
    LoggedCall,
    logged_of,
)
from protocol.input_request import InputRequired
from protocol.result import outcome_of_error
from protocol.tool import NotRunError, ToolOutcome

CALLER = Caller(CallSource.MCP, "standard", "session-1", "tests 1")
DONE = ToolOutcome.text("done")


def run(log: CallLog, tool: str = "space_draw", arguments: object = None, outcome: ToolOutcome = DONE) -> LoggedCall:
    """A call that has ended."""
    call = log.begin(CALLER, tool, {} if arguments is None else arguments)
    call.end(outcome)
    return call


def text_of(call: LoggedCall) -> str:
    return "".join(block.text for block in call.content.blocks if isinstance(block, TextContent))


async def test_a_call_is_seen_from_its_beginning_to_its_end(autojump_clock: MockClock) -> None:
    log = CallLog()
    call = log.begin(CALLER, "space_draw", {"x": 1}, lambda reason: None)
    row = call.row()
    assert (row["state"], row["seconds"], row["cancellable"], row["arguments_preview"]) == (
        "running",
        None,
        True,
        '{"x":1}',
    )
    assert (row["source"], row["agent"], row["session_id"], row["client"]) == (
        "mcp",
        "standard",
        "session-1",
        "tests 1",
    )
    call.report(1, 4, "a quarter")
    assert call.row()["progress"] == {"done": 1, "total": 4, "message": "a quarter"}
    await trio.sleep(2)
    call.end(DONE)
    row = call.row()
    assert (row["state"], row["seconds"], row["error"], row["cancellable"]) == ("done", 2.0, None, False)
    assert text_of(call) == "done"


async def test_what_is_said_after_the_end_changes_nothing() -> None:
    log = CallLog()
    call = run(log)
    version = call.version
    call.report(1, None, None)
    call.give_up()
    call.fail("late")
    call.end(ToolOutcome.error("late"))
    assert (call.state, call.error, call.version, call.cancel()) == (CallState.DONE, None, version, False)


async def test_a_failure_shows_its_first_line_and_a_refusal_is_told_apart() -> None:
    log = CallLog()
    failed = run(log, outcome=ToolOutcome.error("no such thing\ntry another"))
    assert (failed.state, failed.error, text_of(failed)) == (
        CallState.FAILED,
        "no such thing",
        "no such thing\ntry another",
    )
    declined = run(log, outcome=outcome_of_error("space_draw", NotRunError("declined")))
    assert (declined.state, declined.error) == (CallState.REFUSED, "declined")
    log.refused(CALLER, "space_nothing", {"a": 1}, "there is no such tool")
    (last,) = log.latest(1)
    assert (last.state, last.error, last.tool) == (CallState.REFUSED, "there is no such tool", "space_nothing")


async def test_a_call_that_has_to_ask_first_is_no_failure() -> None:
    call = run(CallLog(), outcome=ToolOutcome.ask(InputRequired({}, state=1)))
    assert (call.state, call.error) == (
        CallState.CANCELLED,
        "its client is asked first, and calls again with the answer",
    )


async def test_cancelling_says_why_and_does_so_while_it_runs() -> None:
    reasons: list[str] = []
    call = CallLog().begin(CALLER, "space_draw", {}, reasons.append)
    assert (call.cancel(), reasons, call.is_running) == (True, [BY_A_PERSON], True)
    call.give_up(reasons[0])
    assert (call.state, call.error, call.cancel()) == (CallState.CANCELLED, BY_A_PERSON, False)


async def test_the_last_calls_are_kept_and_all_that_run() -> None:
    log = CallLog(most=3)
    first = log.begin(CALLER, "space_long", {})
    ended = [run(log) for _ in range(5)]
    assert [call.id for call in log] == [first.id, ended[-2].id, ended[-1].id]
    assert (len(log), log.get(ended[0].id), log.get(first.id)) == (3, None, first)


async def test_changes_come_in_their_order_and_a_reader_goes_on_where_it_was() -> None:
    log = CallLog()
    slow = log.begin(CALLER, "space_slow", {})
    quick = [run(log) for _ in range(3)]
    seen = log.changes.version
    assert log.changed_after(seen, 10) == ()
    slow.report(1, None, None)
    run(log)
    assert [call.id for call in log.changed_after(seen, 10)] == [slow.id, 5]
    assert [call.id for call in log.latest(2)] == [slow.id, 5]
    part = log.changed_after(0, 2)
    assert [call.id for call in part] == [quick[0].id, quick[1].id]
    assert [call.id for call in log.changed_after(part[-1].version, 2)] == [quick[2].id, slow.id]


async def test_waiting_for_a_change_ends_with_the_next_one(autojump_clock: MockClock) -> None:
    log = CallLog()
    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(log.changes.wait_beyond, 0)
            await trio.sleep(1)
            log.begin(CALLER, "space_draw", {})


async def test_large_calls_give_way_but_for_a_look_at_them() -> None:
    log = CallLog(most_bytes=100_000)
    text = "x" * 40_000
    calls = [run(log, arguments={"text": text}, outcome=ToolOutcome.text("r" * 5_000)) for _ in range(4)]
    assert log.bytes_kept <= 100_000
    assert [call.arguments.is_cut for call in calls] == [True, True, False, False]
    oldest = calls[0]
    assert (len(oldest.arguments.text), oldest.content.is_cut) == (PREVIEW_CHARACTERS, True)
    assert text_of(oldest).startswith("rrr")
    assert json.loads(calls[-1].arguments.text) == {"text": text}


async def test_structured_content_is_kept_beside_the_text_and_is_cut_with_it() -> None:
    log = CallLog(most_bytes=5_000)
    large = run(log, outcome=ToolOutcome.text("many", {"many": list(range(1_000))}))
    assert large.structured is not None
    assert (json.loads(large.structured.text)["many"][-1], large.is_result_cut) == (999, False)
    run(log, outcome=ToolOutcome.text("r" * 4_000))
    assert (len(large.structured.text), large.is_result_cut) == (PREVIEW_CHARACTERS, True)


async def test_a_result_that_is_no_good_is_told_as_its_caller_was() -> None:
    call = run(CallLog(), outcome=ToolOutcome.text("fine", {"a": 1}))
    call.mar("the result is malformed")
    assert (call.state, call.error, text_of(call), call.structured) == (
        CallState.FAILED,
        "the result is malformed",
        "the result is malformed",
        None,
    )


async def test_a_large_call_that_is_forgotten_takes_no_room() -> None:
    log = CallLog(most=2)
    for _ in range(5):
        run(log, outcome=ToolOutcome.text("r" * 5_000))
    assert log.bytes_kept == 2 * (5_000 + len("{}"))


@pytest.mark.parametrize(
    "value",
    [
        {"text": "x" * (WHOLE_CHARACTERS + 1)},
        {"many": list(range(100_000))},
        {f"key{number}": number for number in range(20_000)},
    ],
)
def test_arguments_that_are_too_long_are_cut_by_their_structure(value: Any) -> None:
    kept = keep_json(value)
    assert kept.is_cut
    assert len(kept.text) <= CUT_CHARACTERS * 4
    assert json.loads(kept.text)


def test_arguments_that_are_too_deep_are_cut() -> None:
    value: Any = 1
    for _ in range(5_000):
        value = [value]
    assert keep_json(value).is_cut


def test_what_programs_can_send_is_kept_all_the_same() -> None:
    assert json.loads(keep_json({"half": "\ud800", "none": None}).text) == {"half": "\ud800", "none": None}
    assert json.loads(keep_json([math.inf, True, 1.5]).text) == [None, True, 1.5]


def test_a_result_keeps_pictures_of_usual_size_and_as_much_text_as_is_read() -> None:
    small, large = (ImageContent(type="image", data="A" * size, mime_type="image/png") for size in (1_000, 2_000_000))
    kept = keep_content((TextContent(type="text", text="look"), small, large))
    assert [block.type for block in kept.blocks] == ["text", "image", "text"]
    assert kept.is_cut
    long = keep_content((TextContent(type="text", text="x" * 200_000), small, TextContent(type="text", text="rest")))
    assert long.is_cut
    assert long.characters < WHOLE_CHARACTERS + 1_000
    only_structured = keep_content((), {"count": 3})
    assert [getattr(block, "text", None) for block in only_structured.blocks] == ['{"count":3}']


async def test_a_nested_call_belongs_to_the_program_and_to_its_client() -> None:
    log = CallLog()
    outer = log.begin(CALLER, "space_run_code", {"code": "…"})
    outer.runs_program("program-1")
    inner = outer.nested("space_draw", {"x": 1}, "program-1")
    row = inner.row()
    assert (row["source"], row["program_id"], row["session_id"], row["client"]) == (
        "program",
        "program-1",
        "session-1",
        "tests 1",
    )
    assert outer.row()["program_id"] == "program-1"


def test_a_call_without_a_record_has_none() -> None:
    assert logged_of(object()) is None


async def test_a_name_of_any_length_is_kept_in_short_and_the_reason_says_what_it_goes_on_to_say() -> None:
    log = CallLog()
    log.refused(Caller(CallSource.MCP), "x" * 3_000_000, {"y" * 3_000_000: 1}, "Not run:\nno such tool.\nMore.")
    (call,) = log.latest(1)
    assert len(call.tool) < 300
    assert call.size < 10_000
    assert call.error == "Not run: no such tool."
