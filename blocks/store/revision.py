"""The revision of a document: which content it has, as a short text. Owns how it is made and what a stale one means."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from typing import TypeAlias

from blocks.json_value import JsonValue
from engine.errors import ConflictError

REVISION_CHARACTERS = 20
"""Hexadecimal digits, 80 bits: nobody meets the same one by chance."""

ANY_REVISION = "*"
"""Stands for whatever revision there is."""

BaseRevisions: TypeAlias = Collection[str] | None
"""The revisions that a change may be based on; None where whoever changes something does not say."""


class StaleRevisionError(ConflictError):
    """Raised when a change is based on another revision than the present one. Nothing was changed.

    `revision` is the present one.
    """

    def __init__(self, what: str, revision: str) -> None:
        super().__init__(
            f"{what} has changed since you read it: it is at revision {revision!r} now. "
            "Read it again, and base the change on that"
        )
        self.revision = revision


def revision_of(value: JsonValue) -> str:
    """The revision of a value. Equal values have the same one, however their files are written."""
    text = json.dumps(value.to_json(), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:REVISION_CHARACTERS]


def check_revision(what: str, present: str, base: BaseRevisions) -> None:
    """Raise `StaleRevisionError` unless the present revision is among those of `base`."""
    if base is not None and present not in base and ANY_REVISION not in base:
        raise StaleRevisionError(what, present)
