"""What a tool of a unit is told about the call that it serves, and what it may do there. Owns that value alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from typing import Any

from engine.errors import NotFoundError
from engine.units.state import ReadUnitValues, SetUnitValues, canonical_json
from presets.app import App
from presets.context import FactValue
from protocol.tool import ToolCall
from space_unit.plain_fact import plain_fact


class State:
    """What the unit keeps in the active world: JSON values by key. Each change is one step that can be undone.

    Every method raises `EngineError` for what the engine refuses: a value that is no JSON, or beyond the limits.
    """

    def __init__(self, app: App, unit: str) -> None:
        self._app = app
        self._unit = unit

    async def get(self, key: str, default: Any = None) -> Any:
        """The value of a key, or `default`."""
        found = (await self._app.execute(ReadUnitValues(unit=self._unit, keys=(key,)))).result
        return json.loads(found[key]) if key in found else default

    async def all(self) -> dict[str, Any]:
        """Every value by its key."""
        found = (await self._app.execute(ReadUnitValues(unit=self._unit))).result
        return {key: json.loads(value) for key, value in found.items()}

    async def set(self, key: str, value: Any) -> None:
        """Keep a value."""
        await self.change({key: value})

    async def delete(self, *keys: str) -> None:
        """Take values away. Deleting what is not there changes nothing."""
        await self._app.execute(SetUnitValues(unit=self._unit, values=dict.fromkeys(keys)))

    async def change(self, values: Mapping[str, Any]) -> None:
        """Keep several values, as one step."""
        changes = {key: canonical_json(value) for key, value in values.items()}
        await self._app.execute(SetUnitValues(unit=self._unit, values=changes))


class Call:
    """One call of a unit's tool: the unit's state, the running engine, and the way back to the caller and the log."""

    def __init__(
        self, unit: str, app: App, call: ToolCall, log: Callable[[str], None], facts: Collection[str] = ()
    ) -> None:
        self.unit = unit
        """The name of the unit."""
        self.app = app
        """The running engine: worlds, files, context. See `presets.app.App`."""
        self.state = State(app, unit)
        """What the unit keeps in the active world."""
        self._call = call
        self._log = log
        self._facts = facts

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Tell the client how far the work is. `done` must not fall."""
        await self._call.progress(done, total, message)

    def log(self, text: str) -> None:
        """Write into the unit's log."""
        self._log(text)

    async def set_fact(self, name: str, value: FactValue) -> None:
        """Change a fact of the context that this unit has declared with `context_facts`. Tools follow at once."""
        if name not in self._facts:
            known = ", ".join(sorted(self._facts)) or "none"
            raise NotFoundError(f"unit {self.unit!r} declares no fact {name[:80]!r}; context_facts declares: {known}")
        await self.app.patch_context({name: plain_fact(value)})
