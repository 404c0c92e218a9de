"""Importing and recovering: what the worlds are afterwards, what the store is told, and how both are taken back."""

from __future__ import annotations

import pytest

from engine.commands import MAX_WORLDS, CreateWorld, DeleteWorld
from engine.domains import world_codec
from engine.drawing.insert import InsertBox
from engine.engine import Engine
from engine.errors import ConflictError, InvalidArgumentError
from engine.keeping import ImportWorld, RecoverWorld
from engine.stored import StoredWorld, WorldCreation, WorldRecovery, fresh_state
from engine.world_file import WorldFile
from tests.engine.samples import NOW
from tests.engine.world_files import drawn, file_of, read, sorted_content


def new_engine() -> Engine:
    return Engine(fresh_state(NOW), clock=lambda: NOW)


def a_file() -> WorldFile:
    return read(file_of(drawn()))


def gone(world_id: str = "world-2", name: str = "garden") -> StoredWorld:
    content = drawn().content()
    return StoredWorld(
        id=world_id,
        name=name,
        created_at=NOW,
        revision=content.revision,
        records=content.records,
        steps=content.steps,
        position=content.position,
    )


def names(engine: Engine) -> list[tuple[str, str]]:
    return [(world.id, world.name) for world in engine.worlds()]


def test_an_imported_world_is_new_and_has_everything() -> None:
    engine, file = new_engine(), a_file()
    done = engine.execute(ImportWorld(file))
    assert (done.result.id, done.result.name, done.result.active) == ("world-2", "home 2", False)
    assert done.result.revision == file.content.revision
    assert sorted_content(engine.content_of("world-2")) == file.content
    assert engine.content_of("world-1").records == (), "the world that was there is untouched"
    assert done.commit.created == (
        WorldCreation(
            id="world-2",
            name="home 2",
            created_at=NOW,
            revision=file.content.revision,
            position=file.content.position,
            rows=file.rows,
        ),
    )
    assert done.commit.next_world_number == 3


def test_an_imported_world_can_be_undone_and_drawn_in() -> None:
    engine = new_engine()
    world_id = engine.execute(ImportWorld(a_file(), "yard")).result.id
    engine.execute(DeleteWorld("world-1", "home"))
    assert engine.active_world.id == world_id
    while engine.active_world.undo_count:
        engine.undo()
    while engine.active_world.redo_count:
        engine.redo()
    inserted = engine.execute(InsertBox(kind="ellipse", x=0, y=0, width=1, height=1)).result
    assert inserted.item.id == "object-6", "behind every id that was ever used"


def test_an_import_is_taken_back_whole() -> None:
    engine = new_engine()
    before, facts = engine.worlds(), engine.facts()
    engine.revert(engine.execute(ImportWorld(a_file())))
    assert engine.worlds() == before
    assert engine.facts().world_id == facts.world_id
    assert engine.execute(CreateWorld("next")).result.id == "world-2"


@pytest.mark.parametrize(("name", "error"), [("home", ConflictError), ("", InvalidArgumentError)])
def test_a_name_that_is_given_is_not_bent(name: str, error: type[Exception]) -> None:
    engine = new_engine()
    for command in (ImportWorld(a_file(), name), RecoverWorld(gone(), name)):
        with pytest.raises(error):
            engine.execute(command)
    assert names(engine) == [("world-1", "home")]


def test_there_is_a_most_of_worlds_for_imports_and_recoveries_too() -> None:
    engine = new_engine()
    for number in range(MAX_WORLDS - 1):
        engine.execute(CreateWorld(f"w{number}"))
    for command in (ImportWorld(a_file()), RecoverWorld(gone("world-900"))):
        with pytest.raises(ConflictError, match="the most"):
            engine.execute(command)


def test_a_recovered_world_is_back_at_its_place() -> None:
    engine = new_engine()
    for name in ("garden", "yard"):
        engine.execute(CreateWorld(name))
    engine.execute(DeleteWorld("world-2", "garden"))
    done = engine.execute(RecoverWorld(gone()))
    assert names(engine) == [("world-1", "home"), ("world-2", "garden"), ("world-3", "yard")]
    assert (done.result.id, done.result.active) == ("world-2", False)
    assert done.commit.recovered == (WorldRecovery(world_id="world-2", name="garden", revision=gone().revision),)
    assert (done.commit.created, done.commit.deleted, done.commit.next_world_number) == ((), (), None)
    assert engine.content_of("world-2") == gone().content()
    engine.revert(done)
    assert names(engine) == [("world-1", "home"), ("world-3", "yard")]


def test_a_recovered_world_whose_name_is_taken_gets_another() -> None:
    engine = new_engine()
    engine.execute(CreateWorld("garden"))
    engine.execute(CreateWorld("garden 2"))
    assert engine.execute(RecoverWorld(gone("world-9"))).result.name == "garden 3"
    assert engine.execute(RecoverWorld(gone("world-8"), "old garden")).result.name == "old garden"


def test_a_world_that_is_there_is_not_recovered() -> None:
    engine = new_engine()
    engine.execute(CreateWorld("garden"))
    with pytest.raises(ConflictError, match="not deleted"):
        engine.execute(RecoverWorld(gone()))


def test_what_is_taken_out_of_a_world_does_not_follow_it() -> None:
    engine = new_engine()
    engine.execute(InsertBox(kind="ellipse", x=0, y=0, width=1, height=1))
    content = engine.content_of("world-1")
    records = content.records
    engine.undo()
    assert (content.position, content.records) == (1, records)
    assert engine.content_of("world-1") != content
    assert world_codec() is world_codec()
