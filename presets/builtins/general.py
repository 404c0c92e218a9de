"""The general presets, offered on every surface: theme, canvas, view, worlds, files and shell. Plain values.

What can destroy something or reach outside is off until somebody turns it on. Source: agent-presets, "General".
"""

from __future__ import annotations

from presets.adapters import ToolAdapter
from presets.builtins.general_tools import context_tools, file_tools, shell_tools, view_tools, world_tools
from presets.builtins.history_tools import history_adapters
from presets.context import FactValue
from presets.definition import DefaultState, PresetDefinition, Risk

_GROUP = "general"
_ANYWHERE: tuple[dict[str, FactValue], ...] = ({"surface": "any"},)
_BEYOND_THE_DRAWING: tuple[dict[str, FactValue], ...] = (
    {"surface": "scene"},
    {"surface": "canvas", "activity": "graph"},
)
"""Where the drawing's own undo is not offered."""


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


def presets() -> tuple[PresetDefinition, ...]:
    """The presets, in order of registration."""
    return (
        _preset("general-theme-tools", Risk.NORMAL, ("app.set-theme",)),
        _preset(
            "general-canvas-tools",
            Risk.NORMAL,
            ("app.set-canvas-visible", "app.set-activity", "app.switch-surface"),
            "The tools on offer follow what the user is doing. To get at others, go to another surface with "
            "space_app_switch_surface, or choose another activity on the canvas with space_app_set_activity.",
        ),
        _preset(
            "general-view-tools",
            Risk.NORMAL,
            ("app.capture-view",),
            "space_app_capture_view shows you the current surface as a picture. Look at it after you have changed "
            "something that can be seen.",
        ),
        _preset(
            "general-history-tools",
            Risk.NORMAL,
            ("app.undo", "app.redo"),
            "A world has one history: space_app_undo takes the last step back, whatever it changed.",
            contexts=_BEYOND_THE_DRAWING,
        ),
        _preset(
            "general-world-tools",
            Risk.DESTRUCTIVE,
            ("app.create-world", "app.switch-world", "app.delete-world"),
            "You can create worlds and go from one to another. Deleting a world cannot be undone: do it only when the "
            "user asked for it.",
        ),
        _preset(
            "general-file-read-tools",
            Risk.FILESYSTEM_READ,
            ("app.read-file", "app.list-files", "app.search"),
            "You can list, search and read the files of the workspace folder.",
        ),
        _preset(
            "general-file-write-tools",
            Risk.FILESYSTEM_WRITE,
            ("app.write-file",),
            "You can write files in the workspace folder. Writing replaces a file: read it first.",
        ),
        _preset(
            "general-shell-tools",
            Risk.SHELL,
            ("app.run-bash",),
            "You can run shell commands in the workspace folder. They can do whatever the user can: be careful with "
            "what cannot be undone.",
        ),
    )


def _preset(
    name: str,
    risk: Risk,
    tool_ids: tuple[str, ...],
    system_prompt: str | None = None,
    *,
    contexts: tuple[dict[str, FactValue], ...] = _ANYWHERE,
) -> PresetDefinition:
    return PresetDefinition(
        name=name,
        group=_GROUP,
        default_state=DefaultState.AUTO if risk is Risk.NORMAL else DefaultState.OFF,
        risk=risk,
        contexts=contexts,
        tool_ids=tool_ids,
        system_prompt=system_prompt,
    )
