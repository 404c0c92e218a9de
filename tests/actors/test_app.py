"""The engine as a tool sees it: what it did is durable, and the context has followed, when a call returns."""

from __future__ import annotations

import base64
import threading
from pathlib import Path

import pytest
import trio

from actors.app import RunningApp
from actors.calls import run_tool
from actors.space import Space, built_in_capabilities
from engine.commands import CreateWorld, SetTheme, SwitchWorld
from engine.drawing.insert import InsertBox
from engine.errors import ConflictError, ForbiddenError, NotFoundError
from engine.shell import ShellCommand
from engine.theme import THEMES
from engine.view import ViewBox, ViewRequest
from protocol.prepared_call import PreparedCall
from protocol.tool import ToolOutcome
from tests.actors.fakes import MemoryStore, running, text_of
from tests.presets.fake_app import SilentCall

RECTANGLE = InsertBox(kind="rectangle", x=0, y=0, width=20, height=10)


async def test_before_the_engine_has_started_the_app_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="before the engine has started"):
        await RunningApp(tmp_path).get_context()


async def test_a_command_is_durable_and_the_context_has_followed_when_it_returns(
    space: Space, store: MemoryStore
) -> None:
    async with running(space):
        done = await space.app.execute(RECTANGLE)
        assert (done.changed, done.revision, len(store.commits)) == (True, 1, 1)
        assert (await space.app.get_context()).selection_kind == "drawing-object"
        made = await space.app.execute(CreateWorld("yard", activate=True))
        context = await space.app.get_context()
        assert (context.world_id, context.selection_kind) == (made.result.id, None)


async def test_a_step_is_undone_and_done_again(space: Space) -> None:
    async with running(space):
        await space.app.execute(RECTANGLE)
        assert (await space.app.undo()).changed
        assert (await space.app.get_context()).selection_kind is None
        assert (await space.app.redo()).changed
        with pytest.raises(ConflictError, match="nothing to redo"):
            await space.app.redo()


async def test_what_the_engine_refuses_is_raised_as_itself(space: Space) -> None:
    async with running(space):
        with pytest.raises(NotFoundError, match="world-9"):
            await space.app.execute(SwitchWorld("world-9"))
        with pytest.raises(ForbiddenError):
            await space.app.in_thread(lambda: space.app.files.read_text("../secret"))


async def test_many_commands_at_once_leave_the_context_as_the_engine_is(space: Space) -> None:
    async with running(space):
        async with trio.open_nursery() as nursery:
            for number in range(10):
                nursery.start_soon(space.app.execute, SwitchWorld(f"world-{1 + number % 2}"))
                nursery.start_soon(space.app.execute, RECTANGLE)
        context, facts = await space.app.get_context(), space.world.facts.value
        assert (context.world_id, context.selection_kind) == (facts.world_id, facts.selection_kind)


async def test_a_view_is_a_picture_of_the_drawing_at_its_revision(space: Space) -> None:
    async with running(space):
        await space.app.execute(RECTANGLE)
        view = await space.app.capture_view(ViewRequest(width=64, height=48, box=ViewBox(0, 0, 20, 15)))
        assert view.png.startswith(b"\x89PNG\r\n\x1a\n")
        assert (view.width, view.height, view.surface) == (64, 48, "canvas")
        assert (view.world_id, view.revision) == ("world-1", 1)


async def test_the_drawing_is_given_as_svg_on_the_background_of_the_theme(space: Space) -> None:
    async with running(space):
        await space.app.execute(RECTANGLE)
        await space.app.execute(SetTheme("light"))
        svg = await space.app.render_svg()
        assert svg.startswith("<svg")
        assert THEMES["light"].background.lower() in svg.lower()


async def test_a_surface_without_a_picture_is_refused_with_the_one_that_has_it(space: Space) -> None:
    async with running(space):
        await space.app.patch_context({"surface": "cinema"})
        with pytest.raises(ConflictError, match=r"'cinema' has nothing to show.*'canvas'"):
            await space.app.capture_view(ViewRequest())
        with pytest.raises(ConflictError, match="'ballroom'"):
            await space.app.render_svg("ballroom")
        assert (await space.app.render_svg("canvas")).startswith("<svg")


async def test_a_shell_command_runs_in_the_workspace_and_never_sees_the_token(
    space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPACE_TOKEN", "secret")
    monkeypatch.setenv("SPACE_OTHER", "seen")
    async with running(space):
        result = await space.app.run_shell(ShellCommand(command="pwd; env | grep -E '^SPACE_(TOKEN|OTHER)='"))
        assert result.stdout == f"{space.app.files.root}\nSPACE_OTHER=seen\n"


async def test_a_caller_that_is_cancelled_does_not_wait_for_its_thread(space: Space) -> None:
    entered, release, ended = trio.Event(), threading.Event(), threading.Event()

    def work() -> None:
        trio.from_thread.run_sync(entered.set)
        release.wait(5)
        ended.set()

    async with running(space):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(space.app.in_thread, work)
            await entered.wait()
            nursery.cancel_scope.cancel()
        assert not ended.is_set()
        release.set()
        await trio.to_thread.run_sync(ended.wait)


async def call(space: Space, name: str, /, **arguments: object) -> ToolOutcome:
    entry = space.catalog.tools.value.get(name)
    assert entry is not None, f"{name} is not offered now"
    return await run_tool(PreparedCall(entry, arguments), SilentCall())


async def test_a_tool_that_moves_the_user_returns_when_the_tools_have_followed(space: Space) -> None:
    async with running(space, built_in_capabilities()):
        outcome = await call(space, "space_app_switch_surface", surface="scene")
        assert outcome.structured is not None
        assert outcome.structured["surface"] == "scene"
        assert space.catalog.tools.value.get("space_drawing_insert_shape") is None
        outcome = await call(space, "space_app_set_activity", activity="drawing")
        assert space.catalog.tools.value.get("space_drawing_insert_shape") is not None


async def test_an_agent_draws_and_sees_what_it_drew(space: Space) -> None:
    async with running(space, built_in_capabilities()):
        drawn = await call(space, "space_drawing_insert_shape", shape="rectangle", x=0, y=0, width=20, height=10)
        assert not drawn.is_error, text_of(drawn)
        seen = await call(space, "space_app_capture_view", width=64, height=64)
        (image,) = [block for block in seen.content if block.type == "image"]
        assert base64.b64decode(image.data).startswith(b"\x89PNG")
