"""Where each block of a compiled prompt comes from, how large it is, and where it stands. Owns that report.

A preview is split by these places and not by looking for markers, so that it shows exactly what was compiled.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from blocks.block import ContextBlock, ContextMessage, Role
from blocks.change import BlockError, Change, Dropped, ScriptError
from blocks.compile import Compiled
from blocks.hooks import Step
from blocks.prose import utf16_units
from blocks.tokens import estimated_tokens


@dataclass(frozen=True, slots=True)
class Place:
    """From where to where a block goes in the message of its role, its marker included.

    `start` and `end` count code points, as Python does; `utf16_start` and `utf16_end` count as JavaScript does.
    """

    start: int
    end: int
    utf16_start: int
    utf16_end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockReport:
    """One block of a compiled prompt. `tokens` is an estimate and counts the marker too.

    `place` is None where a hook has changed the final message, so that the block need not be there any more.
    """

    id: str
    name: str
    role: Role
    source: str
    order: float
    changes: tuple[Change, ...]
    tokens: int
    place: Place | None

    def to_json(self) -> dict[str, Any]:
        """The report as JSON; `start` and `end` count UTF-16 units, as whoever reads JSON in a browser does."""
        return {
            "id": self.id,
            "name": self.name,
            "role": self.role,
            "source": self.source,
            "order": self.order,
            "changes": [change.to_json() for change in self.changes],
            "tokens": self.tokens,
            "start": None if self.place is None else self.place.utf16_start,
            "end": None if self.place is None else self.place.utf16_end,
        }


@dataclass(frozen=True, slots=True)
class ContextReport:
    """All blocks, system first and then by order; what is not there; what failed; whose hook changed a message."""

    blocks: tuple[BlockReport, ...]
    dropped: tuple[Dropped, ...] = ()
    script_errors: tuple[ScriptError, ...] = ()
    message_hooks: tuple[str, ...] = ()
    block_errors: tuple[BlockError, ...] = ()

    @property
    def tokens(self) -> int:
        """The estimate for all blocks."""
        return sum(block.tokens for block in self.blocks)

    def to_json(self) -> dict[str, Any]:
        """`{blocks, blockCount, tokens, dropped, scriptErrors, blockErrors, messageHooks}`."""
        return {
            "blocks": [block.to_json() for block in self.blocks],
            "blockCount": len(self.blocks),
            "tokens": self.tokens,
            "dropped": [one.to_json() for one in self.dropped],
            "scriptErrors": [one.to_json() for one in self.script_errors],
            "blockErrors": [one.to_json() for one in self.block_errors],
            "messageHooks": list(self.message_hooks),
        }


@dataclass(frozen=True, slots=True)
class Traced:
    """Blocks, and what each is made of, in the same order; and those that hooks have taken away."""

    blocks: tuple[ContextBlock, ...]
    changes: tuple[tuple[Change, ...], ...]
    dropped: tuple[Dropped, ...] = field(default=())


def trace_hooks(traced: Traced, steps: Sequence[Step]) -> Traced:
    """What has become of the blocks in the hooks. One that a hook gives back as it was has no change by it."""
    for step in steps:
        traced = _after(traced, step)
    return traced


def _after(traced: Traced, step: Step) -> Traced:
    left = list(range(len(traced.blocks)))
    changes: list[tuple[Change, ...]] = []
    for block in step.after:
        same = next((index for index in left if traced.blocks[index] == block), None)
        index = same if same is not None else next((at for at in left if traced.blocks[at].id == block.id), None)
        made = () if index is None else traced.changes[index]
        changes.append(made if same is not None else (*made, Change("hook", step.plugin)))
        if index is not None:
            left.remove(index)
    gone = tuple(Dropped(traced.blocks[at].id, traced.blocks[at].name, "hook", step.plugin) for at in left)
    return Traced(step.after, tuple(changes), (*traced.dropped, *gone))


def report_blocks(
    compiled: Compiled, changes: Sequence[tuple[Change, ...]], unchanged: Collection[ContextMessage]
) -> tuple[BlockReport, ...]:
    """The report of each block. `changes` are by the index of the block; `unchanged` are the messages that stand."""
    texts = {message.role: message.content for message in compiled.messages}
    standing = {message.role for message in compiled.messages if message in unchanged}
    reports: list[BlockReport] = []
    units: dict[Role, tuple[int, int]] = {}  # how far has been counted, in code points and in UTF-16 units
    for placed in compiled.placed:
        block, text = placed.block, texts[placed.block.role]
        counted, at = units.get(block.role, (0, 0))
        start = at + utf16_units(text[counted : placed.start])
        end = start + utf16_units(text[placed.start : placed.end])
        units[block.role] = (placed.end, end)
        reports.append(
            BlockReport(
                id=block.id,
                name=block.name or block.id,
                role=block.role,
                source=block.source,
                order=block.order,
                changes=changes[placed.index],
                tokens=estimated_tokens(text[placed.start : placed.end]),
                place=Place(placed.start, placed.end, start, end) if block.role in standing else None,
            )
        )
    return tuple(reports)
