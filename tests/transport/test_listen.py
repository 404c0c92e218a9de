"""Streams of subscriptions: many at once, each told what it asked for and nothing else, and ended in order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trio
import trio.lowlevel

from actors.listeners import CloseListeners, CountListeners, Listener, ListenersActor, OpenListener
from protocol.decision import Listen
from protocol.limits import Limits
from protocol.request_state import StateBinding
from protocol.session import Audience
from protocol.stateless_facts import StatelessFacts
from protocol.subscription import ListKind, SubscriptionFilter
from tests.actors.fakes import running_actors
from tests.transport.mcp_client import BOTH, ONLY_JSON
from tests.transport.raw_http import BOUND_SECONDS, RawConnection
from tests.transport.running_engine import RunningEngine, running_engine
from tests.transport.stateless_client import PREFIX
from tests.transport.talking_tools import JOB, NOTE, TalkHooks

SUBSCRIPTION = f"{PREFIX}subscriptionId"
TASKS = {"extensions": {"io.modelcontextprotocol/tasks": {}}}


async def go_to(engine: RunningEngine, surface: str) -> None:
    """Change what the user looks at, and with it the lists."""
    response = await engine.request("PATCH", "/api/context", BOTH, b'{"surface": "%b"}' % surface.encode())
    assert response.status == 200


async def open_count(engine: RunningEngine) -> int:
    return await engine.space.listeners.ask(CountListeners())


async def none_open(engine: RunningEngine) -> None:
    with trio.fail_after(BOUND_SECONDS):
        while await open_count(engine):
            await trio.lowlevel.checkpoint()


async def test_the_first_message_says_what_will_be_told(talking: RunningEngine) -> None:
    wanted = {"toolsListChanged": True, "promptsListChanged": False, "resourceSubscriptions": [NOTE], "else": 1}
    stream = await talking.stateless().stream("subscriptions/listen", {"notifications": wanted}, 7)
    first = await stream.next_message()
    assert first == {
        "jsonrpc": "2.0",
        "method": "notifications/subscriptions/acknowledged",
        "params": {
            "notifications": {"toolsListChanged": True, "resourceSubscriptions": [NOTE]},
            "_meta": {SUBSCRIPTION: 7},
        },
    }
    await stream.finish()
    await none_open(talking)


async def test_a_stream_hears_what_it_asked_for_and_nothing_else(talking: RunningEngine) -> None:
    client = talking.stateless()
    tools = await client.listen({"toolsListChanged": True}, "t")
    prompts = await client.listen({"promptsListChanged": True, "resourcesListChanged": True}, 2)
    await go_to(talking, "scene")
    told = await tools.next_message()
    assert told["method"] == "notifications/tools/list_changed"
    assert told["params"]["_meta"] == {SUBSCRIPTION: "t"}
    heard = [await prompts.next_message() for _ in range(2)]
    assert {one["method"] for one in heard} == {
        "notifications/prompts/list_changed",
        "notifications/resources/list_changed",
    }
    assert [one["params"]["_meta"] for one in heard] == [{SUBSCRIPTION: 2}] * 2
    await go_to(talking, "canvas")
    assert (await tools.next_message())["method"] == "notifications/tools/list_changed"
    for stream in (tools, prompts):
        await stream.finish()


async def test_a_change_that_the_lists_do_not_show_is_told_to_nobody(talking: RunningEngine) -> None:
    stream = await talking.stateless().listen({"toolsListChanged": True, "promptsListChanged": True})
    await talking.request("PATCH", "/api/context", BOTH, b'{"weather": "rain"}')
    await go_to(talking, "scene")
    heard = {(await stream.next_message())["method"] for _ in range(2)}
    assert heard == {"notifications/tools/list_changed", "notifications/prompts/list_changed"}
    await stream.finish()


async def test_changes_of_a_resource_are_told_to_whoever_watches_it(talking: RunningEngine) -> None:
    client = talking.stateless()
    watching = await client.listen({"resourceSubscriptions": [NOTE]}, "w")
    other = await client.listen({"resourceSubscriptions": ["test://page/1"]}, "o")
    talking.space.changes.touch(NOTE)
    told = await watching.next_message()
    assert told["method"] == "notifications/resources/updated"
    assert told["params"] == {"uri": NOTE, "_meta": {SUBSCRIPTION: "w"}}
    talking.space.changes.touch("test://page/1")
    assert (await other.next_message())["params"]["uri"] == "test://page/1"
    for stream in (watching, other):
        await stream.finish()


async def test_changes_of_a_task_are_told_to_its_owner(talking: RunningEngine, talk: TalkHooks) -> None:
    client = talking.stateless(TASKS)
    task = await client.call(JOB)
    stream = await client.listen({"taskIds": [task["taskId"], "another"]})
    talk.go.set()
    while (told := await stream.next_message())["params"]["status"] == "working":
        pass
    assert told["method"] == "notifications/tasks"
    assert told["params"]["result"]["content"][0]["text"] == "the job is done"
    await stream.finish()


async def test_a_client_that_takes_no_stream_is_told_so(talking: RunningEngine) -> None:
    client = talking.stateless()
    message = client.message("subscriptions/listen", {"notifications": {}})
    response = await client.send(message, accept=ONLY_JSON)
    assert response.status == 406
    assert response.json["id"] == 1


@pytest.mark.parametrize("notifications", [None, [], {"toolsListChanged": 1}, {"resourceSubscriptions": [1]}])
async def test_a_filter_that_is_none_is_refused_as_json(talking: RunningEngine, notifications: Any) -> None:
    response = await talking.stateless().post("subscriptions/listen", {"notifications": notifications})
    assert response.header("content-type") == "application/json"
    assert response.json["error"]["code"] == -32602


async def test_a_client_that_goes_away_is_forgotten(talking: RunningEngine) -> None:
    client = talking.stateless()
    streams = [await client.listen({"resourceSubscriptions": [NOTE]}, number) for number in range(3)]
    assert await open_count(talking) == 3
    for vanish in (RawConnection.finish, RawConnection.reset):
        await vanish(streams.pop())
    with trio.fail_after(BOUND_SECONDS):
        while await open_count(talking) > 1:
            await trio.lowlevel.checkpoint()
    talking.space.changes.touch(NOTE)
    assert (await streams[0].next_message())["params"]["uri"] == NOTE
    await streams[0].finish()
    await none_open(talking)


async def test_at_the_end_of_the_engine_a_stream_gets_its_result_and_a_clean_end(talking: RunningEngine) -> None:
    stream = await talking.stateless().listen({"toolsListChanged": True}, "l")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(talking.end)
        last = await stream.next_message()
        assert (last["id"], last["result"]["resultType"]) == ("l", "complete")
        assert last["result"]["_meta"][SUBSCRIPTION] == "l"
        assert await stream.next_event() is None
        await stream.finish()


async def test_a_client_that_does_not_read_is_cut_off(tmp_path: Path, talk: TalkHooks) -> None:
    async with running_engine(tmp_path, limits=Limits(outbox_frames=1), more=(talk.capabilities(),)) as engine:
        client = engine.stateless(TASKS)
        tasks = [(await client.call(JOB))["taskId"] for _ in range(3)]
        stream = await client.listen({"taskIds": tasks})
        for task_id in tasks:
            await client.ask("tasks/cancel", {"taskId": task_id})
        # Whatever still fitted comes, and the engine is none the worse for it.
        with trio.fail_after(BOUND_SECONDS):
            while (await engine.status())["calls"]:
                await trio.lowlevel.checkpoint()
        await stream.finish()
        await none_open(engine)


def listening(*kinds: ListKind) -> Listen:
    facts = StatelessFacts(version="2026-07-28", binding=StateBinding("subscriptions/listen", {}, ""))
    return Listen(1, "2026-07-28", SubscriptionFilter(frozenset(kinds)), facts)


async def open_listener(listeners: ListenersActor) -> Listener:
    return await listeners.ask(OpenListener(listening(ListKind.TOOLS), Audience(), b"last"))


async def test_a_stream_that_is_opened_while_the_engine_ends_has_its_end_at_once() -> None:
    listeners = ListenersActor()
    async with running_actors(listeners):
        await listeners.ask(CloseListeners())
        listener = await open_listener(listeners)
        assert listener.ended.is_set()
        first = await listener.outbox.next()
        assert first is not None
        assert b"acknowledged" in first
        assert [await listener.outbox.next(), await listener.outbox.next()] == [b"last", None]


async def test_there_are_only_so_many_streams(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as engine:
        engine.space.listeners._most = 1
        client = engine.stateless()
        stream = await client.listen({"toolsListChanged": True})
        refused = await client.post("subscriptions/listen", {"notifications": {}})
        assert refused.status == 503
        assert "which is the most" in refused.json["error"]["message"]
        await stream.finish()
