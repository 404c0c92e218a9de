"""An engine that is killed in the middle of many edits has kept every one that it acknowledged, in whole files."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.transport.mcp_client import JSON_BODY
from tests.transport.raw_http import ConnectionEndedError, connected
from tests.transport.serving_process import ServingProcess, serving_process

pytestmark = pytest.mark.slow

EDITORS = 100
CONFIG = "/api/agent-blocks/standard"
BOUND_SECONDS = 60.0


async def add(engine: ServingProcess, number: int, acknowledged: set[str]) -> None:
    """One editor that adds a block, and notes it once it is acknowledged."""
    block = {"id": f"cb-{number:04d}", "name": f"Block {number}", "role": "system", "type": "simple"}
    body = json.dumps({**block, "order": number, "enabled": True, "content": "x" * 200}).encode()
    try:
        async with connected(engine.port) as connection:
            response = await connection.request("POST", f"{CONFIG}/custom", JSON_BODY, body)
            assert response.status == 201, response
            acknowledged.add(block["id"])
    except (ConnectionEndedError, trio.BrokenResourceError, OSError):
        return


async def kept(engine: ServingProcess) -> Any:
    response = await engine.request("GET", CONFIG)
    assert response.status == 200, response
    return response.json


@pytest.mark.parametrize("after", [25, *(pytest.param(each, marks=pytest.mark.nightly) for each in (1, 60))])
async def test_every_acknowledged_edit_of_a_hundred_at_once_survives_kill_9(tmp_path: Path, after: int) -> None:
    acknowledged: set[str] = set()
    enough = trio.Event()

    async def edit(engine: ServingProcess, number: int) -> None:
        await add(engine, number, acknowledged)
        if len(acknowledged) >= after:
            enough.set()

    with trio.fail_after(BOUND_SECONDS):
        async with serving_process(tmp_path) as engine, trio.open_nursery() as nursery:
            for number in range(EDITORS):
                nursery.start_soon(edit, engine, number)
            await enough.wait()
            engine.signal(signal.SIGKILL)
            assert await engine.wait() == -signal.SIGKILL
        async with serving_process(tmp_path) as engine:
            found = await kept(engine)
            assert acknowledged <= {block["id"] for block in found["config"]["customBlocks"]}
            assert not found.get("setAside")
