"""A small list of labelled tools, and the tool that runs programs, for tests of scopes and projections."""

from __future__ import annotations

from dataclasses import replace

from presets.definition import Risk
from presets.presentation import RUN_CODE_NAME
from presets.tool_labels import ToolLabels
from protocol.tool import ToolDefinition
from protocol.tool_list import ToolEntry, ToolList
from tests.presets.samples import tool


def labelled(name: str, preset: str, group: str | None, risk: Risk = Risk.NORMAL) -> ToolDefinition:
    """A tool as a preset offers it."""
    return replace(tool(name), labels=ToolLabels(preset, group, risk).to_mapping())


def listed(*definitions: ToolDefinition, revision: int = 1) -> ToolList:
    """The list of these tools, whether or not a registry would take them."""
    return ToolList.of(revision, {one.name: ToolEntry.of(one) for one in definitions})


TOOLS = listed(
    labelled("space_draw", "shapes", "drawing"),
    labelled("space_erase", "erasing", "drawing", Risk.DESTRUCTIVE),
    labelled("space_bash", "shell", "general", Risk.SHELL),
    labelled("space_read", "files", "general", Risk.FILESYSTEM_READ),
    labelled("space_own", "mine", None),
    tool("space_foreign", owner="somebody"),
)
NAMES = TOOLS.names

RUN_CODE = ToolEntry.of(tool(RUN_CODE_NAME, owner="space"))


def run_code(capabilities: ToolList) -> ToolEntry:
    """The tool that runs programs, the same for everybody."""
    return RUN_CODE
