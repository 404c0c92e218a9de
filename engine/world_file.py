"""A world as one file: what is in it, its whole history and its place in that history. Owns the format and its limits.

The file is gzip of lines of JSON in UTF-8. The first says what it is: `{"format": "space-world", "version": 1, "name",
"revision", "position", "records", "steps"}`, the last two being numbers. Then come the records, a line each,
`[collection, id, null, record]`, in order of collection and id. Then the steps from the first to the last:
`{"label", "changes"}`, followed by that many changes, a line each, `[collection, id, before, after]`. Records are JSON
as of `engine.codec`. The same content gives the same bytes.

Whoever reads a file need not trust it: the reading is bounded, and what no engine would have written is refused whole.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, cast

from pydantic_core import from_json

from engine.codec import Codec, UndecodableError
from engine.collector import collector_paused
from engine.errors import InvalidArgumentError
from engine.packed_lines import GZIP_BITS, MAX_LINE_BYTES, MAX_UNPACKED_BYTES, PackedLines
from engine.records import Change, Counter, Record
from engine.rules import Rules
from engine.stored import WorldRows
from engine.world import Step, WorldContent
from engine.world_file_error import WorldFileError
from engine.world_name import check_world_name
from engine.world_soundness import check_sound

FORMAT = "space-world"
VERSION = 1
"""Grows with every change of the format. A file of a higher version is refused, since it may hold what is not known."""

FILE_SUFFIX = ".space-world"
"""How such files are named."""

MAX_RECORDS = 1_000_000
"""Most records in a world file: ten times the world that everything else is measured with."""

MAX_CHANGES = 4_000_000
"""Most changes in the history of a world file: several for each record."""

MAX_COUNT = 2**53
"""Largest revision; what JSON carries exactly."""

MAX_LABEL_CHARACTERS = 200
"""Longest label of a step; those of the engine are a few words."""

MAX_ID_CHARACTERS = 2_000
"""Longest id of a record. That of an edge is made of two keys of 512."""

_PACKING_LEVEL = 6
"""Of zlib: beyond it a file gets a few percent smaller and takes several times as long."""

_HEADER_MEMBERS = frozenset({"format", "version", "name", "revision", "position", "records", "steps"})
_STEP_MEMBERS = frozenset({"label", "changes"})


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldFile:
    """A world file that has been read and found sound. `rows` are the same content as a store holds it."""

    name: str
    content: WorldContent = field(repr=False)
    rows: WorldRows = field(repr=False)


def write_world_file(name: str, content: WorldContent, codec: Codec) -> bytes:
    """The file of a world. Takes seconds for a large one, and touches nothing but its arguments.

    Raises `InvalidArgumentError` for a world that is beyond the limits of the format, so that no file is made that
    cannot be read.
    """
    changes = sum(len(step.changes) for step in content.steps)
    if len(content.records) > MAX_RECORDS or changes > MAX_CHANGES:
        raise InvalidArgumentError(
            f"The world {name!r} has {len(content.records)} records and {changes} changes in its history; a world file "
            f"holds at most {MAX_RECORDS} and {MAX_CHANGES}."
        )
    packer = zlib.compressobj(_PACKING_LEVEL, zlib.DEFLATED, GZIP_BITS)
    packed: list[bytes] = []
    size = 0
    for line in _lines(name, content, codec):
        data = line.encode("utf-8")
        size += len(data)
        if len(data) > MAX_LINE_BYTES or size > MAX_UNPACKED_BYTES:
            raise InvalidArgumentError(
                f"The world {name!r} is too large for a world file: a line may have {MAX_LINE_BYTES} bytes, and all "
                f"lines {MAX_UNPACKED_BYTES}."
            )
        packed.append(packer.compress(data))
    packed.append(packer.flush())
    return b"".join(packed)


def read_world_file(file: IO[bytes], codec: Codec, rules: Sequence[Rules]) -> WorldFile:
    """Read a file from where it stands to its end. Takes seconds for a large one.

    Raises `WorldFileError`, which says what is wrong and in which line, for everything that `write_world_file` would
    not have written: another format or version, damage, an unknown kind of record, a value outside the domain's
    `rules`, an id that is there twice or may be given again, a reference to what is not there at some point of the
    history, and anything beyond the limits.
    """
    with collector_paused():
        return _Reader(PackedLines(file), codec, rules).read()


def _lines(name: str, content: WorldContent, codec: Codec) -> Iterator[str]:
    header = {
        "format": FORMAT,
        "version": VERSION,
        "name": name,
        "revision": content.revision,
        "position": content.position,
        "records": len(content.records),
        "steps": len(content.steps),
    }
    yield f"{_text(header)}\n"
    for record in sorted(content.records, key=lambda record: (record.collection, record.id)):
        yield f"{codec.encode_change(Change(record.collection, record.id, None, record))}\n"
    for step in content.steps:
        yield f"{_text({'label': step.label, 'changes': len(step.changes)})}\n"
        for change in step.changes:
            yield f"{codec.encode_change(change)}\n"


_text = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


class _Reader:
    """Reads one file. Faults are raised with the line at which they were found."""

    def __init__(self, lines: PackedLines, codec: Codec, rules: Sequence[Rules]) -> None:
        self._lines = lines
        self._codec = codec
        self._rules = rules
        self._rules_of = {collection: each for each in rules for collection in each.collections}
        self._changes = 0

    def read(self) -> WorldFile:
        header = self._header()
        name = header["name"]
        revision, position = self._count(header, "revision"), self._count(header, "position")
        record_count, step_count = self._count(header, "records"), self._count(header, "steps")
        if not isinstance(name, str):
            raise self._fault("the name must be a text")
        try:
            check_world_name(name)
        except InvalidArgumentError as error:
            raise self._fault(str(error)) from None
        if record_count > MAX_RECORDS or step_count > MAX_CHANGES:
            raise self._fault(f"at most {MAX_RECORDS} records and {MAX_CHANGES} steps are read")
        if position > step_count:
            raise self._fault(f"position is {position}, and there are {step_count} steps")
        records = self._records(record_count)
        steps = tuple(self._step(number + 1) for number in range(step_count))
        self._lines.expect_end()
        content = WorldContent(revision=revision, records=records, steps=steps, position=position)
        check_sound(content, self._rules)
        return WorldFile(name=name, content=content, rows=self._rows(content))

    def _header(self) -> Mapping[str, object]:
        header = self._object(self._lines.next())
        if header.get("format") != FORMAT:
            raise WorldFileError(f"it is no world file: its first line does not say that its format is {FORMAT!r}")
        version = header.get("version")
        if type(version) is not int or version < 1:
            raise self._fault("the version must be a whole number from 1")
        if version > VERSION:
            raise WorldFileError(
                f"it is a world file of version {version}, and this version of Space reads up to {VERSION}; "
                "use the newer version"
            )
        if header.keys() ^ _HEADER_MEMBERS:
            raise self._fault(f"the members must be {', '.join(sorted(_HEADER_MEMBERS))}")
        return header

    def _records(self, count: int) -> tuple[Record, ...]:
        records: dict[tuple[str, str], Record] = {}
        for _ in range(count):
            change = self._change()
            if change.before is not None or change.after is None:
                raise self._fault("a record must be [collection, id, null, record]")
            if (change.collection, change.id) in records:
                raise self._fault(f"{change.collection} {change.id!r:.80} is there twice")
            records[change.collection, change.id] = change.after
        return tuple(records.values())

    def _step(self, sequence: int) -> Step:
        header = self._object(self._lines.next())
        label = header.get("label")
        if header.keys() ^ _STEP_MEMBERS or not isinstance(label, str):
            raise self._fault('a step must begin with {"label": text, "changes": number}')
        if not label or len(label) > MAX_LABEL_CHARACTERS or not label.isprintable():
            raise self._fault(f"the label of a step must be 1 to {MAX_LABEL_CHARACTERS} characters that can be shown")
        count = self._count(header, "changes")
        self._changes += count
        if not count or self._changes > MAX_CHANGES:
            raise self._fault(f"a step has at least one change, and all steps together have at most {MAX_CHANGES}")
        changes = tuple(self._change() for _ in range(count))
        if any(change.collection == Counter.collection for change in changes):
            raise self._fault("a counter of ids is never a step's, since undo would let ids be given again")
        if len({(change.collection, change.id) for change in changes}) != count:
            raise self._fault("a step changes each record once; this one names one twice")
        return Step(sequence, label, changes)

    def _change(self) -> Change:
        row = self._json(self._lines.next())
        try:
            change = self._codec.read_change(row)
        except UndecodableError as error:
            raise self._fault(str(error)) from None
        if not change.id or len(change.id) > MAX_ID_CHARACTERS:
            raise self._fault(f"the id of a record must have 1 to {MAX_ID_CHARACTERS} characters")
        rules = self._rules_of.get(change.collection)
        if rules is not None:
            for record in (change.before, change.after):
                if record is not None:
                    self._check(rules, record)
        return change

    def _check(self, rules: Rules, record: Record) -> None:
        try:
            rules.check(record)
        except InvalidArgumentError as error:
            raise self._fault(f"{record.collection} {record.id!r:.80}: {error}") from None

    def _rows(self, content: WorldContent) -> WorldRows:
        """Written anew instead of taken from the file, so that the store holds only what this engine has written."""
        encode, encode_changes = self._codec.encode, self._codec.encode_changes
        return WorldRows(
            records=tuple((record.collection, record.id, encode(record)) for record in content.records),
            steps=tuple((step.sequence, step.label, encode_changes(step.changes)) for step in content.steps),
        )

    def _json(self, line: bytes) -> object:
        try:
            return from_json(line, allow_inf_nan=False)
        except ValueError as error:
            raise self._fault(f"it is not JSON ({error})") from None

    def _object(self, line: bytes) -> Mapping[str, object]:
        value = self._json(line)
        if not isinstance(value, dict):
            raise self._fault("it must be a JSON object")
        return cast("dict[str, object]", value)

    def _count(self, header: Mapping[str, object], name: str) -> int:
        value = header[name]
        if type(value) is not int or not 0 <= value <= MAX_COUNT:
            raise self._fault(f"{name} must be a whole number from 0 to {MAX_COUNT}")
        return value

    def _fault(self, reason: str) -> WorldFileError:
        return WorldFileError(f"line {self._lines.number}: {reason}")
