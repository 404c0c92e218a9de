"""The six functions for lists of blocks that hooks and builders use. All are pure: the list that they get stays.

Ids are compared exactly. None of them looks at `order`: it decides where a block stands in the prompt, and the place in
the list only between equals.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from blocks.block import ContextBlock


def find_block(blocks: Iterable[ContextBlock], block_id: str) -> ContextBlock | None:
    """The first block with that id, or None."""
    return next((block for block in blocks if block.id == block_id), None)


def replace_block_content(blocks: Iterable[ContextBlock], block_id: str, content: str) -> tuple[ContextBlock, ...]:
    """The blocks, with this content in every block of that id."""
    return tuple(replace(block, content=content) if block.id == block_id else block for block in blocks)


def remove_block(blocks: Iterable[ContextBlock], block_id: str) -> tuple[ContextBlock, ...]:
    """The blocks without those of that id."""
    return tuple(block for block in blocks if block.id != block_id)


def insert_block_before(
    blocks: Iterable[ContextBlock], target_id: str, block: ContextBlock
) -> tuple[ContextBlock, ...]:
    """The blocks, with this one ahead of the first of that id, or at the end where there is none."""
    return _inserted(tuple(blocks), target_id, block, 0)


def insert_block_after(blocks: Iterable[ContextBlock], target_id: str, block: ContextBlock) -> tuple[ContextBlock, ...]:
    """The blocks, with this one behind the first of that id, or at the end where there is none."""
    return _inserted(tuple(blocks), target_id, block, 1)


def reorder_block(blocks: Iterable[ContextBlock], block_id: str, order: float) -> tuple[ContextBlock, ...]:
    """The blocks, with this order in every block of that id; their places in the list stay."""
    return tuple(replace(block, order=order) if block.id == block_id else block for block in blocks)


def _inserted(
    blocks: tuple[ContextBlock, ...], target_id: str, block: ContextBlock, offset: int
) -> tuple[ContextBlock, ...]:
    at = next((index + offset for index, one in enumerate(blocks) if one.id == target_id), len(blocks))
    return (*blocks[:at], block, *blocks[at:])
