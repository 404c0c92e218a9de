"""Logging: structlog, to standard error, for people or for programs. Owns its configuration, once per process.

Much of what is logged was written by somebody else: the name of a client, of a tool that does not exist, a path, what
an error quotes. So every value is cut, and on its way to people made harmless: no line can be forged with it, and no
terminal driven.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from enum import StrEnum
from io import StringIO
from itertools import islice
from typing import TextIO, cast

import structlog

from protocol.visible_text import visible

VALUE_CHARACTERS = 1000
"""Of one value in a line: more than any that is written here, and little enough for a thousand lines."""

_ITEMS = 100
"""Of a list or mapping in a line: more than the messages of a batch."""

_DEEPEST = 12
"""Levels of such values that are looked into: those of a group of failed tasks among them."""

_TRACEBACK_CHARACTERS = 64 * 1024
"""Of a traceback: what its error quotes stands at its end, so the middle is left out."""


class LogFormat(StrEnum):
    """How log lines look."""

    CONSOLE = "console"
    JSON = "json"


class LogLevel(StrEnum):
    """The least important lines that are written."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


def configure_logs(log_format: LogFormat, level: LogLevel) -> None:
    """Send every log line of this process to standard error. Standard output stays free for what programs read."""
    renderer: structlog.typing.Processor
    if log_format is LogFormat.JSON:
        renderer = structlog.processors.JSONRenderer()
    else:
        renderer = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=_write_traceback)
    processors: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        _add_logger_name,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    if log_format is LogFormat.JSON:
        processors.extend((structlog.processors.ExceptionRenderer(_TRACEBACKS), _shorten))
    else:
        processors.extend((_shorten, _make_harmless))
    structlog.configure(
        processors=[*processors, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.value.upper())),
        logger_factory=_NamedLoggerFactory(),
        cache_logger_on_first_use=True,
    )


_TRACEBACKS = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
"""Without the values of variables, which both renderers would show: tokens and what users wrote are among them."""


def _shorten(logger: object, method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    return {key: value if key == _EXC_INFO else _short(value, _DEEPEST) for key, value in event.items()}


def _short(value: object, levels: int) -> object:
    match value:
        case str():
            return value if len(value) <= VALUE_CHARACTERS else f"{value[:VALUE_CHARACTERS]}… ({len(value)} characters)"
        case None | bool() | int() | float():
            return value
        case Mapping() if levels:
            members = cast("Mapping[object, object]", value)
            return {_short(str(key), 0): _short(member, levels - 1) for key, member in islice(members.items(), _ITEMS)}
        case list() | tuple() if levels:
            return [_short(item, levels - 1) for item in islice(cast("list[object]", value), _ITEMS)]
        case _:
            return _short(str(value), 0)


def _make_harmless(logger: object, method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    return {key: value if key == _EXC_INFO else _harmless(value) for key, value in event.items()}


def _harmless(value: object) -> object:
    if value is None or isinstance(value, bool | int | float):
        return value
    return visible(value if isinstance(value, str) else repr(value))


def _write_traceback(out: TextIO, exc_info: structlog.typing.ExcInfo) -> None:
    written = StringIO()
    structlog.dev.plain_traceback(written, exc_info)
    text = written.getvalue()
    if len(text) > _TRACEBACK_CHARACTERS:
        half = _TRACEBACK_CHARACTERS // 2
        text = f"{text[:half]}\n… ({len(text)} characters)\n{text[-half:]}"
    out.write(visible(text, keep="\n"))


_EXC_INFO = "exc_info"


class _NamedLogger(structlog.PrintLogger):
    """A logger that remembers the name it was asked for by."""

    def __init__(self, name: str) -> None:
        super().__init__(sys.stderr)
        self.name = name

    def msg(self, message: str) -> None:
        """Write one line. One that nobody can read any more is lost: it must not end what it speaks of."""
        try:
            super().msg(message)
        except (OSError, ValueError):
            return

    debug = info = warning = error = critical = msg


class _NamedLoggerFactory:
    def __call__(self, *args: object) -> _NamedLogger:
        return _NamedLogger(str(args[0]) if args else "space")


def _add_logger_name(logger: object, method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    event["logger"] = getattr(logger, "name", "space")
    return event
