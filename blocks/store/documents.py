"""JSON values as files: read, checked, written. Owns what is kept parsed, and what becomes of a broken file.

A file that is not what it should be is never taken in part and never written over: it is renamed beside its path under
a dated name, and reported. What reads it then finds nothing there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar, cast

from blocks.issue import InvalidBlockDataError
from blocks.json_value import JsonValue
from blocks.store.files import DataFiles, Parts, Signature, shown
from blocks.store.limits import CACHED_DOCUMENTS, MAX_FILE_BYTES
from blocks.store.revision import revision_of
from engine.errors import InvalidArgumentError

Value = TypeVar("Value", bound=JsonValue)
ValueT_co = TypeVar("ValueT_co", bound=JsonValue, covariant=True)

SUFFIX = ".json"

_REASON_CHARACTERS = 400


@dataclass(frozen=True, slots=True)
class SetAside:
    """A file that was broken: where it was, how it is called now, and what was wrong with it."""

    path: str
    kept_as: str
    reason: str
    at: datetime

    def __str__(self) -> str:
        return f"{self.path!r} was broken and is kept as {self.kept_as!r}: {self.reason}"

    def to_json(self) -> dict[str, str]:
        """`{path, keptAs, reason, at}`."""
        return {"path": self.path, "keptAs": self.kept_as, "reason": self.reason, "at": self.at.isoformat()}


@dataclass(frozen=True, slots=True)
class Versioned(Generic[ValueT_co]):
    """A value and its revision."""

    value: ValueT_co
    revision: str


def versioned(value: Value) -> Versioned[Value]:
    """That value with the revision that it has."""
    return Versioned(value, revision_of(value))


class _BrokenError(Exception):
    """A file is not what it should be; the text says why."""


@dataclass(frozen=True, slots=True)
class _Kept:
    kind: type[JsonValue]
    signature: Signature
    stored: Versioned[Any]


class Documents:
    """JSON values at paths below the data folder. `clock` gives the time, in UTC. Raises as `DataFiles` does."""

    def __init__(self, files: DataFiles, clock: Callable[[], datetime]) -> None:
        self.files = files
        self._clock = clock
        self._kept: dict[Parts, _Kept] = {}
        self._reports: list[SetAside] = []

    @property
    def now(self) -> datetime:
        """The time, in UTC."""
        return self._clock()

    def take_reports(self) -> tuple[SetAside, ...]:
        """The files that were set aside since this was asked last."""
        reports, self._reports = tuple(self._reports), []
        return reports

    def reported(self, parts: Parts) -> SetAside | None:
        """The report of the file at that path, where it has just been set aside."""
        return next((one for one in self._reports if one.path == shown(parts)), None)

    def read(self, parts: Parts, kind: type[Value]) -> Versioned[Value] | None:
        """The value at that path; None where nothing is there, or where it was broken and has been set aside."""
        signature = self.files.signature(parts)
        return None if signature is None else self._read(parts, kind, signature)

    def read_all(self, folder: Parts, kind: type[Value], admits: Callable[[str], bool]) -> dict[str, Versioned[Value]]:
        """Every value in a folder whose name, without its ending, `admits` takes; by that name, sorted."""
        found: dict[str, Versioned[Value]] = {}
        for name, signature in self.files.signatures(folder).items():
            stem = name.removesuffix(SUFFIX)
            if stem != name and admits(stem):
                stored = self._read((*folder, name), kind, signature)
                if stored is not None:
                    found[stem] = stored
        return found

    def write(self, parts: Parts, value: Value, *, most_bytes: int = MAX_FILE_BYTES) -> Versioned[Value]:
        """Make the file hold that value; durable when it returns. Raises `InvalidArgumentError` for one too large."""
        data = encoded(value, most_bytes=most_bytes)
        stored = versioned(value)
        self._keep(parts, type(value), self.files.write(parts, data), stored)
        return stored

    def took(self, parts: Parts, signature: Signature, stored: Versioned[JsonValue]) -> None:
        """Keep a value whose file has been put there by somebody else, with the signature that it has."""
        self._keep(parts, type(stored.value), signature, stored)

    def archive(self, parts: Parts, target: Parts) -> str:
        """Move a file there, beside what is there already, and give the path that it has now."""
        number, free = 1, target
        while self.files.exists(free):
            number += 1
            free = (*target[:-1], f"{target[-1].removesuffix(SUFFIX)}-{number}{SUFFIX}")
        self._kept.pop(parts, None)
        self.files.move(parts, free)
        return shown(free)

    def remove(self, parts: Parts) -> bool:
        """Remove the file; False where nothing is there."""
        self._kept.pop(parts, None)
        return self.files.remove(parts)

    def _read(self, parts: Parts, kind: type[Value], signature: Signature) -> Versioned[Value] | None:
        kept = self._kept.get(parts)
        if kept is not None and kept.signature == signature and kept.kind is kind:
            return cast("Versioned[Value]", kept.stored)
        file = self.files.read(parts)
        if file is None:
            return None
        try:
            stored = versioned(_decoded(file.data, kind))
        except _BrokenError as error:
            self._set_aside(parts, str(error))
            return None
        self._keep(parts, kind, file.signature, stored)
        return stored

    def _set_aside(self, parts: Parts, reason: str) -> None:
        now = self.now
        name = self.files.set_aside(parts, now)
        self._kept.pop(parts, None)
        self._reports.append(SetAside(shown(parts), shown((*parts[:-1], name)), reason[:_REASON_CHARACTERS], now))

    def _keep(self, parts: Parts, kind: type[JsonValue], signature: Signature, stored: Versioned[Any]) -> None:
        if len(self._kept) >= CACHED_DOCUMENTS and parts not in self._kept:
            self._kept.clear()
        self._kept[parts] = _Kept(kind, signature, stored)


def encoded(value: JsonValue, *, most_bytes: int = MAX_FILE_BYTES) -> bytes:
    """The file of a value. Raises `InvalidArgumentError` for a value that is too large, or that JSON cannot say."""
    try:
        text = json.dumps(value.to_json(), ensure_ascii=False, indent=2, allow_nan=False)
        data = f"{text}\n".encode()
    except (ValueError, RecursionError) as error:
        raise InvalidArgumentError(f"this cannot be written as JSON: {error}") from error
    if len(data) > most_bytes:
        raise InvalidArgumentError(f"this has {len(data):,} bytes as JSON; at most {most_bytes:,} are kept")
    return data


def _decoded(data: bytes, kind: type[Value]) -> Value:
    if len(data) > MAX_FILE_BYTES:
        raise _BrokenError(f"it has more than {MAX_FILE_BYTES:,} bytes")
    try:
        raw: object = json.loads(data.decode("utf-8-sig"), parse_constant=_no_constant)
        return kind.from_json(raw)
    except InvalidBlockDataError as error:
        raise _BrokenError(str(error)) from error
    except UnicodeDecodeError as error:
        raise _BrokenError(f"it is no UTF-8 text (byte {error.start})") from error
    except (ValueError, RecursionError) as error:
        raise _BrokenError(f"it is no JSON: {error}") from error


def _no_constant(name: str) -> Mapping[str, Any]:
    raise ValueError(f"{name} is no number in JSON")
