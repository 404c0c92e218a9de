"""What is said when something that serves cannot start. Owns which errors are a person's to mend, and their words."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from typing import Any, cast

from engine.errors import EngineError
from transport.ending import EXIT_CANNOT_START
from transport.listener import ListenError
from transport.probe import NoAnswerError

_CANNOT_START = (EngineError, ListenError, NoAnswerError, OSError)


def start_or_say(serve: Callable[[], int]) -> int:
    """Serve; the exit code. What keeps it from starting is printed; what nobody expected is raised on."""
    try:
        return serve()
    except _CANNOT_START as error:
        return _cannot_start(error)
    except ExceptionGroup as group:
        # Nurseries wrap what ends them. What nobody expected is raised on, with its traceback.
        errors = tuple(_leaves(group))
        if not all(isinstance(error, _CANNOT_START) for error in errors):
            raise
        return _cannot_start(*errors)


def _cannot_start(*errors: Exception) -> int:
    for error in errors:
        print(f"space: cannot start: {error}", file=sys.stderr)  # noqa: T201 - a person reads it
    return EXIT_CANNOT_START


def _leaves(group: ExceptionGroup[Any]) -> Generator[Exception]:
    for error in group.exceptions:
        if isinstance(error, ExceptionGroup):
            yield from _leaves(cast("ExceptionGroup[Any]", error))
        else:
            yield error
