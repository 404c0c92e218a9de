"""The tools that go back and forth in the history of the active world, for every group that offers them.

A world has one history across its surfaces; the drawing has its own names for these tools, as the tables say.
"""

from __future__ import annotations

from engine.world import HistoryMove
from presets.adapters import ToolAdapter, typed_adapter
from presets.app import App, Done
from presets.schema import ToolResult, WriteArguments
from protocol.tool import ToolCall


class HistoryResult(ToolResult):
    """The step that was taken back or done again, and how many of each kind are left."""

    step: str
    undo_count: int
    redo_count: int
    revision: int


def history_adapters(group: str) -> tuple[ToolAdapter, ...]:
    """Undo and redo under the names of a group: `drawing.undo` is `space_drawing_undo`."""
    return (
        typed_adapter(
            id=f"{group}.undo",
            mcp_name=f"space_{group}_undo",
            title="Undo",
            description="Take the last step of this world back, on whatever surface it was made. Selecting, tools, "
            "defaults and the active layer are no steps. Fails when there is nothing to undo.",
            arguments=WriteArguments,
            result=HistoryResult,
            run=_undo,
        ),
        typed_adapter(
            id=f"{group}.redo",
            mcp_name=f"space_{group}_redo",
            title="Redo",
            description="Do the step again that was undone last. Fails when there is nothing to redo.",
            arguments=WriteArguments,
            result=HistoryResult,
            run=_redo,
        ),
    )


async def _undo(app: App, arguments: WriteArguments, call: ToolCall) -> HistoryResult:
    del arguments, call
    return _moved(await app.undo())


async def _redo(app: App, arguments: WriteArguments, call: ToolCall) -> HistoryResult:
    del arguments, call
    return _moved(await app.redo())


def _moved(done: Done[HistoryMove]) -> HistoryResult:
    move = done.result
    return HistoryResult(
        step=move.label, undo_count=move.undo_count, redo_count=move.redo_count, revision=done.revision
    )
