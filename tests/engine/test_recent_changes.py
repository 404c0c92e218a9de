"""What is new since an earlier revision is known for a while, exactly, and never guessed."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import ConflictError
from engine.recent_changes import MOST_CHANGES, MOST_REVISIONS
from engine.records import Change
from engine.world import World
from tests.engine.samples import Cursor, Edit, Erase, Move, Note, Write, texts

COMMANDS = st.one_of(
    st.builds(Write, texts), st.builds(Edit, texts, texts), st.builds(Erase, texts), st.builds(Move, texts)
)


def new_world(revision: int = 0) -> World:
    return World("world-1", "home", revision=revision)


def changes(world: World, since: int) -> list[Change]:
    found = world.changes_since(since)
    assert found is not None
    return list(found)


def notes(world: World) -> dict[str, Note]:
    return {note.id: note for note in world.read().all(Note)}


@settings(max_examples=60, deadline=None)
@given(st.lists(COMMANDS | st.sampled_from(["undo", "redo"]), max_size=12))
def test_what_is_new_is_the_difference_of_the_records_whatever_was_done_and_undone(
    actions: list[Write | Edit | Erase | Move | str],
) -> None:
    world = new_world()
    seen = {0: notes(world)}
    for action in actions:
        try:
            if isinstance(action, str):
                world.undo() if action == "undo" else world.redo()
            else:
                world.execute(action)
        except ConflictError:
            continue
        seen[world.revision] = notes(world)
    now = notes(world)
    for revision, before in seen.items():
        found = {change.id: (change.before, change.after) for change in changes(world, revision)}
        ids = before.keys() | now.keys()
        assert found == {key: (before.get(key), now.get(key)) for key in ids if before.get(key) != now.get(key)}


def test_the_newest_change_comes_first() -> None:
    world = new_world()
    for text in "abc":
        world.execute(Write(text))
    world.execute(Edit("again", was="a"))
    assert [change.id for change in changes(world, 0)] == ["note-1", "note-3", "note-2"]


def test_selecting_and_the_like_are_a_revision_but_nothing_new() -> None:
    world = new_world()
    world.execute(Move("here"))
    assert world.revision == 1
    assert world.read().count(Cursor) == 1
    assert changes(world, 0) == []


def test_of_the_time_before_the_process_and_of_what_is_to_come_nothing_is_known() -> None:
    world = new_world(revision=7)
    world.execute(Write("a"))
    assert world.changes_since(6) is None
    assert len(changes(world, 7)) == 1
    assert changes(world, 8) == []
    assert world.changes_since(9) is None


def test_the_oldest_revisions_are_forgotten_one_by_one() -> None:
    world = new_world()
    for _ in range(MOST_REVISIONS + 2):
        world.execute(Write("a"))
    assert world.changes_since(1) is None
    assert len(changes(world, 2)) == MOST_REVISIONS


def test_a_large_step_is_kept_while_it_is_the_newest_and_then_makes_room() -> None:
    notes_of_many = [Note(id=f"note-{number}", text="a") for number in range(MOST_CHANGES + 1)]
    world = World("world-1", "home", records=notes_of_many)
    world.execute(Edit("b", was="a"))
    assert len(changes(world, 0)) == MOST_CHANGES + 1
    world.execute(Write("c"))
    assert world.changes_since(0) is None
    assert len(changes(world, 1)) == 1


def test_what_a_store_refused_was_never_new() -> None:
    world = new_world()
    world.execute(Write("a"))
    world.revert(world.execute(Write("b")))
    assert [change.id for change in changes(world, 0)] == ["note-1"]
    world.revert(world.undo())
    assert [change.id for change in changes(world, 0)] == ["note-1"]
    assert changes(world, 1) == []


def test_the_history_is_told_by_its_labels_from_the_present_on() -> None:
    world = new_world()
    world.execute(Write("a"))
    world.execute(Edit("b", was="a"))
    world.execute(Erase("b"))
    world.undo()
    world.undo()
    assert (world.history(20).undo, world.history(20).redo) == (("write",), ("edit", "erase"))
    world.redo()
    assert (world.history(1).undo, world.history(1).redo) == (("edit",), ("erase",))
    assert (world.history(0).undo, world.history(0).redo) == ((), ())
