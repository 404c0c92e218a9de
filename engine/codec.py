"""Records as JSON and back. Owns that form, which lies in people's data folders; never does I/O.

A record is the JSON object of its fields. Its collection says which class it is; where the records of a collection are
of several classes, their field `kind` does. Whatever does not fit exactly, an unknown field included, is refused: half
an understanding of a record would destroy the other half when it is written again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Annotated, Any, cast

from pydantic import Field, TypeAdapter, ValidationError
from pydantic_core import from_json

from engine.records import Change, Record

_CHANGE_FORM = "a change must be [collection, id, before, after]"


class UndecodableError(ValueError):
    """Raised when stored JSON is not what it should be. The text says what is wrong with it."""


class Codec:
    """Encodes and decodes records of the classes it is made for, and the changes of such records."""

    def __init__(self, record_types: Iterable[type[Record]]) -> None:
        """Raises `TypeError` when classes share a collection and have no field `kind` to tell them apart."""
        families: dict[str, list[type[Record]]] = {}
        for record_type in record_types:
            families.setdefault(record_type.collection, []).append(record_type)
        self._writers: dict[type[Record], TypeAdapter[Record]] = {
            member: TypeAdapter(member) for family in families.values() for member in family
        }
        self._readers = {collection: _reader(collection, family) for collection, family in families.items()}

    def encode(self, record: Record) -> str:
        """The JSON of a record.

        Raises `TypeError` for a class that the codec was not made for, and `ValueError` for a value that would not
        come back as it is: both are bugs of whoever made the record.
        """
        writer = self._writers.get(type(record))
        if writer is None:
            raise TypeError(f"{type(record).__name__} is not a class of record that can be stored")
        return _text(writer.serializer.to_python(record, mode="json", warnings="error"))

    def decode(self, collection: str, record_id: str, text: str) -> Record:
        """The record of that JSON. Raises `UndecodableError`."""
        return self._checked(collection, record_id, _parsed(text))

    def encode_changes(self, changes: Sequence[Change]) -> str:
        """The JSON of changes: a list of what `encode_change` gives. Raises as `encode` does."""
        return f"[{','.join(map(self.encode_change, changes))}]"

    def encode_change(self, change: Change) -> str:
        """The JSON of one change: `[collection, id, before, after]`. Raises as `encode` does."""
        return f"[{_text(change.collection)},{_text(change.id)},{self._side(change.before)},{self._side(change.after)}]"

    def decode_changes(self, text: str) -> tuple[Change, ...]:
        """The changes of that JSON. Raises `UndecodableError`."""
        rows = _parsed(text)
        if not isinstance(rows, list):
            raise UndecodableError("the changes of a step must be a list")
        return tuple(self.read_change(row) for row in cast("list[object]", rows))

    def _side(self, record: Record | None) -> str:
        return "null" if record is None else self.encode(record)

    def read_change(self, row: object) -> Change:
        """The change of that parsed JSON. Raises `UndecodableError`."""
        # Plain steps instead of a pattern: a large world has hundreds of thousands of these.
        if type(row) is not list or len(parts := cast("list[object]", row)) != 4:
            raise UndecodableError(_CHANGE_FORM)
        collection, record_id, before, after = parts
        if type(collection) is not str or type(record_id) is not str or before is after is None:
            raise UndecodableError(_CHANGE_FORM)
        return Change(
            collection,
            record_id,
            None if before is None else self._checked(collection, record_id, before),
            None if after is None else self._checked(collection, record_id, after),
        )

    def _checked(self, collection: str, record_id: str, value: object) -> Record:
        reader = self._readers.get(collection)
        if reader is None:
            raise UndecodableError(f"collection {collection!r} is unknown")
        try:
            # The validator itself: what the adapter does around it takes as long as a small record.
            record = reader.validator.validate_python(value, extra="forbid")
        except ValidationError as error:
            raise UndecodableError(f"{collection} {record_id!r}: {_first_fault(error)}") from error
        if record.id != record_id:
            raise UndecodableError(f"{collection} {record_id!r} says of itself that it is {record.id!r}")
        return record


def _reader(collection: str, family: Sequence[type[Record]]) -> TypeAdapter[Record]:
    if len(family) == 1:
        return TypeAdapter(family[0])
    for member in family:
        if "kind" not in {field.name for field in fields(member)}:
            raise TypeError(
                f"{member.__name__} shares the collection {collection!r} with other classes; "
                "each of them needs a field 'kind' that only it can have"
            )
    union: Any = family[0]
    for member in family[1:]:
        union = union | member
    return TypeAdapter(cast("Any", Annotated)[union, Field(discriminator="kind")])


_text = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def _parsed(text: str) -> object:
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise UndecodableError(f"not JSON: {error}") from error


def _first_fault(error: ValidationError) -> str:
    fault = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in fault["loc"])
    return f"{where}: {fault['msg']}" if where else fault["msg"]
