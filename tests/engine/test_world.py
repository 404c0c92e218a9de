"""One command is one step; undo, redo and revert are exact, whatever came before."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import ConflictError
from engine.world import Command, Executed, HistoryMove, World
from tests.engine.samples import (
    Break,
    Cursor,
    Edit,
    Move,
    Note,
    Scribble,
    TextIndex,
    Write,
    assert_index_is_true,
    commands,
    content,
    undoable_content,
)

Picture = tuple[object, ...]


def picture(world: World) -> Picture:
    """Everything that can be told of a world, its history included."""
    return (content(world.read()), world.revision, world.undo_count, world.redo_count, labels_ahead(world))


def labels_ahead(world: World) -> tuple[str, ...]:
    """The labels of the steps that can be redone, found out without leaving a trace."""
    moves: list[Executed[HistoryMove]] = []
    while world.redo_count:
        moves.append(world.redo())
    for move in reversed(moves):
        world.revert(move)
    return tuple(move.result.label for move in moves)


def new_world() -> World:
    world = World("world-1", "home")
    assert world.read().index(TextIndex).tally == {}
    return world


def test_a_command_gives_its_result_and_counts_one_revision() -> None:
    world = new_world()
    executed = world.execute(Write("hello"))
    assert executed.result == "note-1"
    assert (executed.changed, executed.revision, world.revision) == (True, 1, 1)
    assert world.read().get(Note, "note-1") == Note(id="note-1", text="hello")


def test_a_command_that_changes_nothing_is_no_step_and_no_revision() -> None:
    world = new_world()
    executed = world.execute(Edit("a", "b"))
    assert not executed.changed
    assert picture(world) == picture(new_world())


def test_a_command_that_fails_leaves_everything_as_it_was() -> None:
    world = new_world()
    world.execute(Write("hello"))
    world.execute(Write("more"))
    world.undo()
    before = picture(world)
    with pytest.raises(ConflictError):
        world.execute(Break())
    assert picture(world) == before
    assert_index_is_true(world.read())


def test_undo_takes_the_last_step_back_and_redo_does_it_again() -> None:
    world = new_world()
    world.execute(Write("hello"))
    assert world.undo().result == HistoryMove("write", undo_count=0, redo_count=1)
    assert undoable_content(world.read()) == {}
    assert world.redo().result == HistoryMove("write", undo_count=1, redo_count=0)
    assert world.read().get(Note, "note-1") == Note(id="note-1", text="hello")


@pytest.mark.parametrize(("move", "words"), [(World.undo, "nothing to undo"), (World.redo, "nothing to redo")])
def test_at_the_end_of_the_history_there_is_nothing_to_do(move: Callable[[World], object], words: str) -> None:
    world = new_world()
    with pytest.raises(ConflictError, match=words):
        move(world)
    assert picture(world) == picture(new_world())


def test_a_new_step_discards_the_steps_that_were_undone() -> None:
    world = new_world()
    for text in "abc":
        world.execute(Write(text))
    world.undo()
    world.undo()
    executed = world.execute(Write("d"))
    assert [step.sequence for step in executed.discarded] == [2, 3]
    assert (world.undo_count, world.redo_count) == (2, 0)


def test_a_command_that_is_no_step_keeps_what_can_be_redone() -> None:
    world = new_world()
    world.execute(Write("a"))
    world.undo()
    executed = world.execute(Move("somewhere"))
    assert executed.changed
    assert executed.steps == ()
    assert (world.undo_count, world.redo_count) == (0, 1)
    world.redo()
    assert world.read().get(Cursor, "cursor") == Cursor(at="somewhere")


def test_undo_takes_away_what_really_stands_there() -> None:
    world = new_world()
    world.execute(Write("a"))
    world.execute(Scribble("changed"))
    (change,) = world.undo().changes
    assert change.before == Note(id="note-1", text="changed")
    assert_index_is_true(world.read())


def test_an_undo_that_finds_its_work_done_changes_no_record() -> None:
    world = new_world()
    world.execute(Write("a"))
    world.execute(Scribble(None))
    undone = world.undo()
    assert (undone.changes, world.undo_count, world.redo_count) == ((), 0, 1)
    world.revert(undone)
    assert (world.undo_count, world.redo_count) == (1, 0)


def test_an_id_is_never_used_twice_even_after_undo() -> None:
    world = new_world()
    world.execute(Write("a"))
    world.undo()
    assert world.execute(Write("b")).result == "note-2"


def test_only_the_last_change_can_be_reverted() -> None:
    world = new_world()
    first = world.execute(Write("a"))
    world.execute(Write("b"))
    with pytest.raises(ValueError, match="only the last change"):
        world.revert(first)


def test_revert_brings_back_the_steps_that_a_new_step_discarded() -> None:
    world = new_world()
    for text in "abc":
        world.execute(Write(text))
    world.undo()
    world.undo()
    before = picture(world)
    world.revert(world.execute(Write("d")))
    assert picture(world) == before
    world.redo()
    world.redo()
    assert sorted(note.text for note in world.read().all(Note)) == ["a", "b", "c"]


@given(st.lists(commands, max_size=12))
def test_undoing_everything_and_redoing_everything_is_exact(sequence: list[Command[object]]) -> None:
    world = new_world()
    states = [undoable_content(world.read())]
    for command in sequence:
        if world.execute(command).steps:
            states.append(undoable_content(world.read()))
    kept = {key: record for key, record in content(world.read()).items() if key[0] != Note.collection}
    for state in reversed(states[:-1]):
        world.undo()
        assert undoable_content(world.read()) == state
        assert_index_is_true(world.read())
    for state in states[1:]:
        world.redo()
        assert undoable_content(world.read()) == state
        assert_index_is_true(world.read())
    assert {key: record for key, record in content(world.read()).items() if key[0] != Note.collection} == kept


moves = st.sampled_from([World.undo, World.redo])


@given(st.lists(st.one_of(commands, moves), max_size=20), st.one_of(commands, moves))
def test_reverting_whatever_was_done_last_is_exact(
    sequence: list[Command[object] | Callable[[World], Executed[object]]],
    last: Command[object] | Callable[[World], Executed[object]],
) -> None:
    world = new_world()
    for action in sequence:
        attempt(world, action)
    before = picture(world)
    executed = attempt(world, last)
    if executed is not None:
        world.revert(executed)
    assert picture(world) == before
    assert_index_is_true(world.read())


def attempt(world: World, action: Command[object] | Callable[[World], Executed[object]]) -> Executed[object] | None:
    if isinstance(action, Command):
        return world.execute(action)
    try:
        return action(world)
    except ConflictError:
        return None
