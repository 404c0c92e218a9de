"""The last runs of each story: what was sent to a model and what came back. Owns the files `runs/<run>.json`, their
form and their number.

Blocks. A record is written once, whole, at the end of its run. No key is ever in one: what is sent is recorded as
messages and tools, and what comes back is cleaned before it gets here.
"""

from __future__ import annotations

import json
import re
import secrets
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import structlog

from actors.chat import Usage
from blocks.store.documents import SetAside
from blocks.store.files import DataFiles, Parts, shown
from blocks.store.identities import require_folder_id
from blocks.store.story_files import ARCHIVED_STORIES, STORIES
from engine.errors import ConflictError, EngineError, NotFoundError

RUNS = "runs"
"""The folder in that of a story."""

KEPT_RUNS = 50
"""Runs of one story that are kept, the last ones."""

MOST_RECORD_BYTES = 3 * 1024 * 1024
"""One record. Longer texts in it are shortened; what was sent in full is in the story itself."""

SHORTENED_TO = (200_000, 50_000, 10_000, 1_000, 100)
"""Characters that are left of each text, tried in this order until the record fits."""

_log = structlog.stdlib.get_logger("runs")

_RUN_ID = re.compile(r"\d{8}t\d{9}z-[0-9a-f]{8}", re.ASCII)

_ROW = (
    "id",
    "agent",
    "branch",
    "startedAt",
    "seconds",
    "providerId",
    "modelId",
    "finishReason",
    "stepCount",
    "usage",
    "savedFragmentId",
    "notSaved",
    "error",
)
"""What a list shows of a record."""


def new_run_id(now: datetime) -> str:
    """An id that sorts by time and that nobody else has."""
    return f"{now:%Y%m%dt%H%M%S}{now.microsecond // 1000:03d}z-{secrets.token_hex(4)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """One run that has ended. `exchanges` are the conversations with models in it, as JSON: one, or the planner's and
    the writer's.
    """

    id: str
    story: str
    branch: str | None
    agent: str
    asked: Mapping[str, Any]
    started_at: datetime
    seconds: float
    finish_reason: str
    exchanges: tuple[Mapping[str, Any], ...]
    steps: int = 0
    usage: Usage | None = None
    saved_fragment_id: str | None = None
    not_saved: str | None = None
    """Why it was not saved where it was to be."""
    error: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The record as JSON. Provider and model are those of the last exchange."""
        last: Mapping[str, Any] = self.exchanges[-1] if self.exchanges else {}
        return {
            "id": self.id,
            "story": self.story,
            "branch": self.branch,
            "agent": self.agent,
            "startedAt": self.started_at.isoformat(),
            "seconds": round(self.seconds, 3),
            "providerId": last.get("providerId"),
            "modelId": last.get("modelId"),
            "finishReason": self.finish_reason,
            "stepCount": self.steps,
            "usage": None if self.usage is None else self.usage.to_json(),
            "savedFragmentId": self.saved_fragment_id,
            "notSaved": self.not_saved,
            "error": self.error,
            "asked": dict(self.asked),
            "exchanges": [dict(exchange) for exchange in self.exchanges],
        }


@dataclass(frozen=True, slots=True)
class KeptRuns:
    """What a list shows of the runs of a story, and the broken records that were met and set aside on the way."""

    rows: tuple[Mapping[str, Any], ...]
    set_aside: tuple[SetAside, ...] = ()


class RunRecords:
    """The records below a data folder. Raises `DataFileError` and `ForbiddenError` for what the disk refuses.

    The records of a story lie in its folder, which may be in the archive.
    """

    def __init__(self, data: Path) -> None:
        """The folder is opened now, and made where it is missing."""
        self._files = DataFiles(data)
        self._rows: dict[Parts, Mapping[str, Any]] = {}
        self._asides = threading.Lock()

    def save(self, record: RunRecord) -> None:
        """Keep a record, and let the oldest ones go. Nobody may move the story meanwhile.

        Raises `NotFoundError` for a story that is gone: it does not come back for this.
        """
        folder = self._folder(record.story)
        written = record.to_json()
        self._files.write((*folder, f"{record.id}.json"), encoded(written))
        self._rows[*folder, f"{record.id}.json"] = _row(written)
        for name in self._names(folder)[:-KEPT_RUNS]:
            # The record itself is kept, so what becomes of an old one is no failure of it.
            with suppress(EngineError):
                self._files.remove((*folder, name))
            self._rows.pop((*folder, name), None)

    def rows(self, story: str) -> KeptRuns:
        """What a list shows of each run, the last one first. Broken records are set aside, and the others are listed.

        Raises `NotFoundError` for the story.
        """
        folder = self._folder(story)
        rows: list[Mapping[str, Any]] = []
        set_aside: list[SetAside] = []
        for name in reversed(self._names(folder)):
            try:
                rows.append(self._row((*folder, name)))
            except BrokenRecordError as error:
                set_aside.append(error.set_aside)
            except NotFoundError:
                continue  # it was the oldest one, and has just gone
            except EngineError as error:
                run_id = name.removesuffix(".json")
                rows.append({**dict.fromkeys(_ROW), "id": run_id, "error": str(error)})
        return KeptRuns(tuple(rows), tuple(set_aside))

    def read(self, story: str, run_id: str) -> Mapping[str, Any]:
        """One record, whole. Raises `NotFoundError`, and `BrokenRecordError` for one that is none."""
        folder = self._folder(story)
        parts = (*folder, f"{run_id}.json")
        file = self._files.read(parts) if _RUN_ID.fullmatch(run_id) else None
        if file is None:
            raise NotFoundError(
                f"there is no record of a run {run_id[:80]!r} of story {story!r} (any more): the last {KEPT_RUNS} are "
                f"kept; `GET /api/stories/{story}/runs` lists them"
            )
        try:
            value: object = json.loads(file.data)
        except (ValueError, RecursionError):
            value = None
        reason = _fault(value, run_id)
        if reason is not None:
            raise BrokenRecordError(run_id, self._aside(parts, reason))
        return cast("dict[str, Any]", value)

    def _aside(self, parts: Parts, reason: str) -> SetAside:
        """Set a broken record aside. Two may meet it at a time, and the second finds it gone."""
        with self._asides:
            if not self._files.exists(parts):
                raise NotFoundError(f"the record {shown(parts)!r} was broken ({reason}) and is set aside")
            now = datetime.now(UTC)
            kept_as = self._files.set_aside(parts, now)
        self._rows.pop(parts, None)
        _log.warning("run_record_set_aside", path=shown(parts), kept_as=kept_as, reason=reason)
        return SetAside(shown(parts), kept_as, reason, now)

    def _folder(self, story: str) -> Parts:
        """The folder of the records of a story, wherever the story is."""
        require_folder_id("story", story)
        for root in (STORIES, ARCHIVED_STORIES):
            if self._files.is_folder((root, story)):
                return (root, story, RUNS)
        raise NotFoundError(f"there is no story {story!r}; `GET /api/stories` lists them")

    def _names(self, folder: Parts) -> tuple[str, ...]:
        return tuple(name for name in self._files.names(folder) if _RUN_ID.fullmatch(name.removesuffix(".json")))

    def _row(self, parts: Parts) -> Mapping[str, Any]:
        row = self._rows.get(parts)
        if row is None:
            row = _row(self.read(parts[1], parts[-1].removesuffix(".json")))
            self._rows[parts] = row
        return row


class BrokenRecordError(ConflictError):
    """Raised for a file that is no record of that run. It was set aside, so there is no such record any more."""

    def __init__(self, run_id: str, set_aside: SetAside) -> None:
        super().__init__(
            f"the record of run {run_id!r} was broken and is kept as {set_aside.kept_as!r}: {set_aside.reason}"
        )
        self.set_aside = set_aside


def _fault(value: object, run_id: str) -> str | None:
    """Why that is no record of the run, or None."""
    if not isinstance(value, dict):
        return "it is no JSON object"
    record = cast("dict[str, object]", value)
    if record.get("id") != run_id:
        return f"`id` must be {run_id!r}, as its file is called"
    for name in ("agent", "startedAt", "finishReason"):
        if not isinstance(record.get(name), str):
            return f"`{name}` must be a text"
    exchanges = record.get("exchanges")
    if not isinstance(exchanges, list) or not all(isinstance(one, dict) for one in cast("list[object]", exchanges)):
        return "`exchanges` must be a list of objects"
    return None


def encoded(record: Mapping[str, Any]) -> bytes:
    """The file of a record: no longer than `MOST_RECORD_BYTES`, with `shortened` saying whether texts were cut."""
    data = _bytes({**record, "shortened": False})
    for characters in SHORTENED_TO:
        if len(data) <= MOST_RECORD_BYTES:
            break
        data = _bytes({**cast("dict[str, Any]", _shortened(record, characters)), "shortened": True})
    return data


def _bytes(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False, indent=1).encode("utf-8", "replace") + b"\n"


def _shortened(value: object, characters: int) -> object:
    if isinstance(value, str):
        more = len(value) - characters
        return value if more <= 0 else f"{value[:characters]}… ({more} more characters)"
    if isinstance(value, Mapping):
        return {key: _shortened(one, characters) for key, one in cast("Mapping[str, object]", value).items()}
    if isinstance(value, list | tuple):
        return [_shortened(one, characters) for one in cast("list[object]", value)]
    return value


def _row(record: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: record.get(name) for name in _ROW}
