"""Logging: structlog, to standard error, for people or for programs. Owns its configuration, once per process."""

from __future__ import annotations

import logging
import sys
from enum import StrEnum

import structlog


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
        plain = structlog.dev.plain_traceback
        renderer = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=plain)
    processors: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        _add_logger_name,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    if log_format is LogFormat.JSON:
        processors.append(structlog.processors.ExceptionRenderer(_TRACEBACKS))
    structlog.configure(
        processors=[*processors, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.value.upper())),
        logger_factory=_NamedLoggerFactory(),
        cache_logger_on_first_use=True,
    )


_TRACEBACKS = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
"""Without the values of variables, which both renderers would show: tokens and what users wrote are among them."""


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
