"""A context block, and the message that blocks become. Owns these two values and what an id must not hold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from engine.errors import InvalidArgumentError

Role = Literal["system", "user"]
"""Which message of the prompt a block belongs to."""

MessageRole = Literal["system", "user", "assistant"]
"""Compiling makes the first two; a hook may add the third."""

BUILTIN = "builtin"
"""The source of a block that an agent's definition made."""

CUSTOM = "custom"
"""The source of a block that a user made. Any other source is the name of the plugin."""

SOURCE_SEPARATOR = " src="
"""Between slug and id in a marker, and so in no id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBlock:
    """One block of a prompt. `content` is without its marker; `name` is None where the id is the name.

    `order` sorts within the role and may be negative or a fraction; `source` says who made the block. Raises
    `InvalidArgumentError` for an id that would make its marker ambiguous, and for an order that is no finite number.
    """

    id: str
    role: Role
    content: str
    order: float
    source: str
    name: str | None = None

    def __post_init__(self) -> None:
        if "".join(self.id.splitlines()) != self.id or SOURCE_SEPARATOR in self.id:
            raise InvalidArgumentError(
                f"a block cannot have the id {self.id[:80]!r}: an id has no line breaks and no {SOURCE_SEPARATOR!r}"
            )
        if not math.isfinite(self.order):
            raise InvalidArgumentError(f"block {self.id!r}: order must be a finite number, not {self.order}")


@dataclass(frozen=True, slots=True)
class ContextMessage:
    """One message of a prompt."""

    role: MessageRole
    content: str
