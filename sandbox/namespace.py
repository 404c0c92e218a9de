"""What a program is given: names with host functions and data. Owns the rules for the names; calls nothing."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

JsonValue: TypeAlias = "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"
"""What JSON can say."""

HostFunction = Callable[[JsonValue], Awaitable[JsonValue]]
"""Gets the one argument of a call, None where it was called without. See `CallFailed` for how it says no."""

_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_RESERVED = frozenset(
    """
    await break case catch class const continue debugger default delete do else enum export extends false finally for
    function if implements import in instanceof interface let new null package private protected public return static
    super switch this throw true try typeof var void while with yield arguments eval undefined NaN Infinity globalThis
    console
    """.split()  # noqa: SIM905 - as prose, one can read it
)
_ERROR_MEMBERS = frozenset({"name", "message", "stack", "cause", "__proto__", "constructor"})


class CallFailed(Exception):  # noqa: N818 - a word of the program's world, not a fault of ours
    """A host function's way to refuse: in the program it becomes the namespace's error, with this message."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True, slots=True)
class Namespace:
    """A record `name` in the program, without a prototype, whose own members are `functions`, `data` and `bodies`.

    A function is looked up in `functions` again at each call, so one that has been taken out meanwhile cannot be
    called. Data is a frozen copy. `error` names the class of what a function throws, and the member of it that holds
    the function's name; without it a plain `Error` is thrown. Each of `bodies` is the text of an async function, which
    the program gets by calling the member with the names of its parameters: compiled apart, in sloppy mode, it sees
    those and the globals only. Raises `ValueError` for a name that JavaScript does not
    take or the harness has taken.
    """

    name: str
    functions: Mapping[str, HostFunction] = field(default_factory=dict[str, HostFunction])
    data: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    error: tuple[str, str] | None = None
    bodies: Mapping[str, str] = field(default_factory=dict[str, str])
    unlisted: Collection[str] = ()
    """Functions that no enumeration shows: a program finds only those whose names it says."""

    def __post_init__(self) -> None:
        for name in (self.name, *(self.error or ())):
            if not _IDENTIFIER.fullmatch(name) or name in _RESERVED:
                raise ValueError(f"{name!r} cannot be a name in a program: an identifier that is not reserved can")
        if self.error is not None and self.error[1] in _ERROR_MEMBERS:
            raise ValueError(f"an error has a member {self.error[1]!r} of its own; name another one")
        if twice := self.functions.keys() & self.data.keys():
            raise ValueError(f"{self.name} has both a function and data named {', '.join(sorted(twice))}")
        if twice := self.bodies.keys() & (self.functions.keys() | self.data.keys()):
            raise ValueError(f"{self.name} has a body and something else named {', '.join(sorted(twice))}")


def demand_distinct(namespaces: Sequence[Namespace]) -> None:
    """Raises `ValueError` when two things of a program would have the same name."""
    names = [name for space in namespaces for name in (space.name, *(space.error or ())[:1])]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"a program cannot have two things named {', '.join(sorted(twice))}")
