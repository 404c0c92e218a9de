"""The steps of one group become one step of the history, in memory and in the store; nothing else moves."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from engine.engine import Engine
from engine.stored import fresh_state
from engine.world import Command, MergedSteps, World
from tests.engine.samples import Edit, Note, Write, assert_index_is_true, commands, content, undoable_content
from tests.engine.test_store import do, opened, picture

GROUP = "program-1"

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def new_world() -> World:
    return World("world-1", "home")


def texts(world: World) -> list[str]:
    return sorted(note.text for note in world.read().all(Note))


def test_the_steps_of_a_group_are_undone_and_redone_at_once() -> None:
    world = new_world()
    world.execute(Write("before"))
    for text in "abc":
        world.execute(Write(text), group=GROUP)
    revision = world.revision
    assert world.merge_steps(GROUP, "three notes").result == MergedSteps(3, 1)
    assert (world.revision, world.undo_count) == (revision, 2)
    assert world.undo().result.label == "three notes"
    assert texts(world) == ["before"]
    world.redo()
    assert texts(world) == ["a", "b", "before", "c"]


def test_steps_of_others_in_between_stay_steps_of_their_own() -> None:
    world = new_world()
    for text, group in (("a", GROUP), ("b", GROUP), ("theirs", None), ("c", GROUP), ("d", GROUP)):
        world.execute(Write(text), group=group)
    assert world.merge_steps(GROUP, "mine").result == MergedSteps(4, 2)
    assert world.undo_count == 3
    world.undo()
    assert texts(world) == ["a", "b", "theirs"]
    world.undo()
    assert texts(world) == ["a", "b"]


def test_steps_that_were_undone_meanwhile_do_not_come_together_with_those_that_were_not() -> None:
    world = new_world()
    for text in "abcd":
        world.execute(Write(text), group=GROUP)
    world.undo()
    world.undo()
    assert world.merge_steps(GROUP, "mine").result == MergedSteps(4, 2)
    assert (world.undo_count, world.redo_count) == (1, 1)
    world.redo()
    assert texts(world) == ["a", "b", "c", "d"]


def test_steps_that_cancel_each_other_out_leave_none() -> None:
    world = new_world()
    world.execute(Write("kept"))
    world.execute(Edit("changed", "kept"), group=GROUP)
    world.execute(Edit("kept", "changed"), group=GROUP)
    merged = world.merge_steps(GROUP, "nothing")
    assert (merged.result, merged.steps, world.undo_count) == (MergedSteps(2, 0), (), 1)
    world.revert(merged)
    assert world.undo_count == 3


def test_a_group_without_steps_changes_nothing() -> None:
    world = new_world()
    world.execute(Write("a"))
    merged = world.merge_steps(GROUP, "mine")
    assert (merged.result, merged.changed) == (MergedSteps(0, 0), False)


@given(st.lists(st.tuples(commands, st.booleans()), max_size=14), st.integers(0, 4))
def test_a_merged_history_leads_through_some_of_the_same_contents(
    sequence: list[tuple[Command[object], bool]], undone: int
) -> None:
    world = new_world()
    world.execute(Write("first"))
    for command, grouped in sequence:
        world.execute(command, group=GROUP if grouped else None)
    for _ in range(min(undone, world.undo_count)):
        world.undo()
    seen = [undoable_content(world.read())]
    ahead = 0
    while world.undo_count:
        world.undo()
        ahead += 1
        seen.append(undoable_content(world.read()))
    for _ in range(ahead):
        world.redo()
    before = content(world.read())
    merged = world.merge_steps(GROUP, "merged")
    assert content(world.read()) == before
    while world.undo_count:
        world.undo()
        assert undoable_content(world.read()) in seen
        assert_index_is_true(world.read())
    assert undoable_content(world.read()) == seen[-1]
    assert merged.result.pieces <= merged.result.steps <= len(sequence)


def test_a_merged_step_is_stored_in_place_of_its_parts(tmp_path: Path) -> None:
    with opened(tmp_path) as (store, engine):
        do(store, engine, Write("a"))
        for text in "bcd":
            store.write(engine.execute(Write(text), step_group=GROUP).commit)
        (world_id,) = engine.close_group(GROUP)
        store.write(engine.merge_steps(world_id, GROUP, "three notes").commit)
        do(store, engine, Write("e"))
        expected = picture(engine)
    with opened(tmp_path) as (_, engine):
        assert picture(engine) == expected
        engine.undo()
        assert engine.undo().result.label == "three notes"
        assert engine.active_world.undo_count == 1


def test_what_the_store_refuses_leaves_the_parts_as_they_were() -> None:
    engine = Engine(fresh_state(NOW), clock=lambda: NOW)
    for text in "bcd":
        engine.execute(Write(text), step_group=GROUP)
    before = engine.active_world.content()
    (world_id,) = engine.close_group(GROUP)
    engine.revert(engine.merge_steps(world_id, GROUP, "three notes"))
    assert engine.active_world.content() == before
    assert engine.close_group(GROUP) == ()
