"""MCP tool annotations of a tool, from its adapter and the risk of the preset that offers it. Owns that rule alone.

Annotations are hints for clients (asking before a call, running calls side by side). They guard nothing: what is
offered is decided by presets.
"""

from __future__ import annotations

from mcp_types import ToolAnnotations

from presets.adapters import ToolAdapter
from presets.definition import Risk

_DESTROYING = frozenset({Risk.FILESYSTEM_WRITE, Risk.DESTRUCTIVE, Risk.SHELL})
"""Risks with which something may be lost that undo does not bring back; writing a file may overwrite one."""


def annotations_of(adapter: ToolAdapter, risk: Risk) -> ToolAnnotations:
    """All four hints, since MCP's defaults for absent ones (destructive, open world) are wrong for most tools here.

    A tool that only reads destroys nothing and may be repeated, whatever its preset's risk. Only a shell reaches
    beyond the engine and its workspace folder.
    """
    destroys = risk in _DESTROYING if adapter.destroys is None else adapter.destroys
    return ToolAnnotations(
        title=adapter.title,
        read_only_hint=adapter.read_only,
        destructive_hint=not adapter.read_only and destroys,
        idempotent_hint=adapter.read_only or adapter.idempotent,
        open_world_hint=risk is Risk.SHELL,
    )
