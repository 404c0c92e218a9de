"""Numbers in the query of a request. Owns how one is written, and what is said of one that is not."""

from __future__ import annotations

from quart import request

from engine.errors import InvalidArgumentError

MOST_DIGITS = 15
"""Of a number in a query; every such number is exact in JSON."""


def whole_number(name: str, default: int | None, of: str = "") -> int:
    """The parameter of that name as a number from 0 on, or the default where it is left out.

    Raises `InvalidArgumentError`, also for a parameter without a default that is left out.
    """
    text = request.args.get(name)
    unit = f" of {of}" if of else ""
    if text is None:
        if default is None:
            raise InvalidArgumentError(f"the query lacks {name!r}, a whole number{unit}")
        return default
    if not text.isascii() or not text.isdigit() or len(text) > MOST_DIGITS:
        raise InvalidArgumentError(f"{name} must be a whole number{unit}, not {text[:20]!r}")
    return int(text)
