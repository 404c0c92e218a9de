"""An engine with units, for tests: a folder to write them into, and ways to wait for what follows."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import trio

from actors.resolution import CapabilityEdit
from actors.space import Space, SpaceOptions
from engine.units.folder import UnitFolder, make_unit
from presets.unit_shop import UnitRow, UnitState
from protocol.tool import JsonObject, ToolOutcome
from tests.actors.fakes import MemoryStore, engine_of
from tests.space_unit.units import HEAD

LIMIT_SECONDS = 20.0
TRIAL_SECONDS = 60.0
"""How long a test may wait: real time, since files and threads know no other."""


def code_of(tool: str = "roll", answer: str = "1", unit: str = "dice", extra: str = "") -> str:
    """The code of a unit with one tool without arguments."""
    return (
        f"{HEAD}{extra}\n@tool\nasync def {tool}() -> int:\n    'Does {tool}.'\n    return {answer}\n\n"
        f"p = preset('{unit}', tools=[{tool}])\n"
    )


@dataclass
class Trial:
    """A running engine and the folder of its units."""

    space: Space
    root: Path

    def write(self, code: str, unit: str = "dice", **files: str) -> UnitFolder:
        """Make a unit of that code, or write into it."""
        contents = {
            "unit.py": code.encode(),
            **{path.replace("_py", ".py"): text.encode() for path, text in files.items()},
        }
        if not (self.root / unit).exists():
            return make_unit(self.root, unit, {"unit.toml": b"", **contents})
        folder = UnitFolder(self.root / unit)
        folder.change(contents)
        return folder

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools that are offered now and are no built-in ones of tests."""
        return self.space.catalog.tools.value.names

    def row(self, unit: str = "dice") -> UnitRow:
        """The unit's row."""
        return self.space.units.row(unit)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until that holds; it is asked whenever the rows or the tools have changed."""
        with trio.fail_after(LIMIT_SECONDS):
            while not condition():  # noqa: ASYNC110 - it waits for files, rows and tools alike
                await trio.sleep(0.01)

    async def tried(self, *units: str) -> None:
        """Wait until each of these units was tried, and has a row that says what came of it."""
        await self.until(
            lambda: set(units) <= {row.name for row in self.space.units.rows() if row.state is not UnitState.LOADING}
        )

    async def call(self, tool: str, arguments: JsonObject | None = None) -> ToolOutcome:
        """Call a tool as it is offered now."""
        entry = self.space.catalog.tools.value.get(tool)
        assert entry is not None, f"{tool} is not among {self.tools}"
        return await entry.definition.run(arguments or {}, Silent())  # pyright: ignore[reportArgumentType]


class Silent:
    """A call that nobody listens to."""

    step_group: str | None = None

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        pass


@asynccontextmanager
async def units_on_trial(
    folder: Path,
    capabilities: Sequence[CapabilityEdit] = (),
    roots: tuple[Path, ...] = (),
    seconds: float = TRIAL_SECONDS,
    **units: str,
) -> AsyncGenerator[Trial]:
    """Run an engine in memory whose units lie in `folder`; these are there from the start, by name.

    The whole trial ends after so many seconds at the latest.
    """
    workspace, data = folder / "workspace", folder / "data"
    root = data / "units"
    for path in (workspace, root):
        path.mkdir(parents=True, exist_ok=True)
    for name, code in units.items():
        make_unit(root, name, {"unit.toml": b"", "unit.py": code.encode()})
    options = SpaceOptions(workspace=workspace, data=data, unit_roots=roots)
    space = Space(engine_of(), MemoryStore(), options)
    with trio.fail_after(seconds):
        async with trio.open_nursery() as nursery:
            await nursery.start(space.run, tuple(capabilities))
            yield Trial(space, root)
            space.stop()
