"""Agents' folders on disk, and the engine's own capabilities, for tests of the roster."""

from __future__ import annotations

from pathlib import Path

from presets.agents.mounting import KnownCapabilities
from presets.builtins import drawing, general, graph, scene

BUILTINS = (drawing, graph, scene, general)
KNOWN = KnownCapabilities(
    tools=frozenset(adapter.mcp_name for group in BUILTINS for adapter in group.adapters()),
    presets=frozenset(preset.name for group in BUILTINS for preset in group.presets()),
    groups=frozenset(preset.group for group in BUILTINS for preset in group.presets() if preset.group),
)
"""What a fresh engine knows."""


def write_agent(root: Path, agent_id: str, composition: str | bytes | None, preset: str | None = None) -> Path:
    """An agent's folder with these files; None leaves one out."""
    folder = root / agent_id
    folder.mkdir(parents=True)
    if composition is not None:
        text = composition if isinstance(composition, bytes) else composition.encode()
        (folder / "composition.yml").write_bytes(text)
    if preset is not None:
        (folder / "preset.yml").write_text(preset, encoding="utf-8")
    return folder
