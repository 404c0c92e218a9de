"""What the README says exists, exists; and what exists stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from actors.space import built_in_capabilities
from presets.definition import PresetDefinition

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
CAPABILITIES = built_in_capabilities()
TOOL_NAMES = {adapter.id: adapter.mcp_name for adapter in CAPABILITIES.add_adapters}


@pytest.mark.parametrize("preset", CAPABILITIES.add_presets, ids=lambda preset: preset.name)
def test_every_preset_stands_in_the_table_with_its_default_risk_and_tools(preset: PresetDefinition) -> None:
    (row,) = [line for line in README.splitlines() if line.startswith("|") and f"`{preset.name}`" in line]
    _, _, _, _, default, risk, tools, _ = (cell.strip() for cell in row.split("|"))
    assert (default, risk) == (preset.default_state.value, preset.risk.value)
    listed = [name.removeprefix("…_") for name in re.findall(r"`([^`]+)`", tools)]
    names = [TOOL_NAMES[tool_id] for tool_id in preset.tool_ids]
    assert len(listed) == len(names)
    assert all(
        name.endswith(end) for name, end in zip(sorted(names, key=_last), sorted(listed, key=_last), strict=True)
    )


def _last(name: str) -> str:
    return re.sub(r"^space_[a-z]+_", "", name)


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").glob("*.md")), ids=lambda p: p.name)
def test_every_link_to_a_file_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target
