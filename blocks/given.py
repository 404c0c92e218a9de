"""What somebody sends of a config, before it is taken: members that are not known, and texts that nobody could read.

Owns these refusals. A file is read more kindly than a request: what it has beside is dropped, and none of it is lost by
being refused here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

from blocks.config import BlockOverride, CustomBlockDefinition
from blocks.issue import InvalidBlockDataError, Issue, Path
from blocks.json_value import JsonValue

NO_TEXT = "\0"
"""No model and no editor takes this character for a part of a text."""


def members_of(kind: type[JsonValue]) -> Sequence[str]:
    """The keys of the JSON of such a value."""
    return tuple(field.alias or name for name, field in kind.model_fields.items())


def unknown_members(given: Mapping[str, Any], known: Collection[str], path: Path = ()) -> list[Issue]:
    """An issue for each member that is not among those known."""
    there_are = f"is not known; there are {', '.join(known)}"
    return [Issue((*path, name[:80]), "invalid_value", there_are) for name in given if name not in known]


def issues_of_custom_block(given: Mapping[str, Any], path: Path = ()) -> list[Issue]:
    """What is wrong with the members that are there, beyond what the form of a definition says."""
    issues = unknown_members(given, members_of(CustomBlockDefinition), path)
    name = given.get("name")
    if isinstance(name, str) and name:
        if not name.strip():
            issues.append(Issue((*path, "name"), "too_small", "must not be blank"))
        elif not name.isprintable():
            message = "holds a character that cannot be shown in a line"
            issues.append(Issue((*path, "name"), "invalid_format", message))
    return [*issues, *_issues_of_text(given, "content", path)]


def issues_of_override(given: Mapping[str, Any], path: Path = ()) -> list[Issue]:
    """The same for an override."""
    return [
        *unknown_members(given, members_of(BlockOverride), path),
        *_issues_of_text(given, "customContent", path),
    ]


def issues_of_block_order(given: object) -> list[Issue]:
    """An issue for each id that stands there before: a block has one place."""
    if not isinstance(given, Sequence) or isinstance(given, str):
        return []
    ids = cast("Sequence[object]", given)
    seen: set[object] = set()
    issues: list[Issue] = []
    for index, one in enumerate(ids):
        if isinstance(one, str):
            if one in seen:
                issues.append(Issue(("blockOrder", index), "invalid_value", f"{one[:80]!r} stands there before"))
            seen.add(one)
    return issues


def demand_none(issues: Sequence[Issue]) -> None:
    """Raise `InvalidBlockDataError` when there is any."""
    if issues:
        raise InvalidBlockDataError(issues)


def _issues_of_text(given: Mapping[str, Any], name: str, path: Path) -> list[Issue]:
    text = given.get(name)
    if isinstance(text, str) and NO_TEXT in text:
        return [Issue((*path, name), "invalid_format", "holds a NUL character, which is no text")]
    return []
