"""The prompts that there are at one moment, frozen, and the registry that makes these lists.

Owns the registered definitions. Never runs a prompt, never reads a clock, never waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from protocol.jsonrpc import encode
from protocol.owned_table import OwnedTable, RegistrationError
from protocol.prompt import PromptArgument, PromptDefinition
from protocol.versions import REVISIONS, Revision

_NEWEST = tuple(REVISIONS)[-1]


@dataclass(frozen=True, slots=True, eq=False)
class PromptList:
    """Prompts sorted by name. Equal revisions look the same to every client."""

    revision: int
    prompts: OwnedTable[PromptDefinition]

    @property
    def names(self) -> tuple[str, ...]:
        """The names, sorted."""
        return tuple(self.prompts.by_key)

    def get(self, name: str) -> PromptDefinition | None:
        """The prompt of that name, or None."""
        return self.prompts.by_key.get(name)

    def wire(self, version: str, start: int, stop: int) -> bytes:
        """Some of the prompts as a JSON array. Raises `KeyError` for a version that is not known."""
        shown = tuple(self.prompts.by_key.values())[start:stop]
        return encode([_prompt(definition, REVISIONS[version]) for definition in shown])


EMPTY_PROMPT_LIST = PromptList(0, OwnedTable("prompt"))
"""The list before anything is registered."""


class PromptRegistry:
    """Prompts, each with its owner."""

    def __init__(self) -> None:
        self._list = EMPTY_PROMPT_LIST

    def apply(
        self, *, removals: Sequence[tuple[str, str]] = (), additions: Sequence[PromptDefinition] = ()
    ) -> PromptList:
        """Remove prompts (name, owner), then add some, as one change; return the list after it.

        All of it happens, or nothing. The revision rises where clients can see the change.
        Raises `RegistrationError`; the registry is as it was.
        """
        for definition in additions:
            _check(definition)
        old = self._list
        fresh = PromptList(old.revision, old.prompts.changed(removals, additions))
        if fresh.wire(_NEWEST, 0, len(fresh.names)) != old.wire(_NEWEST, 0, len(old.names)):
            fresh = PromptList(old.revision + 1, fresh.prompts)
        self._list = fresh
        return fresh

    def snapshot(self) -> PromptList:
        """The prompts now."""
        return self._list


def _check(definition: PromptDefinition) -> None:
    if not definition.name.strip():
        raise RegistrationError("a prompt needs a name that is not empty")
    names = [argument.name for argument in definition.arguments]
    if len(set(names)) != len(names) or not all(names):
        raise RegistrationError(f"prompt {definition.name!r}: its arguments must have names that differ")
    try:
        encode(_prompt(definition, REVISIONS[_NEWEST]))
    except ValueError as error:
        raise RegistrationError(f"prompt {definition.name!r} cannot be written as JSON: {error}") from error


def _prompt(definition: PromptDefinition, revision: Revision) -> dict[str, object]:
    optional: dict[str, object] = {
        "title": definition.title if revision.title else None,
        "description": definition.description,
        "arguments": [_argument(argument, revision) for argument in definition.arguments] or None,
        "icons": (list(definition.icons) or None) if revision.icons else None,
    }
    return {"name": definition.name, **{name: value for name, value in optional.items() if value is not None}}


def _argument(argument: PromptArgument, revision: Revision) -> dict[str, object]:
    shown: dict[str, object] = {"name": argument.name, "required": argument.required}
    if argument.title is not None and revision.title:
        shown["title"] = argument.title
    if argument.description is not None:
        shown["description"] = argument.description
    return shown
