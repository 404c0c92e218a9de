"""How programs end that do not end by themselves: cancelled, left, cut off with the engine, killed with it.

What they have done stays, as one step; nothing that they took stays. Source: tool-presentation; findings on Code Mode.
"""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest
import trio

from actors.program_log import KEPT_PROGRAMS
from presets.agents.definition import Trust, UnusableAgent
from tests.transport.code_trial import (
    PATIENCE_SECONDS,
    RECTANGLE,
    RUN_CODE,
    WAIT,
    Coder,
    Trial,
    engine_on_trial,
    texts,
    undo_count,
    until_idle,
)
from tests.transport.mcp_client import LIST_CHANGED, McpClient, call, rpc
from tests.transport.running_engine import RunningEngine
from tests.transport.serving_process import ServingProcess, is_running, open_files, serving_process

pytestmark = pytest.mark.slow


@pytest.fixture
def trial() -> Trial:
    return Trial()


@pytest.fixture
async def engine(tmp_path: Path, trial: Trial) -> AsyncGenerator[RunningEngine]:
    async with engine_on_trial(tmp_path, trial) as running:
        yield running


@pytest.fixture
async def coder(engine: RunningEngine) -> Coder:
    return Coder(engine, await engine.client(endpoint="/mcp/code"))


async def test_a_cancelled_program_is_killed_and_frees_everything(coder: Coder, trial: Trial) -> None:
    connection = await coder.begin(f"await {RECTANGLE}; await {RECTANGLE}; await tools.{WAIT}({{}}); await {RECTANGLE}")
    with trio.fail_after(PATIENCE_SECONDS):
        await trial.waiting.acquire()
        await coder.client.post(rpc("notifications/cancelled", {"requestId": 7}, None))
        await trial.cancelled.acquire()  # [159]
        answer = (await connection.read_response("POST")).json
    await connection.finish()
    assert "cancelled" in answer["error"]["message"]
    await until_idle(coder.engine)
    assert await undo_count(coder.engine) == 1
    record = coder.engine.space.programs.log.latest()[0]
    assert (record.failure, record.steps) == ("abort: the program was cancelled", 1)
    assert [each.error for each in record.calls] == [None, None, "cut off"]
    assert record.seconds is not None
    assert await coder.text("return 'next'") == "next"


async def test_a_loop_without_end_is_killed_when_it_is_cancelled(coder: Coder) -> None:
    await coder.run("return 1")
    connection = await coder.begin("console.log('begun'); while (true) {}")
    runtime = coder.engine.space.programs.runtime
    with trio.fail_after(PATIENCE_SECONDS):
        while not runtime.status().leases:  # noqa: ASYNC110 - the start of a run has no event
            await trio.sleep(0.005)
        await trio.sleep(0.05)
        await coder.client.post(rpc("notifications/cancelled", {"requestId": 7}, None))
        await connection.read_response("POST")
    await connection.finish()
    await until_idle(coder.engine)


@pytest.mark.parametrize("how", ["finish", "reset"])
async def test_a_program_whose_client_is_gone_is_killed(coder: Coder, trial: Trial, how: str) -> None:
    connection = await coder.begin(f"await {RECTANGLE}; await tools.{WAIT}({{}})")
    with trio.fail_after(PATIENCE_SECONDS):
        await trial.waiting.acquire()
        await getattr(connection, how)()
        await trial.cancelled.acquire()
    await until_idle(coder.engine)
    assert await undo_count(coder.engine) == 1


async def test_at_whatever_moment_a_program_is_cancelled_nothing_of_it_stays(coder: Coder, trial: Trial) -> None:
    await coder.run("return 1")
    await until_idle(coder.engine)
    files, tasks = open_files(os.getpid()), trio.lowlevel.current_statistics().tasks_living
    for number in range(30):
        connection = await coder.begin(f"await {RECTANGLE}; await tools.{WAIT}({{}})", number)
        # From before the check to long after the start: a run takes some sixty milliseconds to come to its call.
        await trio.sleep(number * 0.004)
        if number % 2:
            await connection.reset()
        else:
            await coder.client.post(rpc("notifications/cancelled", {"requestId": number}, None))
            await connection.read_response("POST")
            await connection.finish()
    await until_idle(coder.engine)
    records = coder.engine.space.programs.log.latest()
    assert await undo_count(coder.engine) == sum(record.steps for record in records)
    assert all(record.seconds is not None for record in records)
    assert (open_files(os.getpid()) - files).total() < 10
    assert trio.lowlevel.current_statistics().tasks_living - tasks < 10
    assert await coder.text("return 'next'") == "next"


async def test_a_program_whose_process_is_killed_from_outside_is_an_error_and_the_next_one_runs(
    coder: Coder, trial: Trial
) -> None:
    connection = await coder.begin(f"await {RECTANGLE}; await tools.{WAIT}({{}})")
    with trio.fail_after(PATIENCE_SECONDS):
        await trial.waiting.acquire()
        for pid in coder.engine.space.programs.runtime.status().runners:
            os.kill(pid, signal.SIGKILL)
        await trial.cancelled.acquire()
    result = (await connection.read_response("POST")).json["result"]
    await connection.finish()
    assert texts(result)[0].startswith("worker-exit: the process that ran the program ended (signal 9)")  # [378]
    assert "space_drawing_insert_shape (ok), space_try_wait (cut off)" in texts(result)[0]
    assert await undo_count(coder.engine) == 1
    assert await coder.text("return 'next'") == "next"


async def test_a_program_whose_session_is_deleted_is_killed(coder: Coder, trial: Trial) -> None:
    connection = await coder.begin(f"await tools.{WAIT}({{}})")
    with trio.fail_after(PATIENCE_SECONDS):
        await trial.waiting.acquire()
        assert (await coder.client.delete()).status == 204
        await trial.cancelled.acquire()
    await connection.finish()
    await until_idle(coder.engine)


async def test_an_engine_that_ends_kills_a_program_and_keeps_what_it_did_as_one_step(
    coder: Coder, trial: Trial, tmp_path: Path
) -> None:
    connection = await coder.begin(f"await {RECTANGLE}; await {RECTANGLE}; await tools.{WAIT}({{}})")
    with trio.fail_after(PATIENCE_SECONDS):
        await trial.waiting.acquire()
    runners = coder.engine.space.programs.runtime.status().runners
    assert runners
    assert await coder.engine.end() is False
    assert await undo_count(coder.engine) == 1
    with trio.fail_after(PATIENCE_SECONDS):
        while coder.engine.space.programs.runtime.status().runners:  # noqa: ASYNC110 - see above
            await trio.sleep(0.005)
    await connection.finish()


async def test_a_program_over_the_single_stream_is_cancelled_by_its_id_and_by_the_end_of_the_stream(
    tmp_path: Path, trial: Trial
) -> None:
    async with engine_on_trial(tmp_path, trial, force_sse=True) as engine:
        for request_id in (1, 2):
            client = await engine.sse_client("/mcp/code")
            program = {"code": f"await {RECTANGLE}; await tools.{WAIT}({{}})", "description": "try"}
            assert (await client.post(call(RUN_CODE, program, request_id))).status == 202
            with trio.fail_after(PATIENCE_SECONDS):
                await trial.waiting.acquire()
                if request_id == 1:
                    await client.post(rpc("notifications/cancelled", {"requestId": 1}, None))
                    assert await client.stream.next_message() == LIST_CHANGED
                    assert "cancelled" in (await client.stream.next_message())["error"]["message"]
                await client.stream.finish()
                await trial.cancelled.acquire()
            await until_idle(engine)
            assert await undo_count(engine) == request_id


async def test_a_program_whose_agent_breaks_meanwhile_is_told_why_and_keeps_what_it_did(
    coder: Coder, trial: Trial
) -> None:
    agents = coder.engine.space.agents
    connection = await coder.begin(f"await {RECTANGLE}; await tools.{WAIT}({{}}); await {RECTANGLE}")
    with trio.fail_after(PATIENCE_SECONDS):
        await trial.waiting.acquire()
    before = agents.agents.value
    broken = UnusableAgent(id="code", path=Path("code"), trust=Trust.SHIPPED, reason="there is no runtime any more")
    usable = tuple(agent for agent in before.roster.agents if agent.id != "code")
    views = {name: view for name, view in before.views.items() if name != "code"}
    agents.agents.publish(
        replace(before, roster=replace(before.roster, agents=usable, unusable=(broken,)), views=views)
    )
    trial.go.set()
    result = (await connection.read_response("POST")).json["result"]
    await connection.finish()
    assert "there is no runtime any more" in texts(result)[0]
    assert await undo_count(coder.engine) == 1


# As a process


PROGRAM_THAT_STAYS = f"await {RECTANGLE}; await {RECTANGLE}; await new Promise(() => {{}})"
PROGRAM_THAT_LOOPS = f"await {RECTANGLE}; await {RECTANGLE}; while (true) {{}}"


def descendants(pid: int) -> list[int]:
    """Every process below this one that runs now."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (task / "children").read_text().split()):
            found += [child, *descendants(child)] if is_running(child) else []
    return found


async def until_gone(pids: list[int]) -> None:
    with trio.fail_after(PATIENCE_SECONDS):
        while any(map(is_running, pids)):  # noqa: ASYNC110 - children of another process give no event
            await trio.sleep(0.01)


async def until_drawn(engine: ServingProcess, count: int) -> None:
    """Wait until the world has had that many changes."""
    with trio.fail_after(PATIENCE_SECONDS):
        while (await engine.request("GET", "/status")).json["world"]["undo_count"] < count:  # noqa: ASYNC110 - see above
            await trio.sleep(0.02)


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(PROGRAM_THAT_STAYS, id="waits"),
        pytest.param(PROGRAM_THAT_LOOPS, id="loops", marks=pytest.mark.nightly),
    ],
)
async def test_a_signal_ends_the_engine_with_a_program_in_flight_whose_work_is_one_step_afterwards(
    tmp_path: Path, program: str
) -> None:
    async with serving_process(tmp_path, "--grace", "1") as engine:
        client = await McpClient.initialized(engine.port, endpoint="/mcp/code")
        connection = await client.begin(call(RUN_CODE, {"code": program, "description": "try"}))
        await until_drawn(engine, 2)
        children = descendants(engine.process.pid)
        assert len(children) >= 2, "the compiler and a runner"
        engine.signal(signal.SIGTERM)
        assert await engine.wait() == 1, "something had to be cut off"
        await until_gone(children)
        await connection.finish()
        assert "Traceback" not in engine.log
    async with serving_process(tmp_path) as engine:
        assert (await engine.request("GET", "/status")).json["world"]["undo_count"] == 1


async def test_a_signal_lets_a_program_end_that_is_nearly_done(tmp_path: Path) -> None:
    async with serving_process(tmp_path) as engine:
        client = await McpClient.initialized(engine.port, endpoint="/mcp/code")
        program = f"await {RECTANGLE}; await {RECTANGLE}; await new Promise(go => setTimeout(go, 700)); return 'done'"
        connection = await client.begin(call(RUN_CODE, {"code": program, "description": "try"}))
        await until_drawn(engine, 2)
        engine.signal(signal.SIGTERM)
        assert texts((await connection.read_response("POST")).json["result"]) == ["done"]
        await connection.finish()
        assert await engine.wait() == 0


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(PROGRAM_THAT_STAYS, id="waits"),
        pytest.param(PROGRAM_THAT_LOOPS, id="loops", marks=pytest.mark.nightly),
    ],
)
async def test_a_kill_of_the_engine_leaves_no_process_and_loses_nothing_that_was_done(
    tmp_path: Path, program: str
) -> None:
    async with serving_process(tmp_path) as engine:
        client = await McpClient.initialized(engine.port, endpoint="/mcp/code")
        connection = await client.begin(call(RUN_CODE, {"code": program, "description": "try"}))
        await until_drawn(engine, 2)
        children = descendants(engine.process.pid)
        assert len(children) >= 2, "the compiler and a runner"
        engine.signal(signal.SIGKILL)
        assert await engine.wait() == -signal.SIGKILL
        await until_gone(children)
        await connection.finish()
    async with serving_process(tmp_path) as engine:
        # Nobody was left to make one step of them.
        assert (await engine.request("GET", "/status")).json["world"]["undo_count"] == 2


async def test_a_second_signal_leaves_no_process_either(tmp_path: Path) -> None:
    async with serving_process(tmp_path) as engine:
        client = await McpClient.initialized(engine.port, endpoint="/mcp/code")
        connection = await client.begin(call(RUN_CODE, {"code": PROGRAM_THAT_LOOPS, "description": "try"}))
        await until_drawn(engine, 2)
        children = descendants(engine.process.pid)
        engine.signal(signal.SIGTERM)
        await trio.sleep(0.2)
        engine.signal(signal.SIGTERM)
        assert await engine.wait() == 128 + signal.SIGTERM
        await until_gone(children)
        await connection.finish()


# Nothing is left


RUNS = 100


@pytest.mark.nightly
async def test_a_hundred_programs_leave_no_process_no_file_and_no_task(coder: Coder) -> None:
    for _ in range(3):
        await coder.run("return 1")
    await until_idle(coder.engine)
    files, tasks = open_files(os.getpid()), trio.lowlevel.current_statistics().tasks_living
    for number in range(RUNS):
        assert await coder.text(f"return {number}") == str(number)
    await until_idle(coder.engine)
    # Connections and threads of the pool come and go by themselves; what a run left would be there a hundred times.
    assert (open_files(os.getpid()) - files).total() < RUNS / 10
    assert trio.lowlevel.current_statistics().tasks_living - tasks < RUNS / 10
    assert len(coder.engine.space.programs.log.latest()) == KEPT_PROGRAMS
