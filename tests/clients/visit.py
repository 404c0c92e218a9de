"""The visit that every client makes, in the same steps, at an engine that is a process of its own."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
import trio

from tests.clients.visitor import TOOLS, VisitError, Visitor
from tests.transport.serving_process import ServingProcess, serve_command, serving_process

Arriving = Callable[[str], AbstractAsyncContextManager[Visitor]]
"""Makes a visitor for the endpoint at a URL; the end of the block ends it."""

VISIT_SECONDS = 60.0
"""The most that a visit may take. It takes about five seconds, most of them starts of the engine."""

POLL_SECONDS = 0.02

ON_CANVAS, IN_SCENE, EVERYWHERE = "space_drawing_inspect", "space_scene_inspect", "space_app_switch_surface"
CONTEXT, BASH = "space://context", "space_app_run_bash"


async def visit(folder: Path, arriving: Arriving, version: str, *, sessions: bool) -> None:
    """All of it. `sessions` says whether the restart of the engine ends what the client has, or goes unnoticed."""
    with trio.fail_after(VISIT_SECONDS):
        async with serving_process(folder) as engine:
            url = f"http://127.0.0.1:{engine.port}/mcp"
            async with arriving(url) as visitor:
                assert await visitor.version() == version
                if sessions:
                    # The first word on a session's stream is that there are tools.
                    await visitor.told(TOOLS)
                await _look_around(engine, visitor)
                await _cancel(engine, visitor)
                await _end(engine)
                command = serve_command(folder)
                command[command.index("--port") + 1] = str(engine.port)
                async with serving_process(folder, command=command) as again:
                    if sessions:
                        with pytest.raises(VisitError):
                            await visitor.tools()
                        async with arriving(url) as returned:
                            await returned.told(TOOLS)
                            await _go_on(again, returned)
                    else:
                        await _go_on(again, visitor)
                    # Streams of subscriptions end in order too, or the client would report a lost one.
                    await _end(again)


async def _end(engine: ServingProcess) -> None:
    engine.signal(signal.SIGTERM)
    assert await engine.wait() == 0
    assert "Traceback" not in engine.log


async def _look_around(engine: ServingProcess, visitor: Visitor) -> None:
    tools = await visitor.tools()
    assert {ON_CANVAS, EVERYWHERE} <= {*tools}
    assert IN_SCENE not in tools
    await visitor.call("space_drawing_insert_line", {"x1": 0, "y1": 0, "x2": 40, "y2": 40})
    assert "line" in await visitor.call(ON_CANVAS, {})
    with pytest.raises(VisitError):
        await visitor.call("space_drawing_insert_line", {"x1": "nowhere"})

    assert "space_context" in await visitor.prompts()
    assert await visitor.prompt("space_context")

    assert json.loads(await visitor.read(CONTEXT))["context"]["surface"] == "canvas"
    await visitor.watch(CONTEXT)
    await _go_to(engine, visitor, "scene")
    tools = await visitor.tools()
    assert {IN_SCENE, EVERYWHERE} <= {*tools}
    assert ON_CANVAS not in tools


async def _cancel(engine: ServingProcess, visitor: Visitor) -> None:
    await engine.send("PUT", "/api/presets/general-shell-tools/override", {"state": "on"})
    await visitor.told(TOOLS)
    assert BASH in await visitor.tools()
    await visitor.begin(BASH, {"command": "sleep 50", "timeout_seconds": 55})
    while not (await engine.status())["calls"] or not engine.children():  # noqa: ASYNC110 - another process
        await trio.sleep(POLL_SECONDS)
    await visitor.cancel()
    while (await engine.status())["calls"] or engine.children():  # noqa: ASYNC110 - another process
        await trio.sleep(POLL_SECONDS)
    assert IN_SCENE in await visitor.tools()


async def _go_on(engine: ServingProcess, visitor: Visitor) -> None:
    """The context and what was drawn are as they were, and there is word of changes again."""
    assert json.loads(await visitor.read(CONTEXT))["context"]["surface"] == "scene"
    await visitor.watch(CONTEXT)
    await _go_to(engine, visitor, "canvas")
    assert ON_CANVAS in await visitor.tools()
    assert "line" in await visitor.call(ON_CANVAS, {})


async def _go_to(engine: ServingProcess, visitor: Visitor, surface: str) -> None:
    """Change what the user looks at; the visitor hears of both changes that it makes."""
    await engine.send("PATCH", "/api/context", {"surface": surface})
    await visitor.told(TOOLS)
    await visitor.told(CONTEXT)
    assert json.loads(await visitor.read(CONTEXT))["context"]["surface"] == surface
