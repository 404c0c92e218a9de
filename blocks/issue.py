"""What is wrong with a piece of JSON, and where. Owns these values and their words; `json_value` finds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from engine.errors import InvalidArgumentError

IssueCode = Literal["invalid_type", "invalid_value", "invalid_format", "too_small", "too_big"]
"""`invalid_type`: of another type, or missing. `invalid_value`: not one of the words. `invalid_format`: not of the
pattern. `too_small`, `too_big`: a length out of bounds."""

Path: TypeAlias = "tuple[str | int, ...]"
"""Keys and indexes, from the outside in; empty for the value itself."""

MAX_ISSUES_IN_TEXT = 10
"""Issues that an error's text names. `issues` holds all of them."""


@dataclass(frozen=True, slots=True)
class Issue:
    """One thing that is wrong, with what would be right."""

    path: Path
    code: IssueCode
    message: str

    def __str__(self) -> str:
        return f"{shown_path(self.path)}: {self.message}"

    def under(self, *prefix: str | int) -> Issue:
        """The same issue of a value that is a part of another."""
        return Issue((*prefix, *self.path), self.code, self.message)

    def to_json(self) -> dict[str, object]:
        """`{path, code, message}`."""
        return {"path": list(self.path), "code": self.code, "message": self.message}


class InvalidBlockDataError(InvalidArgumentError):
    """Raised for JSON that is not what it should be, as a whole: nothing was taken over from it.

    `issues` holds at least one issue, sorted by path; the text names the first `MAX_ISSUES_IN_TEXT`.
    """

    def __init__(self, issues: Sequence[Issue]) -> None:
        self.issues = tuple(sorted(issues, key=lambda issue: [str(part) for part in issue.path]))
        shown = "; ".join(map(str, self.issues[:MAX_ISSUES_IN_TEXT]))
        more = len(self.issues) - MAX_ISSUES_IN_TEXT
        super().__init__(f"{shown}; and {more} more" if more > 0 else shown)

    def under(self, *prefix: str | int) -> InvalidBlockDataError:
        """The same error about a value that is a part of another."""
        return InvalidBlockDataError([issue.under(*prefix) for issue in self.issues])


def shown_path(path: Path) -> str:
    """`customBlocks[1].id`, or `the value` for the whole."""
    shown = ""
    for part in path:
        if isinstance(part, int):
            shown += f"[{part}]"
        elif part.isidentifier() or part.replace("-", "_").isidentifier():
            shown += f".{part}" if shown else part
        else:
            shown += f"[{part[:60]!r}]"
    return shown or "the value"
