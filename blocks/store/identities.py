"""The ids of stories, branches and fragments. Owns which are fine and how new ones are made.

An id is a part of a path, so each of these patterns is also a promise: what fits cannot leave its folder, and is the
same on file systems that do not tell `A` from `a`.
"""

from __future__ import annotations

import re
import secrets
import string
from collections.abc import Callable

from blocks.fragment import is_fragment_id
from engine.errors import ConflictError, InvalidArgumentError, NotFoundError

MAIN_BRANCH = "main"
"""The branch that every story has."""

MAX_ID_CHARACTERS = 64

_ID = re.compile(r"[a-z0-9][a-z0-9-]*")

_NEW_CHARACTERS = string.ascii_lowercase + string.digits

_NEW_LENGTH = 8
"""Characters of what is random in a new id: three trillion ids."""

_ATTEMPTS = 20

_PREFIXES = {
    "prose": "pr",
    "character": "ch",
    "guideline": "gl",
    "knowledge": "kn",
    "image": "im",
    "icon": "ic",
    "marker": "mk",
    "summary": "sm",
}
"""With what the ids of fragments of each type begin; others begin with the first letters of their type."""


def is_folder_id(text: str) -> bool:
    """Whether a story or a branch can have that id."""
    return len(text) <= MAX_ID_CHARACTERS and _ID.fullmatch(text) is not None


def require_folder_id(what: str, text: str) -> str:
    """That id. Raises `NotFoundError` for one that nothing of the kind can have."""
    if not is_folder_id(text):
        raise NotFoundError(f"there is no {what} {text[:80]!r}: ids have a-z, 0-9 and dashes, such as {what + '-1'!r}")
    return text


def require_fragment_id(text: str) -> str:
    """That id. Raises `NotFoundError` for one that no fragment can have."""
    if not is_fragment_id(text):
        raise NotFoundError(f"there is no fragment {text[:80]!r}: ids look like 'ch-marazi'")
    return text


def wanted_folder_id(what: str, wanted: object) -> str:
    """The id that somebody chose for something new. Raises `InvalidArgumentError`."""
    if not isinstance(wanted, str) or not is_folder_id(wanted):
        raise InvalidArgumentError(
            f"id: {str(wanted)[:80]!r} is no id of a {what}: it has a-z, 0-9 and dashes, begins with a letter or "
            f"digit, and has at most {MAX_ID_CHARACTERS} characters"
        )
    return wanted


def new_folder_id(what: str, taken: Callable[[str], bool]) -> str:
    """A new id for a story or a branch."""
    return _free(what, taken)


def new_fragment_id(fragment_type: str, taken: Callable[[str], bool]) -> str:
    """A new id for a fragment of that type."""
    letters = "".join(letter for letter in fragment_type if letter in string.ascii_lowercase)
    return _free(_PREFIXES.get(fragment_type) or (letters[:2] if len(letters) > 1 else "fr"), taken)


def _free(prefix: str, taken: Callable[[str], bool]) -> str:
    for _ in range(_ATTEMPTS):
        made = f"{prefix}-{''.join(secrets.choice(_NEW_CHARACTERS) for _ in range(_NEW_LENGTH))}"
        if not taken(made):
            return made
    raise ConflictError(f"no free id was found in {_ATTEMPTS} attempts; try again")
