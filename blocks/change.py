"""What has made a block as it is, or changed it. Owns these values; whoever changes a block records them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ChangeKind = Literal[
    "definition",
    "custom",
    "script",
    "script-error",
    "content",
    "position",
    "neighbour",
    "order",
    "hook",
    "tags",
    "too-large",
]
"""What it was: the agent's `definition`; a `custom` block's text; its `script`, or that one's `script-error`; an
override's `content` or `order`; a `position` in `blockOrder`, or the place beside a `neighbour` of what `blockOrder`
does not name; a plugin's `hook`; fragment `tags` that were expanded; a content that was `too-large`, in whose place
a line says so."""


@dataclass(frozen=True, slots=True)
class Change:
    """One step in the making of a block. `detail` says which: the agent, the mode, the plugin."""

    kind: ChangeKind
    detail: str = ""

    def to_json(self) -> dict[str, str]:
        """`{kind, detail}`."""
        return {"kind": self.kind, "detail": self.detail}


DropReason = Literal["definition-disabled", "override-disabled", "script-blank", "script-no-text", "hook"]
"""Why a block is not in the prompt: one of the two switches, what its script returned, or a plugin's hook."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A block that is not in the prompt, and why. `detail` says more where there is more."""

    id: str
    name: str | None
    reason: DropReason
    detail: str = ""

    def to_json(self) -> dict[str, str | None]:
        """`{id, name, reason, detail}`."""
        return {"id": self.id, "name": self.name, "reason": self.reason, "detail": self.detail}


@dataclass(frozen=True, slots=True)
class ScriptError:
    """A script block that failed, and the whole message: for people, not for the model."""

    id: str
    name: str
    message: str

    def to_json(self) -> dict[str, str]:
        """`{id, name, message}`."""
        return {"id": self.id, "name": self.name, "message": self.message}


@dataclass(frozen=True, slots=True)
class BlockError:
    """A block that could not be made as it is wanted, so that a line stands in its place; and why."""

    id: str
    name: str
    message: str

    def to_json(self) -> dict[str, str]:
        """`{id, name, message}`."""
        return {"id": self.id, "name": self.name, "message": self.message}
