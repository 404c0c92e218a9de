"""Names of worlds. Owns which are fine, and how another is found where one is taken."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from engine.errors import ConflictError, InvalidArgumentError

MAX_WORLD_NAME_CHARACTERS = 100
"""A name is shown in one line of a list."""

_NUMBERED = re.compile(r"(.*\S) [1-9][0-9]{0,8}", re.DOTALL)


def check_world_name(name: str) -> None:
    """Raise `InvalidArgumentError` for a name that is empty, has space around it, cannot be shown or is too long."""
    if not name or name != name.strip():
        raise InvalidArgumentError(
            f"The world name {name!r:.120} is empty or has space around it; give a name such as 'garden'."
        )
    if len(name) > MAX_WORLD_NAME_CHARACTERS:
        raise InvalidArgumentError(
            f"The world name has {len(name)} characters; at most {MAX_WORLD_NAME_CHARACTERS} are taken."
        )
    if not name.isprintable():
        raise InvalidArgumentError(f"The world name {name!r} holds a character that cannot be shown.")


def check_free(name: str, taken: Mapping[str, str]) -> None:
    """Raise `ConflictError` when a world has that name already. `taken` are the ids of worlds by name."""
    owner = taken.get(name)
    if owner is not None:
        raise ConflictError(f"The world {owner} already has the name {name!r}; take another name.")


def free_name(wanted: str, taken: Collection[str]) -> str:
    """The wanted name, or the next with a number where it is taken: `garden`, `garden 2`, `garden 3`."""
    if wanted not in taken:
        return wanted
    numbered = _NUMBERED.fullmatch(wanted)
    stem = wanted if numbered is None else numbered.group(1)
    number = 2
    while (name := _with_number(stem, number)) in taken:
        number += 1
    return name


def _with_number(stem: str, number: int) -> str:
    suffix = f" {number}"
    return stem[: MAX_WORLD_NAME_CHARACTERS - len(suffix)].rstrip() + suffix
