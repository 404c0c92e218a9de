"""Calls in flight: found by session and id, counted against the limits."""

from __future__ import annotations

from protocol.call_table import CallHandle, CallTable, TooManyCalls
from protocol.jsonrpc import RequestId
from protocol.limits import Limits


def begun(table: CallTable, session_id: str = "a", request_id: RequestId = 1) -> CallHandle:
    handle = table.begin(session_id, request_id)
    assert isinstance(handle, CallHandle)
    return handle


def test_the_number_one_and_the_text_one_are_two_calls() -> None:
    table = CallTable()
    number, text = begun(table, request_id=1), begun(table, request_id="1")
    assert table.find("a", 1) == number
    assert table.find("a", "1") == text


def test_equal_ids_of_two_sessions_are_two_calls() -> None:
    table = CallTable()
    one, other = begun(table, "a"), begun(table, "b")
    assert (table.find("a", 1), table.find("b", 1)) == (one, other)


def test_of_calls_with_one_id_the_oldest_is_found_and_each_ends_by_itself() -> None:
    table = CallTable()
    first, second = begun(table), begun(table)
    assert table.find("a", 1) == first
    table.end(first)
    assert table.find("a", 1) == second
    assert table.of_session("a") == (second,)


def test_a_call_that_ended_is_not_found_and_may_end_again() -> None:
    table = CallTable()
    handle = begun(table)
    table.end(handle)
    table.end(handle)
    assert table.find("a", 1) is None
    assert len(table) == 0
    # Sessions come and go; nothing of them may stay.
    assert table._sessions == {}


def test_a_session_beyond_its_limit_is_refused_and_others_are_not() -> None:
    table = CallTable(Limits(calls_per_session=2))
    handles = [begun(table), begun(table)]
    refused = table.begin("a", 3)
    assert refused == TooManyCalls(2, "this session")
    assert "2 calls in flight" in str(refused)
    begun(table, "b")
    table.end(handles[0])
    begun(table)


def test_all_sessions_together_are_limited_too() -> None:
    table = CallTable(Limits(calls_total=2))
    begun(table, "a")
    begun(table, "b")
    assert table.begin("c", 1) == TooManyCalls(2, "the engine")
    assert table.of_session("c") == ()


def test_calls_without_a_session_leave_room_for_everybody_else() -> None:
    table = CallTable(Limits(calls_per_principal=2, calls_total=4))
    first = table.begin("request 1", 1, "flood")
    assert isinstance(first, CallHandle)
    assert isinstance(table.begin("request 2", 1, "flood"), CallHandle)
    refused = table.begin("request 3", 1, "flood")
    assert isinstance(refused, TooManyCalls)
    assert "already has 2 calls in flight" in str(refused)
    assert isinstance(table.begin("request 4", 1, "other"), CallHandle)
    begun(table, "a")
    table.end(first)
    assert isinstance(table.begin("request 5", 1, "flood"), CallHandle)
