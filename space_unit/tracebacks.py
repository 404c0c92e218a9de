"""Errors of a unit's code as its author wants to see them, without the frames of whoever called it."""

from __future__ import annotations

import traceback
from collections.abc import Collection
from pathlib import Path

_OURS = str(Path(__file__).parent)
_OTHERS = ("importlib", "/trio/", "/outcome/", "\\trio\\", "\\outcome\\")


def own_traceback(error: BaseException, also: Collection[str] = ()) -> str:
    """The traceback of the error, less the frames of the loader, the runner and the event loop, and of files `also`."""
    kept = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_ours(frame.filename, also)]
    head = ["Traceback (most recent call last):\n", *traceback.format_list(kept)] if kept else []
    return "".join([*head, *traceback.format_exception_only(error)]).rstrip("\n")


def in_one_line(error: BaseException) -> str:
    """The error with the last place in a file, for a sentence."""
    frames = traceback.extract_tb(error.__traceback__)
    if isinstance(error, SyntaxError) and error.filename:
        where = f" ({Path(error.filename).name}, line {error.lineno})"
        return f"{type(error).__name__}: {error.msg}{where}"
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{where}"


def _is_ours(path: str, also: Collection[str]) -> bool:
    return path.startswith(_OURS) or path in also or any(part in path for part in _OTHERS)
