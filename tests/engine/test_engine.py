"""The set of worlds, the settings and the facts: whole or not at all, and exact when taken back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.commands import (
    MAX_WORLDS,
    CreateWorld,
    DeleteWorld,
    ListWorlds,
    RememberContext,
    SetTheme,
    SwitchWorld,
)
from engine.engine import Engine, EngineCommand, EngineExecuted, EngineFacts, EngineTransaction
from engine.errors import ConflictError, EngineError, InvalidArgumentError, NotFoundError
from engine.records import RecordTable
from engine.settings import Settings
from engine.stored import NOTHING, Commit, WorldCommit, WorldDeletion, fresh_state
from engine.world import Command
from engine.world_name import MAX_WORLD_NAME_CHARACTERS
from tests.engine.samples import NOW, Cursor, Move, Write, commands, content


def cursor_kind(table: RecordTable, settings: Settings) -> str | None:
    cursor = table.get(Cursor, "cursor")
    return cursor.at if cursor else None


def new_engine() -> Engine:
    return Engine(fresh_state(NOW), clock=lambda: NOW, selection_kind=cursor_kind)


def picture(engine: Engine) -> tuple[object, ...]:
    """Everything but the serial."""
    world = engine.active_world
    facts = replace(engine.facts(), serial=0)
    return (engine.settings, engine.worlds(), content(world.read()), world.undo_count, world.redo_count, facts)


def test_a_fresh_engine_has_one_world_named_home_and_the_canvas_before_it() -> None:
    engine = new_engine()
    (home,) = engine.worlds()
    assert (home.id, home.name, home.active, home.revision, home.created_at) == ("world-1", "home", True, 0, NOW)
    assert engine.settings == Settings(
        active_world_id="world-1", theme="dark", surface="canvas", activity="drawing", canvas_visible=True
    )


def test_an_engine_refuses_a_state_whose_active_world_is_missing() -> None:
    state = replace(fresh_state(NOW), settings=Settings(active_world_id="world-9"))
    with pytest.raises(ValueError, match="world-9"):
        Engine(state, clock=lambda: NOW)


def test_a_world_command_runs_on_the_active_world_and_says_what_to_write() -> None:
    engine = new_engine()
    executed = engine.execute(Write("hello"))
    assert (executed.result, executed.revision, executed.changed) == ("note-1", 1, True)
    written = executed.commit.world
    assert written is not None
    assert (written.world_id, written.revision, written.position, written.drop_steps_from) == ("world-1", 1, 1, None)
    assert [step.sequence for step in written.steps] == [1]
    assert executed.commit == Commit(world=written)


def test_a_step_that_discards_others_says_from_where_they_go() -> None:
    engine = new_engine()
    engine.execute(Write("a"))
    engine.execute(Write("b"))
    engine.undo()
    written = engine.execute(Write("c")).commit.world
    assert written is not None
    assert (written.drop_steps_from, written.position) == (2, 2)


def test_undo_and_redo_write_records_and_position_but_no_step() -> None:
    engine = new_engine()
    engine.execute(Write("a"))
    undone = engine.undo().commit.world
    assert isinstance(undone, WorldCommit)
    assert (undone.position, undone.revision, undone.steps, len(undone.changes)) == (0, 2, (), 1)
    redone = engine.redo().commit.world
    assert isinstance(redone, WorldCommit)
    assert (redone.position, redone.revision) == (1, 3)


def test_a_command_that_changes_nothing_has_nothing_to_write_and_keeps_the_serial() -> None:
    engine = new_engine()
    for command in (ListWorlds(), SwitchWorld("world-1"), SetTheme("dark")):
        executed = engine.execute(command)
        assert (executed.changed, executed.commit) == (False, NOTHING)
    assert engine.facts().serial == 0


def test_worlds_are_created_under_ids_that_were_never_used() -> None:
    engine = new_engine()
    garden = engine.execute(CreateWorld("garden")).result
    engine.execute(DeleteWorld(garden.id, "garden"))
    again = engine.execute(CreateWorld("garden"))
    assert (garden.id, again.result.id) == ("world-2", "world-3")
    assert again.commit.next_world_number == 4
    assert [(world.id, world.name) for world in again.commit.created] == [("world-3", "garden")]


def test_a_created_world_is_entered_only_when_asked() -> None:
    engine = new_engine()
    assert not engine.execute(CreateWorld("one")).result.active
    assert engine.execute(CreateWorld("two", activate=True)).result.active
    assert engine.facts().world_id == "world-3"


def test_each_world_has_its_own_content_and_history() -> None:
    engine = new_engine()
    engine.execute(Write("home"))
    engine.execute(CreateWorld("garden", activate=True))
    assert content(engine.active_world.read()) == {}
    with pytest.raises(ConflictError, match="nothing to undo"):
        engine.undo()
    engine.execute(SwitchWorld("world-1"))
    assert engine.active_world.undo_count == 1


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "empty"),
        (" garden", "space around"),
        ("two\nlines", "cannot be shown"),
        ("x" * (MAX_WORLD_NAME_CHARACTERS + 1), "at most"),
    ],
)
def test_a_bad_world_name_is_refused(name: str, words: str) -> None:
    engine = new_engine()
    with pytest.raises(InvalidArgumentError, match=words):
        engine.execute(CreateWorld(name))
    assert len(engine.worlds()) == 1


def test_a_name_that_is_taken_is_refused_naming_its_owner() -> None:
    with pytest.raises(ConflictError, match="world-1"):
        new_engine().execute(CreateWorld("home"))


def test_there_is_a_limit_to_the_number_of_worlds() -> None:
    engine = new_engine()
    for number in range(MAX_WORLDS - 1):
        engine.execute(CreateWorld(f"w{number}"))
    with pytest.raises(ConflictError, match="delete one"):
        engine.execute(CreateWorld("one too many"))


def test_an_unknown_world_is_answered_with_those_that_exist() -> None:
    engine = new_engine()
    for command in (SwitchWorld("world-7"), DeleteWorld("world-7", "x")):
        with pytest.raises(NotFoundError, match=r"world-7.*world-1 \(home\)"):
            engine.execute(command)


def test_deleting_asks_for_the_exact_name() -> None:
    engine = new_engine()
    engine.execute(CreateWorld("garden"))
    with pytest.raises(InvalidArgumentError, match="'garden', not 'Garden'"):
        engine.execute(DeleteWorld("world-2", "Garden"))
    assert len(engine.worlds()) == 2


def test_the_last_world_cannot_be_deleted() -> None:
    with pytest.raises(ConflictError, match="last world"):
        new_engine().execute(DeleteWorld("world-1", "home"))


@pytest.mark.parametrize(("doomed", "heir"), [("world-1", "world-2"), ("world-2", "world-3"), ("world-3", "world-2")])
def test_deleting_the_active_world_makes_its_neighbour_active(doomed: str, heir: str) -> None:
    engine = new_engine()
    engine.execute(CreateWorld("two"))
    engine.execute(CreateWorld("three"))
    engine.execute(SwitchWorld(doomed))
    name = next(world.name for world in engine.worlds() if world.active)
    executed = engine.execute(DeleteWorld(doomed, name))
    assert executed.commit.deleted == (WorldDeletion(world_id=doomed, deleted_at=NOW),)
    assert executed.commit.settings == engine.settings
    assert engine.facts().world_id == heir


def test_a_theme_is_one_of_those_that_exist() -> None:
    engine = new_engine()
    assert engine.execute(SetTheme("light")).result.background == "#FFFFFF"
    with pytest.raises(NotFoundError, match="dark, light"):
        engine.execute(SetTheme("mauve"))
    assert engine.settings.theme == "light"


def test_the_context_is_remembered_in_the_settings() -> None:
    engine = new_engine()
    executed = engine.execute(RememberContext(surface="scene", activity=None, canvas_visible=False))
    assert executed.commit.settings == replace(
        Settings(active_world_id="world-1"), surface="scene", activity=None, canvas_visible=False
    )


def test_the_facts_follow_the_engine_and_their_serial_grows() -> None:
    engine = new_engine()
    seen = [engine.facts()]
    for command in (Write("a"), Move("note"), CreateWorld("garden", activate=True)):
        engine.execute(command)
        seen.append(engine.facts())
    assert seen == [
        EngineFacts(serial=0, world_id="world-1", selection_kind=None),
        EngineFacts(serial=1, world_id="world-1", selection_kind=None),
        EngineFacts(serial=2, world_id="world-1", selection_kind="note"),
        EngineFacts(serial=3, world_id="world-2", selection_kind=None),
    ]


@dataclass(frozen=True)
class Halfway(EngineCommand[None]):
    """Change everything, then fail."""

    label = "halfway"

    def run(self, engine: EngineTransaction) -> None:
        made = engine.add_world("half")
        engine.set_settings(replace(engine.settings, active_world_id=made.id, theme="light"))
        engine.remove_world("world-1")
        raise KeyError("a bug")


def test_an_engine_command_that_fails_leaves_everything_as_it_was() -> None:
    engine = new_engine()
    engine.execute(Write("a"))
    before, serial = picture(engine), engine.facts().serial
    with pytest.raises(KeyError):
        engine.execute(Halfway())
    assert (picture(engine), engine.facts().serial) == (before, serial)
    assert engine.execute(CreateWorld("next")).result.id == "world-2"


@dataclass(frozen=True)
class RemoveActive(EngineCommand[None]):
    label = "remove active"

    def run(self, engine: EngineTransaction) -> None:
        engine.remove_world(engine.settings.active_world_id)


def test_a_command_cannot_leave_the_engine_without_an_active_world() -> None:
    with pytest.raises(ValueError, match="make another one active"):
        new_engine().execute(RemoveActive())


def test_only_the_last_change_can_be_reverted() -> None:
    engine = new_engine()
    first = engine.execute(SetTheme("light"))
    engine.execute(Write("a"))
    with pytest.raises(ValueError, match="not its last change"):
        engine.revert(first)


def test_the_serial_goes_on_when_a_change_is_reverted() -> None:
    engine = new_engine()
    engine.revert(engine.execute(SetTheme("light")))
    assert engine.facts().serial == 2


Action = Command[object] | EngineCommand[object] | Callable[[Engine], EngineExecuted[object]]

world_ids = st.sampled_from(["world-1", "world-2", "world-3"])
engine_commands: st.SearchStrategy[EngineCommand[object]] = st.one_of(
    st.builds(CreateWorld, st.sampled_from(["two", "three"]), activate=st.booleans()),
    st.builds(SwitchWorld, world_ids),
    st.builds(DeleteWorld, world_ids, st.sampled_from(["home", "two", "three"])),
    st.builds(SetTheme, st.sampled_from(["dark", "light"])),
)
actions: st.SearchStrategy[Action] = st.one_of(commands, engine_commands, st.sampled_from([Engine.undo, Engine.redo]))


@given(st.lists(actions, max_size=15), actions)
def test_reverting_whatever_was_done_last_is_exact(sequence: list[Action], last: Action) -> None:
    engine = new_engine()
    for action in sequence:
        attempt(engine, action)
    before = picture(engine)
    executed = attempt(engine, last)
    if executed is not None:
        engine.revert(executed)
    assert picture(engine) == before


def attempt(engine: Engine, action: Action) -> EngineExecuted[object] | None:
    try:
        return engine.execute(action) if isinstance(action, Command | EngineCommand) else action(engine)
    except EngineError:
        return None
