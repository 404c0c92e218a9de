"""What a hostile process could write, read by the host."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sandbox.frames import Call, Done, FrameError, FrameReader, Log, OutputLimitError, Ready, Walls, parse_frame
from sandbox.limits import FRAME_LIMIT_BYTES, LEASE_LIMIT_BYTES, MOST_VALUES

DONE: dict[str, Any] = {"t": "done", "run": 1, "ok": True, "value": 1, "unawaited": 0}
FAILED: dict[str, Any] = {
    "t": "done",
    "run": 1,
    "ok": False,
    "kind": "exception",
    "name": "E",
    "message": "m",
    "line": 1,
    "column": 2,
    "frames": ["a"],
    "unawaited": 0,
}
CALL: dict[str, Any] = {"t": "call", "run": 1, "id": 1, "ns": "tools", "name": "echo", "args": {}}
LOG: dict[str, Any] = {"t": "log", "run": 1, "level": "log", "s": "x", "full": False}


def encoded(frame: dict[str, Any], **changes: Any) -> bytes:
    return json.dumps({**frame, **changes}).encode()


def test_each_frame_is_rebuilt_from_its_fields() -> None:
    assert parse_frame(encoded(CALL, more=1)) == Call(1, 1, "tools", "echo", {})
    assert parse_frame(encoded(LOG)) == Log(1, "log", "x", full=False)
    assert parse_frame(b'{"t": "ready", "deno": "2"}') == Ready("2")
    assert parse_frame(b'{"t": "walls", "walls": ["a", 1]}') == Walls(("a",))
    done = parse_frame(encoded(FAILED, value="forged"))
    assert isinstance(done, Done)
    assert (done.kind, done.line, done.frames, done.has_value, done.value) == ("exception", 1, ("a",), False, None)


def test_a_result_of_null_is_not_the_same_as_none() -> None:
    null, nothing = parse_frame(encoded(DONE, value=None)), parse_frame(b'{"t":"done","run":1,"ok":true,"unawaited":0}')
    assert isinstance(null, Done)
    assert isinstance(nothing, Done)
    assert (null.has_value, nothing.has_value) == (True, False)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"null",
        b"[]",
        b'"done"',
        b"{",
        b"\xff\xfe{}",
        b'{"t": 1}',
        b'{"t": "lock"}',
        b'{"t": "__init__"}',
        b"[" * 200_000,
        b'{"t":"done","run":1,"ok":true,"unawaited":0,"value":' + b"[" * 200_000 + b"]" * 200_000 + b"}",
        b'{"t":"done","run":1,"ok":true,"unawaited":0,"value":' + b"9" * 10_000 + b"}",
        b'{"t":"done","run":1,"ok":true,"unawaited":0,"value":1e400}',
        b'{"t":"done","run":1,"ok":true,"unawaited":0,"value":NaN}',
        b'{"t":"done","run":1,"ok":true,"unawaited":0,"value":-Infinity}',
        encoded(DONE, run="1"),
        encoded(DONE, run=True),
        encoded(DONE, run=1.0),
        encoded(DONE, run=-1),
        encoded(DONE, run=2**60),
        encoded(DONE, run=None),
        encoded(DONE, ok=1),
        encoded(DONE, unawaited=None),
        encoded(FAILED, kind="timeout"),
        encoded(FAILED, kind=None),
        encoded(FAILED, message=1),
        encoded(FAILED, message="x" * 10_000),
        encoded(FAILED, name=["x"]),
        encoded(FAILED, line="1"),
        encoded(FAILED, column=1.5),
        encoded(FAILED, frames="abc"),
        encoded(CALL, id=None),
        encoded(CALL, ns=None),
        encoded(CALL, ns="x" * 1_000),
        encoded(CALL, name={}),
        b'{"t":"call","run":1,"id":1,"ns":"tools","name":"echo"}',
        encoded(LOG, level="fatal"),
        encoded(LOG, level=None),
        encoded(LOG, s=1),
        encoded(LOG, full="no"),
    ],
    ids=range(40),
)
def test_whatever_else_comes_is_an_error_and_nothing_worse(line: bytes) -> None:
    with pytest.raises(FrameError):
        parse_frame(line)


def test_halves_of_surrogate_pairs_are_replaced_wherever_they_stand() -> None:
    line = rb'{"t":"done","run":1,"ok":true,"unawaited":0,"value":["\ud800",{"\uDC00":"a\ud83d\ude00"}]}'
    done = parse_frame(line)
    assert isinstance(done, Done)
    assert done.value == ["\ufffd", {"\ufffd": "a\U0001f600"}]


def test_what_is_said_of_a_stack_is_kept_short() -> None:
    done = parse_frame(encoded(FAILED, frames=["x" * 1_000, 1, None] * 100))
    assert isinstance(done, Done)
    assert len(done.frames) < 10
    assert {len(frame) for frame in done.frames} == {200}


def test_all_walls_are_told_though_there_are_many() -> None:
    names = [f"wall {n}" for n in range(20)]
    assert parse_frame(json.dumps({"t": "walls", "walls": names}).encode()) == Walls(tuple(names))


def test_more_values_than_a_frame_may_have_are_not_read() -> None:
    assert isinstance(parse_frame(encoded(DONE, value=[0] * MOST_VALUES)), Done)
    assert isinstance(parse_frame(encoded(DONE, value='a,"\\' * MOST_VALUES)), Done)
    for value in ([0] * (2 * MOST_VALUES), [","] * (2 * MOST_VALUES), {str(n): "\\" for n in range(2 * MOST_VALUES)}):
        with pytest.raises(FrameError, match="more than 100,000 values"):
            parse_frame(encoded(DONE, value=value))


def test_lines_come_out_however_they_were_cut() -> None:
    data = b"one\ntwo\n\nthree\nfour"
    for size in range(1, len(data) + 1):
        reader, lines = FrameReader(), list[bytes]()
        for at in range(0, len(data), size):
            lines += reader.feed(data[at : at + size])
        assert lines == [b"one", b"two", b"", b"three"]


def test_a_line_without_an_end_is_given_up() -> None:
    reader = FrameReader()
    chunk = b"x" * 65_536
    for _ in range(FRAME_LIMIT_BYTES // len(chunk)):
        assert not reader.feed(chunk)
    with pytest.raises(OutputLimitError, match="4,194,304 bytes at once"):
        reader.feed(chunk)


def test_a_line_that_is_too_long_is_given_up_though_its_end_has_come() -> None:
    with pytest.raises(OutputLimitError, match="at once"):
        FrameReader().feed(b"x" * (FRAME_LIMIT_BYTES + 1) + b"\n")


def test_too_much_in_all_is_given_up() -> None:
    reader = FrameReader()
    chunk = b"x" * 65_535 + b"\n"
    for _ in range(LEASE_LIMIT_BYTES // len(chunk)):
        assert len(reader.feed(chunk)) == 1
    with pytest.raises(OutputLimitError, match="67,108,864 bytes in all"):
        reader.feed(chunk)
