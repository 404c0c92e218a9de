"""The tools that go back and forth in the history of the active world."""

from __future__ import annotations

from engine.world import HistoryMove
from presets.adapters import ToolAdapter, typed_adapter
from presets.app import App, Done
from presets.builtins.drawing_tools.arguments import NoArguments
from presets.schema import ToolResult
from protocol.tool import ToolCall


class HistoryResult(ToolResult):
    """The step that was taken back or done again, and how many of each kind are left."""

    step: str
    undo_count: int
    redo_count: int
    revision: int


def adapters() -> tuple[ToolAdapter, ...]:
    """`drawing.undo` and `drawing.redo`."""
    return (
        typed_adapter(
            id="drawing.undo",
            mcp_name="space_drawing_undo",
            title="Undo",
            description="Take the last step back. Selecting, tools, defaults and the active layer are no steps. "
            "Fails when there is nothing to undo.",
            arguments=NoArguments,
            result=HistoryResult,
            run=_undo,
        ),
        typed_adapter(
            id="drawing.redo",
            mcp_name="space_drawing_redo",
            title="Redo",
            description="Do the step again that was undone last. Fails when there is nothing to redo.",
            arguments=NoArguments,
            result=HistoryResult,
            run=_redo,
        ),
    )


async def _undo(app: App, arguments: NoArguments, call: ToolCall) -> HistoryResult:
    del arguments, call
    return _moved(await app.undo())


async def _redo(app: App, arguments: NoArguments, call: ToolCall) -> HistoryResult:
    del arguments, call
    return _moved(await app.redo())


def _moved(done: Done[HistoryMove]) -> HistoryResult:
    move = done.result
    return HistoryResult(
        step=move.label, undo_count=move.undo_count, redo_count=move.redo_count, revision=done.revision
    )
