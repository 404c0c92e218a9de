"""`kill -9` at random moments of a session in the scene loses nothing that was acknowledged, over REST and over MCP."""

from __future__ import annotations

import json
import random
import signal
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.transport.mcp_client import JSON_BODY, McpClient
from tests.transport.raw_http import ConnectionEndedError
from tests.transport.serving_process import ServingProcess, serving_process

pytestmark = pytest.mark.slow

SEED = 20260303
KILLS = 6
MOST_CALLS = 12
"""Before the one during which the engine is killed."""
LONGEST_WAIT = 0.012
"""Seconds from sending that one to the kill; it takes about half of that, so either may be first."""

_Caller = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]

UNDO, REDO = "space_app_undo", "space_app_redo"
TERRAIN: tuple[str, dict[str, Any]] = ("space_scene_add_terrain", {"kind": "perlin", "seed": 14, "samples": 17})


class SceneSession:
    """Calls of a session, each over REST or MCP as chance has it."""

    def __init__(self, engine: ServingProcess, client: McpClient, chance: random.Random) -> None:
        self._engine = engine
        self._client = client
        self._chance = chance
        self._steps = 0

    async def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The structured result of a call, which must be a success. Raises when the engine goes away meanwhile."""
        way: _Caller = self._over_rest if self._chance.random() < 0.5 else self._over_mcp
        return await way(tool, arguments)

    async def state(self) -> dict[str, Any]:
        """The whole scene."""
        return (await self.call("space_scene_get_state", {}))["state"]

    async def revision(self) -> int:
        """The revision of the world."""
        return (await self.call("space_scene_inspect", {}))["revision"]

    def next_call(self) -> tuple[str, dict[str, Any]]:
        """What the session does next; each is one step forward or back. What stood at its beginning is left alone."""
        chance = self._chance
        place = {axis: chance.uniform(-8, 8) for axis in ("x", "z")}
        calls: list[tuple[str, dict[str, Any]]] = [
            ("space_scene_add_cuboid", {**place, "y": chance.uniform(2, 5), "yaw": chance.uniform(0, 90)}),
            ("space_scene_add_physics_body", {"shape": "sphere", **place, "y": chance.uniform(2, 5)}),
            ("space_scene_simulate", {"seconds": 0.2}),
            ("space_scene_set_camera", {**place, "y": 9}),
        ]
        tool, arguments = chance.choice([*calls, (UNDO, {})] if self._steps else calls)
        self._steps += -1 if tool == UNDO else 1
        return tool, arguments

    async def _over_rest(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        body = json.dumps(arguments).encode()
        response = await self._engine.request("POST", f"/api/tools/{tool}/call", JSON_BODY, body)
        assert response.json["is_error"] is False, response
        return response.json["structured_content"]

    async def _over_mcp(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        result = await self._client.call(tool, arguments)
        assert not result.get("isError"), result
        return result["structuredContent"]


async def begun(engine: ServingProcess, chance: random.Random) -> SceneSession:
    """A session whose user is at the scene."""
    await engine.send("PUT", "/api/context", {"surface": "scene", "activity": "drawing", "canvas_visible": True})
    await engine.send("PUT", "/api/presets/scene-state-tools/override", {"state": "on"})
    return SceneSession(engine, await McpClient.initialized(engine.port), chance)


async def killed_during(engine: ServingProcess, work: Callable[[], Awaitable[dict[str, Any]]], after: float) -> Any:
    """Kill the engine that many seconds after the work has begun. What the work gave, or None where it was cut off."""
    result: dict[str, Any] | None = None

    async def kill() -> None:
        await trio.sleep(after)
        engine.signal(signal.SIGKILL)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(kill)
        try:
            result = await work()
        except (ConnectionEndedError, OSError, trio.BrokenResourceError):
            result = None
    assert await engine.wait() == -signal.SIGKILL
    return result


@pytest.mark.nightly
async def test_what_was_acknowledged_in_a_scene_survives_kill_9(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    outcomes: list[str] = []
    async with AsyncExitStack() as engines:
        engine = await engines.enter_async_context(serving_process(tmp_path))
        session = await begun(engine, chance)
        await session.call(*TERRAIN)
        await session.call("space_scene_add_cuboid", {"y": 5})
        for _ in range(KILLS):
            for _ in range(chance.randrange(MOST_CALLS)):
                await session.call(*session.next_call())
            state, revision = await session.state(), await session.revision()
            tool, arguments = session.next_call()
            answer = await killed_during(
                engine, partial(session.call, tool, arguments), chance.uniform(0, LONGEST_WAIT)
            )
            engine = await engines.enter_async_context(serving_process(tmp_path))
            session = await begun(engine, chance)
            after, now = await session.state(), await session.revision()
            if now == revision:
                assert answer is None, "what was acknowledged is gone"
                assert after == state
                outcomes.append("not done")
                continue
            assert now == revision + 1, "the last call is there as a whole, and nothing else"
            assert answer is None or answer["revision"] == now
            outcomes.append("acknowledged" if answer else "done, and not acknowledged")
            back, again = (REDO, UNDO) if tool == UNDO else (UNDO, REDO)
            await session.call(back, {})
            assert await session.state() == state
            await session.call(again, {})
            assert await session.state() == after != state
    assert len(set(outcomes)) > 1, f"every kill came at the same moment of a call: {outcomes}"
