"""Errors of a unit's code as its author wants to see them, without the frames of whoever called it.

An error of a unit is itself code of the unit: its text, its cause and its notes may raise in turn. Whatever describes
one does it here, where that ends in a poorer description and never in another error.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, cast

MAX_WORDS_CHARACTERS = 4_000
"""Of what an error says in a sentence; the traceback has it whole."""

_OURS = str(Path(__file__).parent)
_OTHERS = ("importlib", "/trio/", "/outcome/", "\\trio\\", "\\outcome\\", "/threading.py", "\\threading.py")


def own_traceback(error: BaseException, also: Collection[str] = ()) -> str:
    """The traceback of the error, less the frames of the loader, the runner and the event loop, and of files `also`.

    Never raises. Of a group, the errors in it follow.
    """

    def described() -> str:
        kept = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_ours(frame.filename, also)]
        head = ["Traceback (most recent call last):\n", *traceback.format_list(kept)] if kept else []
        return "".join([*head, *traceback.format_exception_only(error)]).rstrip("\n")

    whole = _guarded(described, lambda: in_one_line(error))
    return "\n".join([whole, *(own_traceback(each, also) for each in errors_in(error))])


def in_one_line(error: BaseException) -> str:
    """The error with the last place in a file, for a sentence. Never raises."""

    def described() -> str:
        if isinstance(error, SyntaxError) and error.filename:
            return f"{kind_of(error)}: {error.msg} ({Path(error.filename).name}, line {error.lineno})"
        frames = traceback.extract_tb(error.__traceback__)
        where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
        words = words_of(error)
        return f"{kind_of(error)}{': ' if words else ''}{words}{where}"

    return _guarded(described, lambda: f"{kind_of(error)}: {words_of(error)}")


def errors_in(error: BaseException) -> tuple[BaseException, ...]:
    """The errors of a group; none for one that is no group."""
    if not isinstance(error, BaseExceptionGroup):
        return ()
    # As the group has them, whatever its class says.
    return cast("Any", BaseExceptionGroup).exceptions.__get__(error)


def words_of(error: BaseException) -> str:
    """What the error says, cut where it is very long. Never raises: a text that cannot be had is said to be none."""
    # A text of a class of the unit's own would be code of the unit, too.
    text = _guarded(lambda: str.__str__(str(error)), lambda: f"<the text of this {kind_of(error)} cannot be had>")
    left_out = len(text) - MAX_WORDS_CHARACTERS
    return text if left_out <= 0 else f"{text[:MAX_WORDS_CHARACTERS]} [... {left_out} characters left out]"


def kind_of(error: BaseException) -> str:
    """The name of the error's class. Never raises."""
    return _guarded(lambda: str.__str__(type(error).__name__), lambda: "error")


def _guarded(describe: Callable[[], str], otherwise: Callable[[], str]) -> str:
    try:
        return describe()
    except BaseException:  # noqa: BLE001 - the boundary to what an error of a unit says of itself
        return otherwise()


def _is_ours(path: str, also: Collection[str]) -> bool:
    return path.startswith(_OURS) or path in also or any(part in path for part in _OTHERS)
