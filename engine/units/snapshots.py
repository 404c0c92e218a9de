"""Snapshots of a unit's files, so that an edit can be taken back. Owns where they lie, their form and their number.

Each is one JSON file below the data folder, never in the unit's own, written whole or not at all. All of it blocks.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from engine.errors import EngineError, NotFoundError
from engine.units.manifest import check_unit_name

KEPT_SNAPSHOTS = 30
"""Of one unit; the oldest go first. Each edit makes one."""

_NAME = re.compile(r"snapshot-([1-9][0-9]{0,8})\.json")
_ID = re.compile(r"snapshot-[1-9][0-9]{0,8}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """All files of a unit at one moment. `reason` says what came after it."""

    id: str
    unit: str
    taken_at: str
    reason: str
    files: Mapping[str, bytes] = field(repr=False)


class UnitSnapshots:
    """The snapshots of every unit, below one folder, which is made when it is needed."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def take(self, unit: str, files: Mapping[str, bytes], reason: str, now: datetime) -> Snapshot:
        """Keep these files. The latest snapshot is given again when it holds exactly them. Raises `EngineError`."""
        numbers = self._numbers(unit)
        if numbers:
            latest = self._try(unit, numbers[-1])
            if latest is not None and latest.files == dict(files):
                return latest
        number = (numbers[-1] if numbers else 0) + 1
        snapshot = Snapshot(
            id=f"snapshot-{number}", unit=unit, taken_at=now.isoformat(), reason=reason, files=dict(files)
        )
        folder = self._folder(unit)
        temporary = folder / f".{snapshot.id}.tmp"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            temporary.write_text(json.dumps(_to_json(snapshot)), encoding="utf-8")
            temporary.replace(folder / f"{snapshot.id}.json")
            for old in [*numbers, number][:-KEPT_SNAPSHOTS]:
                (folder / f"snapshot-{old}.json").unlink(missing_ok=True)
        except OSError as error:
            raise EngineError(f"no snapshot of unit {unit!r} could be kept: {error.strerror or error}") from error
        return snapshot

    def ids(self, unit: str) -> tuple[str, ...]:
        """The ids of the snapshots of a unit, the oldest first."""
        return tuple(f"snapshot-{number}" for number in self._numbers(unit))

    def read(self, unit: str, snapshot_id: str) -> Snapshot:
        """A snapshot. Raises `NotFoundError`, naming those that there are, and `EngineError` for a broken one."""
        if not _ID.fullmatch(snapshot_id) or snapshot_id not in self.ids(unit):
            known = ", ".join(self.ids(unit)[-10:]) or "none"
            raise NotFoundError(f"unit {unit!r} has no snapshot {snapshot_id[:80]!r}; there are: {known}")
        found = self._try(unit, int(snapshot_id.rpartition("-")[2]))
        if found is None:
            raise EngineError(f"the file of {snapshot_id} of unit {unit!r} is broken; choose another")
        return found

    def _folder(self, unit: str) -> Path:
        return self._root / check_unit_name(unit)

    def _numbers(self, unit: str) -> list[int]:
        try:
            names = os.listdir(self._folder(unit))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise EngineError(f"the snapshots of unit {unit!r} cannot be listed: {error.strerror}") from error
        return sorted(int(match[1]) for name in names if (match := _NAME.fullmatch(name)))

    def _try(self, unit: str, number: int) -> Snapshot | None:
        path = self._folder(unit) / f"snapshot-{number}.json"
        try:
            return _from_json(f"snapshot-{number}", json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None


def _to_json(snapshot: Snapshot) -> dict[str, Any]:
    return {
        "unit": snapshot.unit,
        "taken_at": snapshot.taken_at,
        "reason": snapshot.reason,
        "files": {path: _packed(data) for path, data in snapshot.files.items()},
    }


def _packed(data: bytes) -> dict[str, str]:
    try:
        return {"text": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode("ascii")}


def _from_json(snapshot_id: str, raw: Any) -> Snapshot:
    files = {
        path: packed["text"].encode() if "text" in packed else base64.b64decode(packed["base64"])
        for path, packed in cast("dict[str, dict[str, str]]", raw["files"]).items()
    }
    return Snapshot(id=snapshot_id, unit=raw["unit"], taken_at=raw["taken_at"], reason=raw["reason"], files=files)
