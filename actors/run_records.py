"""The last runs of each story: what was sent to a model and what came back. Owns the files `runs/<run>.json`, their
form and their number.

Blocks. A record is written once, whole, at the end of its run. No key is ever in one: what is sent is recorded as
messages and tools, and what comes back is cleaned before it gets here.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from actors.chat import Usage
from blocks.store.files import DataFiles, Parts
from blocks.store.identities import require_folder_id
from blocks.store.story_files import STORIES
from engine.errors import ConflictError, EngineError, NotFoundError

RUNS = "runs"
"""The folder in that of a story."""

KEPT_RUNS = 50
"""Runs of one story that are kept, the last ones."""

MOST_RECORD_BYTES = 3 * 1024 * 1024
"""One record. Longer texts in it are shortened; what was sent in full is in the story itself."""

SHORTENED_TO = (200_000, 50_000, 10_000, 1_000, 100)
"""Characters that are left of each text, tried in this order until the record fits."""

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
            "error": self.error,
            "asked": dict(self.asked),
            "exchanges": [dict(exchange) for exchange in self.exchanges],
        }


class RunRecords:
    """The records below a data folder. Raises `DataFileError` and `ForbiddenError` for what the disk refuses."""

    def __init__(self, data: Path) -> None:
        """The folder is opened now, and made where it is missing."""
        self._files = DataFiles(data)
        self._rows: dict[Parts, Mapping[str, Any]] = {}

    def save(self, record: RunRecord) -> None:
        """Keep a record, and let the oldest ones go. A story that is gone meanwhile does not come back for it."""
        if not self._files.is_folder((STORIES, record.story)):
            return
        folder = (STORIES, record.story, RUNS)
        written = record.to_json()
        self._files.write((*folder, f"{record.id}.json"), encoded(written))
        self._rows[*folder, f"{record.id}.json"] = _row(written)
        for name in self._names(folder)[:-KEPT_RUNS]:
            self._files.remove((*folder, name))
            self._rows.pop((*folder, name), None)

    def rows(self, story: str) -> tuple[Mapping[str, Any], ...]:
        """What a list shows of each run, the last one first. A record that cannot be read has its id and an error.

        Raises `NotFoundError` for the story.
        """
        folder = self._folder(story)
        return tuple(self._row((*folder, name)) for name in reversed(self._names(folder)))

    def read(self, story: str, run_id: str) -> Mapping[str, Any]:
        """One record, whole. Raises `NotFoundError`, and `ConflictError` for one that cannot be read."""
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
        if not isinstance(value, dict):
            raise ConflictError(f"the record of run {run_id!r} is broken; its file is {'/'.join(parts)!r}")
        return cast("dict[str, Any]", value)

    def _folder(self, story: str) -> Parts:
        require_folder_id("story", story)
        if not self._files.is_folder((STORIES, story)):
            raise NotFoundError(f"there is no story {story!r}; `GET /api/stories` lists them")
        return (STORIES, story, RUNS)

    def _names(self, folder: Parts) -> tuple[str, ...]:
        return tuple(name for name in self._files.names(folder) if _RUN_ID.fullmatch(name.removesuffix(".json")))

    def _row(self, parts: Parts) -> Mapping[str, Any]:
        row = self._rows.get(parts)
        if row is None:
            run_id = parts[-1].removesuffix(".json")
            try:
                row = _row(self.read(parts[1], run_id))
            except EngineError as error:
                return {**dict.fromkeys(_ROW), "id": run_id, "error": str(error)}
            self._rows[parts] = row
        return row


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
