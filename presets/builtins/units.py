"""The presets on units, with which an agent looks at tools that were brought along, and makes some of its own. Values.

All of them are off until somebody turns them on, since what they write runs in the engine with the user's trust.
Source: remote-mcp, "Internal Agent MCP Server".
"""

from __future__ import annotations

from functools import partial

from presets.adapters import ToolAdapter
from presets.agents.mounting import UNITS_GROUP
from presets.builtins.built_in_preset import built_in_preset
from presets.builtins.unit_tools import change_tools, look_tools, run_tests_tool
from presets.definition import DefaultState, PresetDefinition, Risk

_preset = partial(
    built_in_preset,
    group=UNITS_GROUP,
    tool_prefix="unit",
    contexts=({"surface": "any"},),
    default_state=DefaultState.OFF,
)


def adapters() -> tuple[ToolAdapter, ...]:
    """The adapters of every tool that the presets name."""
    return (*look_tools.adapters(), *change_tools.adapters(), *run_tests_tool.adapters())


def presets() -> tuple[PresetDefinition, ...]:
    """The presets, in order of registration."""
    return (
        _preset(
            "unit-look-tools",
            ("list", "resolve", "inspect"),
            prompt="A unit is a folder that brings tools of its own: space_unit_list names them, and says which cannot "
            "be loaded and why.",
        ),
        _preset(
            "unit-read-tools",
            ("read-source", "read-log", "snapshot"),
            risk=Risk.FILESYSTEM_READ,
            prompt="You can read the sources and the logs of units.",
        ),
        _preset(
            "unit-edit-tools",
            ("create", "edit", "apply-patch", "create-source", "restore", "reload"),
            risk=Risk.SHELL,
            prompt="You can write units. What you write is loaded at once and runs in the engine, with all that the "
            "user can do: write only what the user asked for, and test it. unit.py says what a unit contributes: "
            "`from space_unit import Call, ToolError, preset, tool`; an async function with types and a docstring "
            "under @tool is a tool, and a preset(...) lists it. space_unit_create without a source makes an example to "
            "begin with.",
        ),
        _preset(
            "unit-test-tools",
            ("run-tests",),
            risk=Risk.SHELL,
            prompt="You can run the tests of units. Do so after each change, and write a test for what you add.",
        ),
    )
