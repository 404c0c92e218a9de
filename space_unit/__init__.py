"""What the author of a unit imports: `from space_unit import Call, preset, tool`. Owns these names and nothing else.

A unit is a folder with `unit.toml`, `unit.py` and tests. What stands in `unit.py` under any name is what the unit
contributes; see docs/units.md.
"""

from __future__ import annotations

from blocks.block import ContextBlock as Block
from blocks.block import ContextMessage as Message
from blocks.context import AgentBlockContext as BlockContext
from presets.definition import Risk
from protocol.tool import ToolError, ToolOutcome
from space_unit.authoring import (
    before_blocks,
    before_context,
    before_generation,
    context_facts,
    preset,
    prompt_block,
    tool,
)
from space_unit.call import Call

__all__ = [
    "Block",
    "BlockContext",
    "Call",
    "Message",
    "Risk",
    "ToolError",
    "ToolOutcome",
    "before_blocks",
    "before_context",
    "before_generation",
    "context_facts",
    "preset",
    "prompt_block",
    "tool",
]
