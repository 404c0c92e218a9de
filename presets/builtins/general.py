"""The general presets, offered on every surface: theme, canvas, view, worlds, files, shell, and what can be read.

What can destroy something or reach outside is off until somebody turns it on. Source: agent-presets, "General".
"""

from __future__ import annotations

from functools import partial

from presets.adapters import ToolAdapter
from presets.builtins.built_in_preset import built_in_preset
from presets.builtins.general_prompts import prompts as general_prompts
from presets.builtins.general_resources import resources as general_resources
from presets.builtins.general_tools import context_tools, file_tools, shell_tools, view_tools, world_tools
from presets.builtins.history_tools import history_adapters
from presets.context import FactValue
from presets.definition import DefaultState, PresetDefinition, Risk
from presets.prompt_adapters import PromptAdapter
from presets.resource_adapters import ResourceAdapter

_ANYWHERE: tuple[dict[str, FactValue], ...] = ({"surface": "any"},)
_BEYOND_THE_DRAWING: tuple[dict[str, FactValue], ...] = (
    {"surface": "scene"},
    {"surface": "canvas", "activity": "graph"},
)
"""Where the drawing's own undo is not offered."""

_preset = partial(built_in_preset, group="general", tool_prefix="app", contexts=_ANYWHERE)


def adapters() -> tuple[ToolAdapter, ...]:
    """The adapters of every tool that the presets name."""
    return (
        *context_tools.adapters(),
        *view_tools.adapters(),
        *world_tools.adapters(),
        *file_tools.adapters(),
        *shell_tools.adapters(),
        *history_adapters("app"),
    )


def resources() -> tuple[ResourceAdapter, ...]:
    """The adapters of every resource that the presets name."""
    return general_resources()


def prompts() -> tuple[PromptAdapter, ...]:
    """The adapters of every prompt that the presets name."""
    return general_prompts()


def presets() -> tuple[PresetDefinition, ...]:
    """The presets, in order of registration."""
    return (
        _preset("general-theme-tools", ("set-theme",)),
        _preset(
            "general-canvas-tools",
            ("set-canvas-visible", "set-activity", "switch-surface"),
            prompt="The tools on offer follow what the user is doing. To get at others, go to another surface with "
            "space_app_switch_surface, or choose another activity on the canvas with space_app_set_activity.",
        ),
        _preset(
            "general-view-tools",
            ("capture-view",),
            prompt="space_app_capture_view shows you the current surface as a picture. Look at it after you have "
            "changed something that can be seen.",
        ),
        _preset(
            "general-history-tools",
            ("undo", "redo"),
            contexts=_BEYOND_THE_DRAWING,
            prompt="A world has one history: space_app_undo takes the last step back, whatever it changed.",
        ),
        _preset(
            "general-world-tools",
            ("create-world", "switch-world", "delete-world"),
            risk=Risk.DESTRUCTIVE,
            prompt="You can create worlds and go from one to another. Deleting a world cannot be undone: do it only "
            "when the user asked for it.",
        ),
        _preset(
            "general-file-read-tools",
            ("read-file", "list-files", "search"),
            risk=Risk.FILESYSTEM_READ,
            prompt="You can list, search and read the files of the workspace folder.",
        ),
        _preset(
            "general-file-write-tools",
            ("write-file",),
            risk=Risk.FILESYSTEM_WRITE,
            prompt="You can write files in the workspace folder. Writing replaces a file: read it first.",
        ),
        PresetDefinition(
            name="general-resources",
            group="general",
            default_state=DefaultState.AUTO,
            risk=Risk.NORMAL,
            contexts=_ANYWHERE,
            tool_ids=(),
            resource_ids=tuple(adapter.id for adapter in resources()),
            prompt_ids=tuple(adapter.id for adapter in prompts()),
        ),
        _preset(
            "general-shell-tools",
            ("run-bash",),
            risk=Risk.SHELL,
            prompt="You can run shell commands in the workspace folder. They can do whatever the user can: be careful "
            "with what cannot be undone.",
        ),
    )
