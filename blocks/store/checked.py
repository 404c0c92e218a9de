"""What somebody sends for a story, a branch or a fragment: the members that may be there, and how long texts may be.

Owns the refusals. All that is wrong is said at once, with the path of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from blocks.issue import InvalidBlockDataError, Issue, Path
from blocks.store.limits import MAX_DESCRIPTION_LENGTH, MAX_NAME_LENGTH


class Checks:
    """Issues as they are found. `done` raises them."""

    def __init__(self) -> None:
        self._issues: list[Issue] = []

    def text(self, path: Path, text: str, *, most: int, least: int = 0) -> None:
        """A text must have between so many characters; one that must have any must not be blank."""
        if len(text) > most:
            self._issues.append(Issue(path, "too_big", f"has {len(text):,} characters; at most {most:,} are taken"))
        elif len(text) < least or (least and not text.strip()):
            self._issues.append(Issue(path, "too_small", "must not be blank"))

    def name(self, text: str) -> None:
        """The member `name`."""
        self.text(("name",), text, least=1, most=MAX_NAME_LENGTH)
        if not text.isprintable():
            self._issues.append(Issue(("name",), "invalid_format", "holds a character that cannot be shown in a line"))

    def description(self, text: str) -> None:
        """The member `description`."""
        self.text(("description",), text, most=MAX_DESCRIPTION_LENGTH)

    def texts(self, name: str, texts: Sequence[str], *, most: int, longest: int) -> None:
        """A list of texts: how many, and how long each."""
        if len(texts) > most:
            self._issues.append(Issue((name,), "too_big", f"has {len(texts)} entries; at most {most} are taken"))
        for index, text in enumerate(texts[:most]):
            self.text((name, index), text, least=1, most=longest)

    def done(self) -> None:
        """Raise `InvalidBlockDataError` when anything was wrong."""
        if self._issues:
            raise InvalidBlockDataError(self._issues)


def members(raw: object, allowed: Iterable[str] | None = None) -> Mapping[str, Any]:
    """The members of what was sent; any where `allowed` is None. Raises `InvalidBlockDataError` for no object and for
    unknown members.
    """
    if not isinstance(raw, Mapping):
        raise InvalidBlockDataError([Issue((), "invalid_type", "must be an object")])
    given = cast("Mapping[str, Any]", raw)
    if allowed is None:
        return given
    known = tuple(allowed)
    unknown = [name for name in given if name not in known]
    if unknown:
        there_are = f"is not known; there are {', '.join(known)}"
        raise InvalidBlockDataError([Issue((name[:80],), "invalid_value", there_are) for name in unknown])
    return given
