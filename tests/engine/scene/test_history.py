"""Whatever is done to a scene can be taken back and done again exactly, and the index agrees with the table."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from engine.errors import EngineError
from engine.records import Counter, Record, RecordTable
from engine.scene.index import SceneIndex
from engine.scene.records import Body, Light, SceneSelection, Terrain
from engine.scene.state import RestoreState
from engine.world import Command
from tests.engine.scene.samples import Scene, asides, steps


def facts(table: RecordTable) -> object:
    index = table.index(SceneIndex)
    return (
        [index.ids(kind) for kind in (Body, Terrain, Light)],
        dict(index.boxes),
        dict(index.kinds),
    )


class History(RuleBasedStateMachine):
    """A scene, and what it held after each step."""

    def __init__(self) -> None:
        super().__init__()
        self.scene = Scene()
        facts(self.scene.table)
        self.states = {0: self.content()}

    def content(self) -> dict[tuple[str, str], Record]:
        """What undo restores: all but counters, and the selection, which is no step."""
        kept = (Counter, SceneSelection)
        return {key: record for key, record in self.scene.records().items() if not isinstance(record, kept)}

    @rule(command=steps | asides)
    def change(self, command: Command[object]) -> None:
        before, count = self.scene.records(), self.scene.world.undo_count
        try:
            self.scene.do(command)
        except EngineError:
            assert self.scene.records() == before
            assert self.scene.world.undo_count == count
        self.states[self.scene.world.undo_count] = self.content()

    @precondition(lambda self: any(body.dynamic for body in self.scene.table.all(Body)))
    @rule(steps=st.integers(1, 20))
    def simulate(self, steps: int) -> None:
        with suppress(EngineError):
            self.scene.run(steps * 0.002)
        self.states[self.scene.world.undo_count] = self.content()

    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        other = Scene()
        for command in data.draw(st.lists(steps | asides, max_size=4)):
            with suppress(EngineError):
                other.do(command)
        self.scene.do(RestoreState(other.snapshot()))
        assert self.scene.snapshot() == other.snapshot()
        self.states[self.scene.world.undo_count] = self.content()

    @rule()
    def undo(self) -> None:
        with suppress(EngineError):
            self.scene.world.undo()
        assert self.content() == self.states[self.scene.world.undo_count]

    @rule()
    def redo(self) -> None:
        with suppress(EngineError):
            self.scene.world.redo()
        assert self.content() == self.states[self.scene.world.undo_count]

    @invariant()
    def the_index_is_exact(self) -> None:
        assert facts(self.scene.table) == facts(RecordTable(self.scene.table))


TestHistory = pytest.mark.slow(History.TestCase)
TestHistory.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)
