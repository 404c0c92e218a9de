"""The settings of a story that Space knows, as far as somebody sends them. Owns what each may be.

Any other setting is kept as it is: other programs have theirs there. What a file says is not checked here, since
whoever uses a setting takes what it cannot understand for nothing said; who sends one is told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from blocks.given import unknown_members
from blocks.issue import InvalidBlockDataError, Issue, Path

GENERATION_MODES = ("standard", "prewriter")
"""With `prewriter` a planner goes before the writer."""

MOST_STEPS = 50
"""Answers of a model in one run, at most: each costs money, and a model that asks for more goes in circles."""

COMPACT_TYPES = ("proseLimit", "maxCharacters", "maxTokens")

MOST_TEMPERATURE = 2.0
"""What providers take."""

_OVERRIDE = ("providerId", "modelId", "temperature")


def check_settings(settings: Mapping[str, Any]) -> None:
    """Raise `InvalidBlockDataError` where a known setting is what it cannot be. None (take it away) is always fine."""
    issues = [
        issue
        for name, check in _CHECKS.items()
        if settings.get(name) is not None
        for issue in check(settings[name], ("settings", name))
    ]
    if issues:
        raise InvalidBlockDataError(issues)


def _mode(value: object, path: Path) -> list[Issue]:
    if value in GENERATION_MODES:
        return []
    return [Issue(path, "invalid_value", f"must be one of {', '.join(map(repr, GENERATION_MODES))}")]


def _steps(value: object, path: Path) -> list[Issue]:
    if _whole(value) and 1 <= cast("int", value) <= MOST_STEPS:
        return []
    return [Issue(path, "invalid_value", f"must be a whole number from 1 to {MOST_STEPS}")]


def _switch(value: object, path: Path) -> list[Issue]:
    return [] if isinstance(value, bool) else [Issue(path, "invalid_type", "must be true or false")]


def _compact(value: object, path: Path) -> list[Issue]:
    if not isinstance(value, Mapping):
        return [Issue(path, "invalid_type", 'must be an object such as {"type": "proseLimit", "value": 10}')]
    given = cast("Mapping[str, Any]", value)
    issues = unknown_members(given, ("type", "value"), path)
    if given.get("type") not in COMPACT_TYPES:
        message = f"must be one of {', '.join(map(repr, COMPACT_TYPES))}"
        issues.append(Issue((*path, "type"), "invalid_value", message))
    if not _whole(given.get("value")) or given["value"] < 0:
        issues.append(Issue((*path, "value"), "invalid_value", "must be a whole number, 0 or more"))
    return issues


def _overrides(value: object, path: Path) -> list[Issue]:
    if not isinstance(value, Mapping):
        return [Issue(path, "invalid_type", "must be an object of overrides by agent")]
    issues: list[Issue] = []
    for key, override in cast("Mapping[str, object]", value).items():
        where = (*path, key[:80])
        if override is None:
            continue
        if not isinstance(override, Mapping):
            issues.append(Issue(where, "invalid_type", f"must be an object of {', '.join(_OVERRIDE)}"))
            continue
        given = cast("Mapping[str, Any]", override)
        issues += unknown_members(given, _OVERRIDE, where)
        issues += [
            Issue((*where, name), "invalid_type", "must be a text or null")
            for name in ("providerId", "modelId")
            if not isinstance(given.get(name), str | None)
        ]
        temperature = given.get("temperature")
        if temperature is not None and not (_number(temperature) and 0 <= temperature <= MOST_TEMPERATURE):
            message = f"must be a number from 0 to {MOST_TEMPERATURE:g}, or null"
            issues.append(Issue((*where, "temperature"), "invalid_value", message))
    return issues


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_CHECKS: Mapping[str, Callable[[object, Path], list[Issue]]] = {
    "generationMode": _mode,
    "maxSteps": _steps,
    "modelOverrides": _overrides,
    "contextCompact": _compact,
    "enableHierarchicalSummary": _switch,
}
