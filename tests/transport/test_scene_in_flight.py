"""Long work of the scene does not hold up the engine: others are answered, and it can be called off, meanwhile."""

from __future__ import annotations

import json
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from engine.scene.renderer import _Found
from tests.transport.mcp_client import McpClient, call, rpc
from tests.transport.raw_http import BOUND_SECONDS
from tests.transport.running_engine import running_engine
from tests.transport.serving_process import is_running, serving_process
from tests.transport.surface_trial import SurfaceTrial

pytestmark = [pytest.mark.alone, pytest.mark.slow]

BODIES = 2_000
SIDE = 45
"""Bodies along each side of the field that they stand on, two metres apart."""
LARGE = {"width": 640, "height": 480}
ANSWERED = 20
"""Pings that must be answered while one long call is in flight; a free engine answers hundreds."""
PATIENCE_SECONDS = 1.0
"""Longest time for one ping. Measured: 2 ms at the median, some 10 ms at most, where nothing else uses the machine."""

LOOK_SECONDS = 0.01
"""Between two looks at which processes there are, for which there is no event."""

SIMULATE = call("space_scene_simulate", {"seconds": 2, "timestep": 0.002})


def crowd() -> dict[str, Any]:
    """A scene of 2,000 boxes above the ground, as a state."""
    bodies = [
        {
            "id": f"body-{number + 1}",
            "shape": "box",
            "position": [number % SIDE * 2.0 - SIDE, 1.0 + number % 7 / 7, number // SIDE * 2.0 - SIDE],
            "rotation": [1.0, 0.0, 0.0, 0.0],
            "size": [1.0, 1.0, 1.0],
            "color": "#FF0000",
            "mass": 1.0,
            "friction": 0.6,
            "dynamic": True,
        }
        for number in range(BODIES)
    ]
    return {"version": 1, "bodies": bodies}


@pytest.fixture
async def crowded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[SurfaceTrial]:
    """A scene with 2,000 bodies, painted in software."""
    monkeypatch.setenv("MUJOCO_GL", "disable")
    # What other tests have found out on this machine must not count here, nor the other way round.
    monkeypatch.setattr("engine.scene.renderer._found", _Found())
    async with running_engine(tmp_path, built_in=True) as engine:
        context = {"surface": "scene", "activity": "drawing", "canvas_visible": True}
        trial = await SurfaceTrial.entered(engine, "scene", context, LARGE, "scene-state-tools")
        (tmp_path / "workspace" / "crowd.json").write_text(json.dumps(crowd()), encoding="utf-8")
        await trial("restore_state", path="crowd.json")
        await trial("add_terrain", size=200)
        yield trial


async def simulated(crowded: SurfaceTrial) -> None:
    assert (await crowded("simulate", seconds=1, timestep=0.005))["moving_count"] == BODIES


async def seen(crowded: SurfaceTrial) -> None:
    assert (await crowded.picture()).any()


@pytest.mark.parametrize("work", [simulated, pytest.param(seen, marks=pytest.mark.nightly)])
async def test_others_are_answered_while_a_long_call_is_in_flight(
    crowded: SurfaceTrial, work: Callable[[SurfaceTrial], Awaitable[None]]
) -> None:
    other = await crowded.engine.client()
    answered = 0

    async def ping() -> None:
        nonlocal answered
        while True:
            with trio.fail_after(PATIENCE_SECONDS):
                assert (await other.ask("ping"))["result"] == {}
            answered += 1

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ping)
        await work(crowded)
        nursery.cancel_scope.cancel()
    assert answered >= ANSWERED


async def test_a_simulation_that_is_called_off_changes_nothing_and_holds_nothing_up(crowded: SurfaceTrial) -> None:
    client = await crowded.engine.client()
    before, revision = await crowded("inspect", limit=200), await crowded.revision()
    connection = await client.begin(SIMULATE)
    while not (await crowded.rest("GET", "/status"))["calls"]:
        await trio.lowlevel.checkpoint()
    cancelled = rpc("notifications/cancelled", {"requestId": SIMULATE["id"]}, request_id=None)
    assert (await client.post(cancelled)).status == 202
    with trio.fail_after(BOUND_SECONDS):
        while (await crowded.rest("GET", "/status"))["calls"]:
            await trio.lowlevel.checkpoint()
    await connection.finish()
    assert await crowded.revision() == revision
    assert await crowded("inspect", limit=200) == before


async def test_a_simulation_is_refused_when_a_body_came_meanwhile_and_the_body_stays(crowded: SurfaceTrial) -> None:
    client: McpClient = await crowded.engine.client()
    connection = await client.begin(SIMULATE)
    while not (await crowded.rest("GET", "/status"))["calls"]:
        await trio.lowlevel.checkpoint()
    made = await crowded("add_cuboid", y=50)
    with trio.fail_after(6 * BOUND_SECONDS):
        response = await connection.read_response("POST")
    await connection.finish()
    result = response.json["result"]
    assert result["isError"] is True
    assert "changed while it was simulated" in result["content"][0]["text"]
    (kept,) = (await crowded("inspect", ids=[made["body"]["id"]]))["bodies"]
    assert kept["position"]["y"] == 50
    assert (await crowded("inspect"))["revision"] == made["revision"]


async def test_an_engine_that_ends_while_it_looks_for_opengl_leaves_no_process_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    async with serving_process(tmp_path) as engine:
        await engine.send("PATCH", "/api/context", {"surface": "scene"})
        with trio.fail_after(BOUND_SECONDS):
            while not (tries := engine.children()):  # noqa: ASYNC110 - a process of a process has no event
                await trio.sleep(LOOK_SECONDS)
        engine.signal(signal.SIGTERM)
        assert await engine.wait() == 0
        assert not any(map(is_running, tries))
        assert "renderer_found" not in engine.log
