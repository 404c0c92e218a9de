"""JSON values that cannot be changed, for whoever may look and not touch. Owns the copying alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import cast

from protocol.tool import JsonObject


def frozen_json(value: JsonObject) -> JsonObject:
    """A copy of a JSON object in which objects are read-only mappings and arrays are tuples, all the way down.

    The value and its parts stay as they are. Works without recursion, so however deep a value is, it costs no stack.
    """
    # Parents come before their children in this list, so that backwards every part is ready when its parent needs it.
    containers: list[object] = []
    waiting: list[object] = [value]
    while waiting:
        container = waiting.pop()
        containers.append(container)
        waiting.extend(part for part in _parts(container) if isinstance(part, _CONTAINERS))
    made: dict[int, object] = {}
    for container in reversed(containers):
        if isinstance(container, Mapping):
            members = cast("Mapping[str, object]", container).items()
            frozen: object = MappingProxyType({name: made.get(id(part), part) for name, part in members})
        else:
            frozen = tuple(made.get(id(part), part) for part in _parts(container))
        made[id(cast("object", container))] = frozen
    return cast("JsonObject", made[id(value)])


_CONTAINERS: tuple[type[object], ...] = (Mapping, list, tuple)


def _parts(container: object) -> Iterable[object]:
    if isinstance(container, Mapping):
        return cast("Mapping[str, object]", container).values()
    return cast("Iterable[object]", container)
