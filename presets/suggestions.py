"""Close names for one that does not exist, so that an error carries its remedy. Owns the search and its limits."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

MAX_SUGGESTIONS = 3
"""Names offered; more would be a list to read instead of an answer."""

MAX_COMPARED_LENGTH = 128
"""Characters. Comparing names costs the square of their length, and nobody mistypes a longer one."""

COMMON_PREFIX = "space_"
"""What the MCP names of Space's tools begin with."""

LEAST_LIKENESS = 0.65
"""From which on a name is offered, between 0 and 1, as `difflib` counts it: below come names that have little but an
ending in common."""

MAX_QUOTED_LENGTH = 80
"""Characters of a wrong name that an error repeats; enough to recognise it, too few to flood a reader."""


def close_names(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """At most `MAX_SUGGESTIONS` of the known names that look like this one, the closest first."""
    if len(name) > MAX_COMPARED_LENGTH:
        return ()
    # What every tool's name begins with would make all of them look alike.
    wanted = name.removeprefix(COMMON_PREFIX)
    by_rest = {one.removeprefix(COMMON_PREFIX): one for one in known}
    close = difflib.get_close_matches(wanted, list(by_rest), MAX_SUGGESTIONS, LEAST_LIKENESS)
    return tuple(by_rest[rest] for rest in close)


def no_such_tool(name: str, close: Iterable[str]) -> str:
    """That there is no tool of that name, and what may have been meant."""
    return f"There is no tool {quoted(name)}.{did_you_mean(close)}"


def did_you_mean(close: Iterable[str]) -> str:
    """` Did you mean 'a' or 'b'?` with a space before it, or nothing where there is nothing to offer."""
    offered = " or ".join(map(repr, close))
    return f" Did you mean {offered}?" if offered else ""


def quoted(name: str) -> str:
    """The name in quotes, cut to `MAX_QUOTED_LENGTH`."""
    return repr(name if len(name) <= MAX_QUOTED_LENGTH else f"{name[:MAX_QUOTED_LENGTH]}…")
