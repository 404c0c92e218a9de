"""Calls that go on as tasks: asked after, answered, cancelled, and over when their time or their engine is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trio

from actors.tasks import CountTasks, PruneTasks
from protocol.limits import Limits
from protocol.task_table import TASK_TTL_MS
from tests.transport.raw_http import BOUND_SECONDS
from tests.transport.running_engine import RunningEngine, running_engine
from tests.transport.stateless_client import StatelessClient
from tests.transport.talking_tools import ASKING_JOB, FAILING_JOB, JOB, ONLY_JOB, TalkHooks

TASKS = {"extensions": {"io.modelcontextprotocol/tasks": {}}, "elicitation": {}}


async def settled(client: StatelessClient, task_id: str, *but: str) -> Any:
    """The task, once it is in no other state than those."""
    with trio.fail_after(BOUND_SECONDS):
        while (task := await client.ask("tasks/get", {"taskId": task_id}))["status"] in (but or ("working",)):
            pass
    return task


async def no_calls(engine: RunningEngine) -> None:
    with trio.fail_after(BOUND_SECONDS):
        while (await engine.status())["calls"]:
            pass


async def test_a_call_is_answered_with_a_task_and_its_result_is_asked_for(
    talking: RunningEngine, talk: TalkHooks
) -> None:
    client = talking.stateless(TASKS)
    made = await client.call(JOB)
    assert (made["resultType"], made["status"]) == ("task", "working")
    with trio.fail_after(BOUND_SECONDS):
        await talk.started.acquire()
    running = await client.ask("tasks/get", {"taskId": made["taskId"]})
    assert (running["status"], running["statusMessage"]) == ("working", "half way")
    assert "result" not in running
    talk.go.set()
    done = await settled(client, made["taskId"])
    assert done["status"] == "completed"
    assert done["result"]["content"][0]["text"] == "the job is done"
    await no_calls(talking)


async def test_it_goes_on_when_its_client_is_gone_and_the_claim_of_its_call_with_it(
    talking: RunningEngine, talk: TalkHooks
) -> None:
    client = talking.stateless(TASKS)
    made = await client.call(JOB)
    (running,) = (await talking.status())["calls"]
    assert running["task_id"] == made["taskId"]
    talk.go.set()
    assert (await settled(client, made["taskId"]))["status"] == "completed"


async def test_whoever_knows_no_tasks_waits_for_the_answer(talking: RunningEngine, talk: TalkHooks) -> None:
    talk.go.set()
    assert (await talking.stateless().call(JOB))["resultType"] == "complete"
    session = await talking.client()
    assert (await session.call(JOB))["content"][0]["text"] == "the job is done"


async def test_a_tool_that_is_always_a_task_needs_a_client_that_knows_them(talking: RunningEngine) -> None:
    response = await talking.stateless().post("tools/call", {"name": ONLY_JOB, "arguments": {}})
    assert (response.status, response.json["error"]["code"]) == (400, -32021)
    assert (await (await talking.client()).call(ONLY_JOB))["isError"] is True
    assert (await talking.stateless(TASKS).call(ONLY_JOB))["resultType"] == "task"


async def test_a_task_that_is_cancelled_stays_cancelled(talking: RunningEngine, talk: TalkHooks) -> None:
    client = talking.stateless(TASKS)
    made = await client.call(JOB)
    with trio.fail_after(BOUND_SECONDS):
        await talk.started.acquire()
    assert (await client.ask("tasks/cancel", {"taskId": made["taskId"]}))["resultType"] == "complete"
    with trio.fail_after(BOUND_SECONDS):
        await talk.cancelled.acquire()
    assert (await settled(client, made["taskId"]))["status"] == "cancelled"
    assert (await client.ask("tasks/cancel", {"taskId": made["taskId"]}))["resultType"] == "complete"
    await no_calls(talking)


async def test_a_task_may_ask_its_client(talking: RunningEngine) -> None:
    client = talking.stateless(TASKS)
    made = await client.call(ASKING_JOB)
    waiting = await settled(client, made["taskId"])
    assert waiting["status"] == "input_required"
    assert waiting["inputRequests"]["who"]["method"] == "elicitation/create"
    malformed = {"taskId": made["taskId"], "inputResponses": {"who": {"action": "perhaps"}}}
    assert (await client.post("tasks/update", malformed)).json["error"]["code"] == -32602
    given = {"who": {"action": "accept", "content": {"name": "Ada"}}, "unknown": {}}
    await client.ask("tasks/update", {"taskId": made["taskId"], "inputResponses": given})
    done = await settled(client, made["taskId"], "working", "input_required")
    assert done["result"]["content"][0]["text"] == "accept: Ada"


async def test_a_task_whose_tool_has_a_bug_has_failed(
    talking: RunningEngine, errors_logged: list[dict[str, Any]]
) -> None:
    client = talking.stateless(TASKS)
    failed = await settled(client, (await client.call(FAILING_JOB))["taskId"])
    assert (failed["status"], failed["error"]["code"]) == ("failed", -32603)
    assert "a bug of the tool" in failed["error"]["message"]
    assert [entry["event"] for entry in errors_logged if entry["log_level"] == "error"] == ["tool_failed"]
    errors_logged.clear()


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
async def test_a_task_of_somebody_else_is_one_that_does_not_exist(talking: RunningEngine, method: str) -> None:
    made = await talking.stateless(TASKS).call(JOB)
    stranger = talking.stateless(TASKS)
    stranger.headers = (("Authorization", "Bearer somebody-else"),)
    response = await stranger.post(method, {"taskId": made["taskId"]})
    assert response.json["error"]["code"] == -32602
    assert "there is no task" in response.json["error"]["message"]


async def test_a_client_without_the_extension_cannot_ask_after_tasks(talking: RunningEngine) -> None:
    response = await talking.stateless().post("tasks/get", {"taskId": "x"})
    assert (response.status, response.json["error"]["code"]) == (400, -32021)


async def test_there_are_only_so_many_tasks(tmp_path: Path, talk: TalkHooks) -> None:
    async with running_engine(tmp_path, limits=Limits(tasks=1), more=(talk.capabilities(),)) as engine:
        client = engine.stateless(TASKS)
        await client.call(JOB)
        refused = await client.call(JOB)
        assert refused["isError"] is True
        assert "which is the most" in refused["content"][0]["text"]


async def test_a_task_whose_time_is_over_is_taken_away_and_what_runs_of_it_cancelled(
    talking: RunningEngine, talk: TalkHooks
) -> None:
    client = talking.stateless(TASKS)
    made = await client.call(JOB)
    with trio.fail_after(BOUND_SECONDS):
        await talk.started.acquire()
    tasks = talking.space.tasks
    now = tasks._clock()
    tasks._clock = lambda: now + TASK_TTL_MS / 1000 + 1
    await tasks.ask(PruneTasks())
    with trio.fail_after(BOUND_SECONDS):
        await talk.cancelled.acquire()
    assert await tasks.ask(CountTasks()) == 0
    response = await client.post("tasks/get", {"taskId": made["taskId"]})
    assert response.json["error"]["code"] == -32602
    await no_calls(talking)


async def test_tasks_are_cancelled_when_the_engine_ends_and_do_not_hold_it_up(
    talking: RunningEngine, talk: TalkHooks
) -> None:
    await talking.stateless(TASKS).call(JOB)
    with trio.fail_after(BOUND_SECONDS):
        await talk.started.acquire()
        assert await talking.end()
    assert talk.cancelled.value == 1
