"""A world file brings a world back exactly, and what no engine would have written is refused whole."""

from __future__ import annotations

import gzip
import io
import json
import random
import zlib
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.domains import RULES, world_codec
from engine.errors import InvalidArgumentError
from engine.packed_lines import GZIP_BITS
from engine.records import Counter
from engine.world import Command, Step, World, WorldContent
from engine.world_file import VERSION, read_world_file, write_world_file
from engine.world_file_error import WorldFileError
from tests.engine.drawing.samples import EXAMPLES
from tests.engine.drawing.samples import asides as drawing_asides
from tests.engine.drawing.samples import steps as drawing_steps
from tests.engine.graph.samples import asides as graph_asides
from tests.engine.graph.samples import steps as graph_steps
from tests.engine.samples import Note, Write, commands, note_codec
from tests.engine.scene.samples import asides as scene_asides
from tests.engine.scene.samples import steps as scene_steps
from tests.engine.world_files import (
    Lines,
    bent,
    drawn,
    file_of,
    lines_of,
    packed,
    read,
    read_notes,
    sorted_content,
    world_of,
)

work: st.SearchStrategy[Command[object]] = st.one_of(
    drawing_steps, drawing_asides, graph_steps, graph_asides, scene_steps, scene_asides
)
"""Commands of several domains, in one history."""


@EXAMPLES
@given(st.lists(work, max_size=20), st.integers(0, 8))
def test_any_world_comes_back_with_its_whole_history(done: list[Command[object]], undo: int) -> None:
    world = world_of(done, undo)
    data = file_of(world)
    back = read(data)
    assert back.name == world.name
    assert back.content == sorted_content(world.content())
    assert write_world_file(back.name, back.content, world_codec()) == data, "the same content, the same bytes"


@EXAMPLES
@given(st.lists(commands, max_size=14), st.integers(0, 8))
def test_the_format_knows_nothing_of_the_domain(done: list[Command[object]], undo: int) -> None:
    world = world_of(done, undo)
    assert read_notes(file_of(world, note_codec())).content == sorted_content(world.content())


def test_what_is_for_the_store_is_what_the_store_would_write() -> None:
    codec = world_codec()
    back = read(file_of(drawn()))
    assert back.rows.records == tuple((r.collection, r.id, codec.encode(r)) for r in back.content.records)
    assert back.rows.steps == tuple((s.sequence, s.label, codec.encode_changes(s.changes)) for s in back.content.steps)


def test_the_file_says_of_itself_what_it_is() -> None:
    world = drawn()
    header = lines_of(file_of(world))[0]
    assert header == {
        "format": "space-world",
        "version": 1,
        "name": "home",
        "revision": world.revision,
        "position": world.undo_count,
        "records": len(world.content().records),
        "steps": world.undo_count + world.redo_count,
    }


def test_the_order_in_which_records_came_into_the_table_does_not_show() -> None:
    content = drawn().content()
    shuffled = list(content.records)
    random.Random(1).shuffle(shuffled)
    other = WorldContent(
        revision=content.revision, records=tuple(shuffled), steps=content.steps, position=content.position
    )
    codec = world_codec()
    assert write_world_file("home", content, codec) == write_world_file("home", other, codec)


@given(st.binary(max_size=200))
def test_no_bytes_do_anything_but_be_refused(data: bytes) -> None:
    with pytest.raises(WorldFileError, match=r"^The world file cannot be read: "):
        read(data)


@EXAMPLES
@given(st.data())
def test_a_file_that_was_damaged_anywhere_is_refused_or_unchanged(data: st.DataObject) -> None:
    whole = file_of(drawn())
    place = data.draw(st.integers(0, len(whole) - 1))
    damaged = bytearray(whole)
    damaged[place] ^= 1 << data.draw(st.integers(0, 7))
    try:
        back = read(bytes(damaged))
    except WorldFileError:
        return
    assert back == read(whole), "such as in the time stamp of the packing"


@pytest.mark.parametrize("part", [0.0, 0.2, 0.5, 0.9, 0.999])
def test_a_file_that_was_cut_off_is_refused(part: float) -> None:
    whole = file_of(drawn())
    with pytest.raises(WorldFileError, match="ends early"):
        read(whole[: int(len(whole) * part)])


@pytest.mark.parametrize("more", [b"\0", b"more", gzip.compress(b"{}\n", mtime=0)])
def test_a_file_that_goes_on_behind_its_end_is_refused(more: bytes) -> None:
    with pytest.raises(WorldFileError, match="follows the end"):
        read(file_of(drawn()) + more)


class Dribble(io.BytesIO):
    """A file that gives one byte at a time."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(1)


def test_a_file_that_comes_byte_by_byte_is_read_to_its_very_end() -> None:
    whole = file_of(drawn())
    assert read_world_file(Dribble(whole), world_codec(), RULES) == read(whole)
    with pytest.raises(WorldFileError, match="follows the end"):
        read_world_file(Dribble(whole + b"more"), world_codec(), RULES)


def set_header(**members: object) -> Callable[[Lines], None]:
    return lambda lines: lines[0].update(members)


def drop(index: int) -> Callable[[Lines], None]:
    return lambda lines: lines.pop(index)


def repeat(index: int) -> Callable[[Lines], None]:
    return lambda lines: lines.insert(index, lines[index])


def replaced(index: int, value: object) -> Callable[[Lines], None]:
    return lambda lines: lines.__setitem__(index, value)


def first_of(lines: Lines, collection: str) -> Lines:
    return next(line for line in lines if isinstance(line, list) and line[0] == collection)


def first_step(lines: Lines) -> int:
    return next(at for at, line in enumerate(lines) if at and isinstance(line, dict))


def set_field(collection: str, **members: object) -> Callable[[Lines], None]:
    return lambda lines: first_of(lines, collection)[3].update(members)


def set_step(**members: object) -> Callable[[Lines], None]:
    return lambda lines: lines[first_step(lines)].update(members)


def duplicate_record(lines: Lines) -> None:
    lines[2] = lines[1]


def duplicate_change(lines: Lines) -> None:
    lines[first_step(lines)]["changes"] += 1
    lines.insert(first_step(lines) + 1, lines[first_step(lines) + 1])


def counter_in_a_step(lines: Lines) -> None:
    lines[first_step(lines) + 1] = ["counter", "object", None, {"id": "object", "next": 1}]


@pytest.mark.parametrize(
    ("bend", "words"),
    [
        (set_header(format="space-wor1d"), "no world file"),
        (replaced(0, []), "line 1: it must be a JSON object"),
        (set_header(version=VERSION + 1), "use the newer version"),
        (set_header(version=0), "version must be"),
        (set_header(version="1"), "version must be"),
        (set_header(version=True), "version must be"),
        (set_header(author="me"), "members must be"),
        (set_header(name=""), "empty"),
        (set_header(name="a\nb"), "cannot be shown"),
        (set_header(name="x" * 101), "at most 100"),
        (set_header(name=7), "name must be a text"),
        (set_header(revision=-1), "revision must be"),
        (set_header(revision=1.0), "revision must be"),
        (set_header(revision=2**60), "revision must be"),
        (set_header(position=99), "position is 99"),
        (set_header(records=10**9), "at most"),
        (set_header(records=True), "records must be"),
        (set_header(steps=10**9), "at most"),
        (set_header(records=1), "must be"),
        (drop(-1), "ends early"),
        (repeat(-1), "should have ended"),
        (replaced(-1, 7), "a change must be"),
        (replaced(1, ["ghost", "ghost-1", None, {"id": "ghost-1"}]), "collection 'ghost' is unknown"),
        (replaced(1, ["counter", "object", {"id": "object", "next": 9}, None]), "a record must be"),
        (duplicate_record, "there twice"),
        (duplicate_change, "names one twice"),
        (counter_in_a_step, "a counter of ids is never"),
        (set_step(changes=0), "at least one change"),
        (set_step(changes=10**9), "all steps together"),
        (set_step(label=""), "label of a step"),
        (set_step(label="x" * 300), "label of a step"),
        (set_step(label=None), "must begin with"),
        (set_step(undo=False), "must begin with"),
        (set_field("drawing-object", id="object-99"), "says of itself"),
        (set_field("drawing-object", kind="ghost"), "drawing-object"),
        (set_field("drawing-object", mood="fine"), "drawing-object"),
        (set_field("drawing-object", size=[-1, 2]), "size positive"),
        (set_field("drawing-object", center=["NaN", 0]), "finite"),
        (set_field("drawing-object", layer_id="layer-9"), "refers to it"),
        (set_field("counter", next=1), "would give that id again"),
        (set_field("counter", next=0), "counts from 1"),
        (set_field("drawing-layer", name=" top"), "begin or end with a space"),
    ],
)
def test_what_no_engine_would_have_written_is_refused_with_its_reason(
    bend: Callable[[Lines], None], words: str
) -> None:
    with pytest.raises(WorldFileError, match=words):
        read(bent(file_of(drawn()), bend))


@pytest.mark.parametrize(
    "line", [b"\xff\n", b"\n", b"{\n", b"[NaN]\n", b'["\\ud800"]\n', b"[" * 5000 + b"\n", b"7" * 9000]
)
def test_a_line_that_is_no_json_is_refused(line: bytes) -> None:
    whole = gzip.decompress(file_of(drawn())).splitlines(keepends=True)
    with pytest.raises(WorldFileError):
        read(gzip.compress(b"".join((whole[0], line, *whole[2:]))))


@pytest.mark.parametrize(("following", "fine"), [(5, False), (6, True), (700, True)])
def test_a_counter_stands_behind_every_id_of_its_series(following: int, fine: bool) -> None:
    def bend(lines: Lines) -> None:
        (row,) = [line for line in lines if isinstance(line, list) and line[:2] == ["counter", "object"]]
        assert row[3]["next"] == 6
        row[3]["next"] = following

    with nullcontext() if fine else pytest.raises(WorldFileError, match="object-5' is there, yet the counter"):
        read(bent(file_of(drawn()), bend))


def test_an_id_that_would_end_up_in_a_picture_is_refused() -> None:
    evil = 'object-1" onload="alert(1)'

    def bend(lines: Lines) -> None:
        row = first_of(lines, "drawing-object")
        row[1] = row[3]["id"] = evil

    with pytest.raises(WorldFileError, match="must have an id such as 'object-7'"):
        read(bent(file_of(drawn()), bend))


def owned(line: Any) -> Any:
    """The same row, where `note-2` belongs to `note-1`."""
    if isinstance(line, dict) or line[1] != "note-2":
        return line
    return [*line[:3], {"id": "note-2", "kind": "heading", "level": 7}]


def test_a_reference_that_dangles_only_after_undo_is_refused() -> None:
    world = world_of([Write("a"), Write("b")])
    lines = lines_of(file_of(world, note_codec()))
    fine = [owned(line) for line in lines]
    assert read_notes(packed(fine)).content.records, "it may refer to what was there before it"
    first = next(at for at, line in enumerate(fine) if at and isinstance(line, dict))
    swapped = [*fine[:first], *fine[first + 2 :], *fine[first : first + 2]]
    with pytest.raises(WorldFileError, match=r"step 2 \(write\) undone leaves a reference to note 'note-1'"):
        read_notes(packed(swapped))


def test_a_reference_that_dangles_only_after_redo_is_refused() -> None:
    world = world_of([Write("a"), Write("b")], undo=2)
    lines = lines_of(file_of(world, note_codec()))
    fine = [owned(line) for line in lines]
    assert read_notes(packed(fine)).content.steps
    first = next(at for at, line in enumerate(fine) if at and isinstance(line, dict))
    swapped = [*fine[:first], *fine[first + 2 :], *fine[first : first + 2]]
    with pytest.raises(WorldFileError, match=r"step 1 \(write\) done again leaves a reference"):
        read_notes(packed(swapped))


def test_a_value_that_the_rules_forbid_is_refused_in_the_history_too() -> None:
    data = file_of(world_of([Write("forbidden")], undo=1), note_codec())
    with pytest.raises(WorldFileError, match="text is forbidden"):
        read_notes(data)


def test_a_bomb_is_refused_before_it_has_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.packed_lines.MAX_LINE_BYTES", 1_500_000)
    monkeypatch.setattr("engine.packed_lines.MAX_UNPACKED_BYTES", 2_500_000)
    header = gzip.decompress(file_of(drawn())).splitlines(keepends=True)[0]
    one_line = zlib.compressobj(9, zlib.DEFLATED, GZIP_BITS)
    bomb = one_line.compress(header + b" " * 5_000_000) + one_line.flush()
    assert len(bomb) < 8_000
    with pytest.raises(WorldFileError, match="line 2 is longer than 1500000 bytes"):
        read(bomb)
    first = {"format": "space-world", "version": 1, "name": "x", "revision": 0, "position": 0}
    many = {**first, "records": 999_999, "steps": 0}
    counters = (f'["counter","c{n}",null,{{"id":"c{n}","next":1}}]\n' for n in range(60_000))
    with pytest.raises(WorldFileError, match="unpacks to more than 2500000 bytes"):
        read(gzip.compress(f"{json.dumps(many)}\n{''.join(counters)}".encode()))


def test_what_could_not_be_read_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    world = drawn()
    limits = {"MAX_RECORDS": 2, "MAX_CHANGES": 2, "MAX_LINE_BYTES": 20, "MAX_UNPACKED_BYTES": 200}
    for name, value in limits.items():
        with monkeypatch.context() as patch:
            patch.setattr(f"engine.world_file.{name}", value)
            with pytest.raises(InvalidArgumentError, match="world file"):
                file_of(world)
    assert read(file_of(world))


def test_an_empty_world_is_a_file_too() -> None:
    back = read(file_of(World("world-1", "home")))
    assert (back.content, back.name) == (WorldContent(), "home")


def test_a_counter_alone_and_a_long_step_come_back() -> None:
    note = Note(id="note-1", text='ü\u2028\n\t"')
    many = tuple(Write(str(number)) for number in range(50))
    world = world_of(many)
    content = world.content()
    assert isinstance(content.steps[0], Step)
    assert Counter(id="note", next=51) in content.records
    odd = WorldContent(revision=1, records=(note, Counter(id="note", next=2)))
    assert read_notes(write_world_file("Gärten 庭", odd, note_codec())).content == sorted_content(odd)
