"""Reads what a runner sends. Owns the form of the frames; takes nothing for granted, since the sender may be hostile.

Every frame is rebuilt from its parts: a field is of its type and within its bounds, or the frame is an error, after
which a runner is not worth talking to. What a frame asks for is judged elsewhere; a `Done` grants nothing.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, cast

from sandbox.limits import FRAME_LIMIT_BYTES, LEASE_LIMIT_BYTES, MOST_VALUES
from sandbox.namespace import JsonValue

MESSAGE_LIMIT_CHARS = 5_000
"""Of a failure. The runner cuts at 4,000."""

NAME_LIMIT_CHARS = 200
MOST_STACK_FRAMES = 10
MOST_WALLS = 64

_MOST_COMMAS = MOST_VALUES + 100
"""Between the values of a frame; the fields of the frame itself are some of them."""

_MOST_NUMBER = 2**53
_LEVELS = frozenset({"log", "info", "warn", "error", "debug"})
_TEXT = re.compile(rb'"(?:[^"\\]++|\\.)*+"')
_SURROGATE = re.compile("[\ud800-\udfff]")
_KINDS = frozenset({"exception", "invalid-output", "output-limit"})


class FrameError(Exception):
    """The runner broke the protocol. The message says how."""


class OutputLimitError(Exception):
    """The runner sent more than it may. The message names the limit."""


@dataclass(frozen=True, slots=True)
class Walls:
    """What the launcher could build, before there was a runner."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ready:
    """The runner waits for a program."""

    deno: str


@dataclass(frozen=True, slots=True)
class Call:
    """The program calls a host function."""

    run: int
    id: int
    namespace: str
    name: str
    argument: JsonValue


@dataclass(frozen=True, slots=True)
class Log:
    """The program logs. `full`: this is cut, and no more comes."""

    run: int
    level: str
    text: str
    full: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The program has ended. `kind` is empty where it went well."""

    run: int
    kind: str
    has_value: bool
    value: JsonValue
    name: str
    message: str
    line: int | None
    column: int | None
    frames: tuple[str, ...]
    unawaited: int


Frame = Walls | Ready | Call | Log | Done


class FrameReader:
    """Cuts what comes from one runner into frames, under the limits of a lease."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._received = 0

    def feed(self, data: bytes) -> Sequence[bytes]:
        """The lines that are now complete. Raises `OutputLimitError` for one that is too long, or too much in all."""
        self._received += len(data)
        if self._received > LEASE_LIMIT_BYTES:
            raise OutputLimitError(f"the program sent more than {LEASE_LIMIT_BYTES:,} bytes in all")
        *lines, rest = data.split(b"\n")
        if lines:
            lines[0] = bytes(self._rest) + lines[0]
            self._rest.clear()
        self._rest += rest
        if len(self._rest) > FRAME_LIMIT_BYTES or any(len(line) > FRAME_LIMIT_BYTES for line in lines):
            raise OutputLimitError(f"the program sent more than {FRAME_LIMIT_BYTES:,} bytes at once")
        return lines


def parse_frame(line: bytes) -> Frame:
    """One line as a frame. Raises `FrameError`, whatever the line holds."""
    fields = _Fields(_parsed(line))
    match fields.text("t", NAME_LIMIT_CHARS):
        case "call":
            return Call(
                fields.number("run"),
                fields.number("id"),
                fields.text("ns", NAME_LIMIT_CHARS),
                fields.text("name", FRAME_LIMIT_BYTES),
                fields.json("args"),
            )
        case "log":
            level = fields.text("level", NAME_LIMIT_CHARS)
            if level not in _LEVELS:
                raise FrameError("a log line has a level that the console does not have")
            return Log(fields.number("run"), level, fields.text("s", FRAME_LIMIT_BYTES), fields.flag("full"))
        case "done":
            return _done(fields)
        case "ready":
            return Ready(fields.text("deno", NAME_LIMIT_CHARS))
        case "walls":
            return Walls(fields.texts("walls", MOST_WALLS))
        case _:
            raise FrameError("a frame is of no known type")


def _done(fields: _Fields) -> Done:
    went_well = fields.flag("ok")
    kind = "" if went_well else fields.text("kind", NAME_LIMIT_CHARS)
    if not went_well and kind not in _KINDS:
        raise FrameError("a failure is of no known kind")
    threw = kind == "exception"
    return Done(
        run=fields.number("run"),
        kind=kind,
        has_value=went_well and "value" in fields,
        value=fields.json("value") if went_well and "value" in fields else None,
        name=fields.text("name", NAME_LIMIT_CHARS) if threw else "",
        message="" if went_well else fields.text("message", MESSAGE_LIMIT_CHARS),
        line=fields.number_or_none("line") if threw else None,
        column=fields.number_or_none("column") if threw else None,
        frames=fields.texts("frames", MOST_STACK_FRAMES) if threw else (),
        unawaited=fields.number("unawaited"),
    )


class _Fields:
    """A parsed object whose members are asked for by type."""

    def __init__(self, members: Mapping[str, Any]) -> None:
        self._members = members

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def text(self, name: str, most: int) -> str:
        value = self._members.get(name)
        if not isinstance(value, str) or len(value) > most:
            raise FrameError(f"the field {name} is no text of at most {most:,} characters")
        return value

    def texts(self, name: str, most: int) -> tuple[str, ...]:
        value = self._members.get(name)
        if not isinstance(value, list):
            raise FrameError(f"the field {name} is no list")
        items = cast("list[object]", value)[:most]
        return tuple(item[:NAME_LIMIT_CHARS] for item in items if isinstance(item, str))

    def number(self, name: str) -> int:
        value = self._members.get(name)
        if type(value) is not int or not 0 <= value <= _MOST_NUMBER:  # a bool is an int as well
            raise FrameError(f"the field {name} is no whole number")
        return value

    def number_or_none(self, name: str) -> int | None:
        return None if self._members.get(name) is None else self.number(name)

    def flag(self, name: str) -> bool:
        value = self._members.get(name)
        if not isinstance(value, bool):
            raise FrameError(f"the field {name} is neither true nor false")
        return value

    def json(self, name: str) -> JsonValue:
        if name not in self._members:
            raise FrameError(f"the field {name} is missing")
        return self._members[name]


def _parsed(line: bytes) -> Mapping[str, Any]:
    if line.count(b",") > _MOST_COMMAS and _TEXT.sub(b"", line).count(b",") > _MOST_COMMAS:
        raise FrameError(f"a frame has more than {MOST_VALUES:,} values")
    try:
        text = line.decode()
        value = json.loads(text, parse_constant=_no_constant, parse_float=_finite)
        # Half a surrogate pair passes through JSON as an escape, and would make a later encoding fail.
        if "\\u" in text:
            value = _without_lone_surrogates(value)
    except (ValueError, RecursionError) as error:
        raise FrameError(f"a frame is no JSON that can be read ({type(error).__name__})") from None
    if not isinstance(value, dict):
        raise FrameError("a frame is no object")
    return cast("Mapping[str, Any]", value)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError("a number is too large")
    return value


def _without_lone_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_without_lone_surrogates(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return {_without_lone_surrogates(key): _without_lone_surrogates(item) for key, item in members.items()}
    return value
