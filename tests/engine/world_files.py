"""World files for the tests: of notes and of drawings, whole, and bent on purpose."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from engine.codec import Codec
from engine.domains import RULES, world_codec
from engine.drawing.insert import InsertBox
from engine.drawing.layers import AddLayer, DeleteLayer
from engine.errors import EngineError, InvalidArgumentError
from engine.records import Record
from engine.rules import Key, Rules
from engine.world import Command, World, WorldContent
from engine.world_file import WorldFile, read_world_file, write_world_file
from tests.engine.samples import Heading, Note, note_codec

Lines = list[Any]


def _check_note(record: Record) -> None:
    if isinstance(record, Note) and record.text == "forbidden":
        raise InvalidArgumentError("text is forbidden")


def _refers(record: Record) -> Iterable[Key]:
    """A heading of level 7 belongs to the note `note-1`."""
    return ((Note.collection, "note-1"),) if isinstance(record, Heading) and record.level == 7 else ()


NOTE_RULES = Rules(
    collections=frozenset({Note.collection}),
    check=_check_note,
    references=_refers,
    series={Note.collection: "note"},
)


def world_of(commands: Iterable[Command[object]], undo: int = 0) -> World:
    """A world in which these were done, as far as it let them be."""
    world = World("world-1", "home")
    for command in commands:
        with suppress(EngineError):
            world.execute(command)
    for _ in range(undo):
        with suppress(EngineError):
            world.undo()
    return world


def drawn() -> World:
    """A small drawing with steps on both sides of its place in the history."""
    box = InsertBox(kind="rectangle", x=0, y=0, width=2, height=1)
    return world_of((box, AddLayer(name="top"), box, box, DeleteLayer(), box, box), undo=2)


def sorted_content(content: WorldContent) -> WorldContent:
    """The same with its records in one order, since a table promises none."""
    records = sorted(content.records, key=lambda record: (record.collection, record.id))
    return WorldContent(
        revision=content.revision, records=tuple(records), steps=content.steps, position=content.position
    )


def read(data: bytes, codec: Codec | None = None, rules: tuple[Rules, ...] = RULES) -> WorldFile:
    return read_world_file(io.BytesIO(data), codec or world_codec(), rules)


def read_notes(data: bytes) -> WorldFile:
    return read(data, note_codec(), (NOTE_RULES,))


def file_of(world: World, codec: Codec | None = None) -> bytes:
    return write_world_file(world.name, world.content(), codec or world_codec())


def lines_of(data: bytes) -> Lines:
    """The lines of a file as JSON values, to be bent."""
    return [json.loads(line) for line in gzip.decompress(data).decode().splitlines()]


def packed(lines: Lines) -> bytes:
    """A file of these lines, which anybody could have written."""
    return gzip.compress("".join(f"{json.dumps(line)}\n" for line in lines).encode())


def bent(data: bytes, bend: Callable[[Lines], None]) -> bytes:
    """The file with its lines changed."""
    lines = lines_of(data)
    bend(lines)
    return packed(lines)
