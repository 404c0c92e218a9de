"""A call of a tool may name the revision it is based on, and be part of a group of steps."""

from __future__ import annotations

import pytest

from presets.builtins import drawing
from protocol.tool import ToolError
from tests.presets.fake_app import FakeApp, call

RECTANGLE = {"shape": "rectangle", "x": 0, "y": 0, "width": 10, "height": 4}


async def revision_after_one_rectangle(app: FakeApp) -> int:
    outcome = await call(app, drawing.adapters(), "space_drawing_insert_shape", **RECTANGLE)
    assert outcome.structured is not None
    return outcome.structured["revision"]


async def test_a_write_on_the_present_revision_is_done() -> None:
    app = FakeApp()
    revision = await revision_after_one_rectangle(app)
    outcome = await call(app, drawing.adapters(), "space_drawing_insert_shape", **RECTANGLE, base_revision=revision)
    assert outcome.structured is not None
    assert outcome.structured["revision"] == revision + 1


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("insert_shape", RECTANGLE),
        ("insert_line", {"x1": 0, "y1": 0, "x2": 5, "y2": 5}),
        ("insert_stroke", {"points": [{"x": 0, "y": 0}, {"x": 5, "y": 5}]}),
        ("set_tool", {"tool": "pen"}),
        ("add_layer", {}),
        ("duplicate_layer", {}),
        ("rename_layer", {"name": "Sky"}),
        ("set_active_layer", {"layer": 1, "visible": False}),
        ("set_defaults", {"opacity": 0.5}),
        ("update_selection_style", {"opacity": 0.5}),
        ("sample_color", {"x": 1, "y": 1}),
        ("select", {"all": True}),
        ("transform_selection", {"dx": 1}),
        ("clear_selection", {}),
        ("delete_selected", {}),
        ("undo", {}),
        ("redo", {}),
    ],
)
async def test_a_write_on_an_older_revision_is_refused_and_changes_nothing(
    tool: str, arguments: dict[str, object]
) -> None:
    app = FakeApp()
    older = await revision_after_one_rectangle(app)
    newer = await revision_after_one_rectangle(app)
    commits = len(app.commits)
    with pytest.raises(ToolError, match=rf"at revision {newer}.* based on revision {older}"):
        await call(app, drawing.adapters(), f"space_drawing_{tool}", **arguments, base_revision=older)
    assert len(app.commits) == commits
    assert app.engine.active_world.revision == newer


async def test_a_tool_of_several_steps_follows_its_own_changes() -> None:
    app = FakeApp()
    revision = await revision_after_one_rectangle(app)
    outcome = await call(app, drawing.adapters(), "space_drawing_sample_color", x=5, y=2, base_revision=revision)
    assert not outcome.is_error
    assert app.engine.active_world.revision == revision + 1


async def test_based_again_the_last_word_counts() -> None:
    app = FakeApp()
    revision = await revision_after_one_rectangle(app)
    again = app.bound(base_revision=0).bound(base_revision=revision)
    outcome = await call(again, drawing.adapters(), "space_drawing_clear_selection")
    assert not outcome.is_error


async def test_calls_of_one_group_are_taken_back_at_once() -> None:
    app = FakeApp()
    await revision_after_one_rectangle(app)
    program = app.bound(step_group="program-1")
    for _ in range(3):
        await call(program, drawing.adapters(), "space_drawing_insert_shape", **RECTANGLE)
    (world_id,) = app.engine.close_group("program-1")
    merged = app.engine.merge_steps(world_id, "program-1", "three more")
    assert (merged.result.steps, merged.result.pieces) == (3, 1)
    outcome = await call(app, drawing.adapters(), "space_drawing_undo")
    assert outcome.structured is not None
    assert (outcome.structured["step"], outcome.structured["undo_count"]) == ("three more", 1)
