"""The endpoints of the agents: who is served where, in which form, and who is told of which change.

Numbers in square brackets are those of the cases about presentation. Source: tool-presentation.
"""

from __future__ import annotations

import shutil
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from deno import find_deno_bin

from actors.agents import LOOK_SECONDS, AgentOptions, FollowCapabilities, ReadAgents
from actors.context import EditCapabilities
from actors.resolution import CapabilityEdit
from actors.sessions import ReadSessions
from presets.adapters import ToolAdapter
from presets.agents.roster import SHIPPED_ROOT
from presets.presentation import Presentation
from protocol.tool import ToolError
from sandbox.deno import DENO_VARIABLE
from tests.transport.mcp_client import JSON_BODY, LIST_CHANGED, McpClient, SseClient, call, initialize, rpc
from tests.transport.raw_http import BOUND_SECONDS, RawConnection, Response
from tests.transport.running_engine import RunningEngine, running_engine
from tests.transport.tools_on_trial import CANVAS_ONLY, ECHO, FAIL, MOVE, RISKY, SCENE_ONLY

RUN_CODE = "space_run_code"

ECHOER = f"""
- row: restrict
  allow: [{ECHO}, {CANVAS_ONLY}]
"""
"""An agent that has two tools, of which one belongs to the canvas."""

BROKEN = "- row: restrct\n"


@pytest.fixture
def agents_root(tmp_path: Path) -> Path:
    """Where the user's agents lie."""
    root = tmp_path / "agents"
    root.mkdir()
    return root


def write_agent(root: Path, agent_id: str, composition: str) -> None:
    (root / agent_id).mkdir(exist_ok=True)
    (root / agent_id / "composition.yml").write_text(composition, encoding="utf-8")


@asynccontextmanager
async def engine_with(folder: Path, agents_root: Path, **options: Any) -> AsyncGenerator[RunningEngine]:
    """An engine that has only the trial tools, so that the shipped agent `minimal` knows none of its own."""
    agents = AgentOptions(user_root=agents_root, **options.pop("agents", {}))
    async with running_engine(folder, agents=agents, **options) as engine:
        yield engine


@pytest.fixture
async def engine(tmp_path: Path, agents_root: Path) -> AsyncGenerator[RunningEngine]:
    write_agent(agents_root, "echoer", ECHOER)
    async with engine_with(tmp_path, agents_root) as running:
        yield running


async def announcements(engine: RunningEngine) -> int:
    """How many announcements were delivered to streams so far."""
    return (await engine.space.sessions.ask(ReadSessions())).counters.list_changed_count


async def put(engine: RunningEngine, target: str, body: str) -> None:
    response = await engine.request("PUT", target, JSON_BODY, body.encode())
    assert response.status == 200, response


async def to_the_scene(engine: RunningEngine) -> None:
    await put(engine, "/api/context", '{"surface": "scene", "canvas_visible": false}')


async def turn(engine: RunningEngine, preset: str, state: str) -> None:
    await put(engine, f"/api/presets/{preset}/override", f'{{"state": "{state}"}}')


async def post(engine: RunningEngine, endpoint: str, message: Any, *headers: tuple[str, str]) -> Response:
    return await McpClient(engine.port, endpoint=endpoint).post(message, (*JSON_BODY, ("Accept", "*/*"), *headers))


def error_of(response: Response) -> str:
    return response.json["error"]["message"]


Listen = Callable[[McpClient], Awaitable[RawConnection]]


@pytest.fixture
async def listen() -> AsyncGenerator[Listen]:
    """Opens the stream of a client, and closes it after the test."""
    streams: list[RawConnection] = []

    async def opened(client: McpClient) -> RawConnection:
        streams.append(await client.following_stream())
        return streams[-1]

    yield opened
    for stream in streams:
        await stream.finish()


async def is_told(stream: RawConnection) -> None:
    """The client hears that its tools have changed; of its other lists it may hear as well."""
    with trio.fail_after(BOUND_SECONDS):
        while await stream.next_message() != LIST_CHANGED:
            pass


# Who is served where


async def test_the_endpoint_without_a_name_serves_the_standard_agent_and_others_have_their_own(
    engine: RunningEngine,
) -> None:
    plain, named, coding, own = [
        await engine.client(endpoint=path) for path in ("/mcp", "/mcp/standard", "/mcp/code", "/mcp/echoer")
    ]
    assert await plain.tool_names() == await named.tool_names()
    assert ECHO in await plain.tool_names()
    assert await coding.tool_names() == [RUN_CODE]  # [084]
    assert await own.tool_names() == [CANVAS_ONLY, ECHO]


async def test_an_agent_is_named_in_the_query_as_well(engine: RunningEngine) -> None:
    asked = await engine.client(endpoint="/mcp?agent=echoer")
    assert await asked.tool_names() == [CANVAS_ONLY, ECHO]
    # The same agent, however it is named, has the same sessions.
    by_path = McpClient(engine.port, asked.session, asked.version, "/mcp/echoer")
    assert await by_path.tool_names() == [CANVAS_ONLY, ECHO]


async def test_a_client_chooses_the_form_for_its_session_alone(engine: RunningEngine) -> None:
    own = await engine.client(endpoint="/mcp/echoer")
    both = await engine.client(endpoint="/mcp/echoer?presentation=both")  # [093]
    code = await engine.client(endpoint="/mcp/echoer?presentation=code")
    native = await engine.client(endpoint="/mcp/code?presentation=native")  # [199]
    assert await both.tool_names() == [RUN_CODE, CANVAS_ONLY, ECHO]
    assert await code.tool_names() == [RUN_CODE]
    assert ECHO in await native.tool_names()
    assert RUN_CODE not in await native.tool_names()
    assert await own.tool_names() == [CANVAS_ONLY, ECHO]


async def test_the_description_of_run_code_names_the_capabilities_of_that_agent_and_no_other(
    engine: RunningEngine,
) -> None:
    client = await engine.client(endpoint="/mcp/echoer?presentation=code")
    (tool,) = (await client.ask("tools/list"))["result"]["tools"]
    assert ECHO in tool["description"]  # [094]
    assert FAIL not in tool["description"]
    whole = await engine.client(endpoint="/mcp/code")
    (other,) = (await whole.ask("tools/list"))["result"]["tools"]
    assert FAIL in other["description"]
    again = await engine.client(endpoint="/mcp/echoer?presentation=both")
    same = {each["name"]: each for each in (await again.ask("tools/list"))["result"]["tools"]}[RUN_CODE]
    assert same == tool  # [114]


async def test_a_form_that_does_not_exist_is_refused_with_those_that_do(engine: RunningEngine) -> None:
    response = await post(engine, "/mcp?presentation=sdk", initialize())
    assert response.status == 400
    assert "there is no presentation 'sdk'; there are: native, code, both" in error_of(response)


async def test_an_agent_that_does_not_exist_is_404_for_every_method(engine: RunningEngine) -> None:
    for message in (initialize(), rpc("tools/list")):
        response = await post(engine, "/mcp/ecoer", message)
        assert response.status == 404
        assert "there is no agent 'ecoer'. Did you mean 'echoer'" in error_of(response)
    for method in ("GET", "DELETE"):
        response = await engine.request(method, "/mcp/nobody-like-this", (("Accept", "text/event-stream"),))
        assert response.status == 404
        assert "There are: standard, code" in error_of(response)


async def test_a_session_is_unknown_at_the_endpoint_of_another_agent(engine: RunningEngine) -> None:
    own = await engine.client(endpoint="/mcp/echoer")
    assert own.session is not None
    stranger = McpClient(engine.port, own.session, own.version, "/mcp/code")
    assert (await stranger.post(rpc("tools/list"))).status == 404
    assert (await stranger.post(call(ECHO, {"text": "x"}))).status == 404
    assert (await stranger.delete()).status == 404
    listening = await engine.request("GET", "/mcp", (("Accept", "text/event-stream"), ("Mcp-Session-Id", own.session)))
    assert listening.status == 404
    assert await own.tool_names() == [CANVAS_ONLY, ECHO]


# The gate


async def test_a_client_of_programs_that_calls_a_tool_itself_is_shown_the_way(engine: RunningEngine) -> None:
    client = await engine.client(endpoint="/mcp/code")
    result = await client.call(ECHO, {"text": "x"})  # [190, 193]
    assert result["isError"] is True
    assert result["content"][0]["text"] == (
        f"only `{RUN_CODE}` is callable directly — call `{ECHO}` from inside a program: `await tools.{ECHO}({{...}})`"
    )
    # The rule comes before the arguments are looked at.
    assert (await client.call(ECHO, {"text": 1}))["content"] == result["content"]


async def test_a_tool_that_the_agent_lacks_is_refused_with_the_row_and_not_with_a_way(engine: RunningEngine) -> None:
    for endpoint in ("/mcp/echoer", "/mcp/echoer?presentation=code"):
        client = await engine.client(endpoint=endpoint)
        result = await client.call(FAIL)
        text = result["content"][0]["text"]
        assert f"Tool '{FAIL}' is hidden by agent 'echoer' (composition.yml, row 1 \"restrict\")" in text
        assert RUN_CODE not in text


async def test_a_native_agent_does_not_find_the_runner_of_programs_by_name(engine: RunningEngine) -> None:
    client = await engine.client()
    coding = await engine.client(endpoint="/mcp/code")
    assert await coding.tool_names() == [RUN_CODE]
    response = await client.post(call(RUN_CODE, {"code": "return 1", "description": "try"}))  # [198]
    assert response.json["error"]["code"] == -32602
    assert f"Unknown tool: There is no tool '{RUN_CODE}'" in error_of(response)


@pytest.mark.parametrize("name", ["space_run_code", "run_code", "space_Run_Code", "space_run-code"])
async def test_nobody_may_register_the_name_of_the_runner_of_programs(engine: RunningEngine, name: str) -> None:
    def make_run(app: object) -> Any:
        raise ToolError("never")

    adapter = ToolAdapter(id="x.y", mcp_name=name, description="x", input_schema={"type": "object"}, make_run=make_run)
    before = engine.space.catalog.tools.value
    with pytest.raises(Exception, match="reserved"):  # [102, 203]
        await engine.space.context.ask(EditCapabilities(CapabilityEdit(add_adapters=(adapter,))))
    assert engine.space.catalog.tools.value is before


# Who is told of what


async def test_two_sessions_in_two_forms_are_both_told_of_a_context_that_changes_both(
    engine: RunningEngine, listen: Listen
) -> None:
    native, coding = await engine.client(), await engine.client(endpoint="/mcp/code")
    assert SCENE_ONLY not in await native.tool_names()
    (before,) = (await coding.ask("tools/list"))["result"]["tools"]
    streams = [await listen(native), await listen(coding)]
    told = await announcements(engine)
    await to_the_scene(engine)
    for stream in streams:
        await is_told(stream)
    assert await announcements(engine) == told + 2
    assert SCENE_ONLY in await native.tool_names()
    (after,) = (await coding.ask("tools/list"))["result"]["tools"]
    assert after["name"] == RUN_CODE
    assert SCENE_ONLY in after["description"]
    assert CANVAS_ONLY in before["description"]
    assert CANVAS_ONLY not in after["description"]
    for stream in streams:
        await stream.finish()


async def test_a_change_that_only_one_agent_can_see_is_told_to_that_one_alone(
    engine: RunningEngine, listen: Listen
) -> None:
    native, own = await engine.client(), await engine.client(endpoint="/mcp/echoer")
    coding = await engine.client(endpoint="/mcp/echoer?presentation=code")
    streams = [await listen(client) for client in (native, own, coding)]
    lists = [(await client.ask("tools/list"))["result"] for client in (own, coding)]
    told = await announcements(engine)
    await turn(engine, "trial-risky-tools", "on")
    await is_told(streams[0])
    assert await announcements(engine) == told + 1
    assert RISKY in await native.tool_names()
    assert [(await client.ask("tools/list"))["result"] for client in (own, coding)] == lists
    # And the other way round: what changes for the other two reaches them, and the first as well.
    await to_the_scene(engine)
    for stream in streams:
        await is_told(stream)
    assert await announcements(engine) == told + 4
    assert await own.tool_names() == [ECHO]
    for stream in streams:
        await stream.finish()


async def test_a_change_that_nobody_can_see_is_told_to_nobody(engine: RunningEngine, listen: Listen) -> None:
    client = await engine.client(endpoint="/mcp/echoer")
    await client.tool_names()
    stream = await listen(client)
    told = await announcements(engine)
    await turn(engine, "trial-risky-tools", "on")
    await turn(engine, "trial-risky-tools", "auto")
    await to_the_scene(engine)
    await is_told(stream)
    assert await announcements(engine) == told + 1


# Folders that come, change and go


async def test_an_agent_whose_folder_is_added_while_the_engine_runs_is_served_at_once(
    engine: RunningEngine, agents_root: Path
) -> None:
    assert (await post(engine, "/mcp/late", initialize())).status == 404
    write_agent(agents_root, "late", ECHOER)
    late = await engine.client(endpoint="/mcp/late")
    assert await late.tool_names() == [CANVAS_ONLY, ECHO]


async def test_a_broken_agent_says_why_wherever_it_is_asked_and_never_has_an_empty_list(
    engine: RunningEngine, agents_root: Path
) -> None:
    write_agent(agents_root, "mine", BROKEN)
    reason = "row 1: there is no row 'restrct'. Did you mean 'restrict'?"
    response = await post(engine, "/mcp/mine", initialize())
    assert reason in error_of(response)
    assert response.json["id"] == 0
    listening = await engine.request("GET", "/mcp/mine", (("Accept", "text/event-stream"),))
    assert reason in error_of(listening)
    listed = engine.space.agents.agents.value.roster
    assert [reason in str(agent) for agent in listed.unusable if agent.id == "mine"] == [True]
    # Nobody else is touched by it.
    assert ECHO in await (await engine.client()).tool_names()


async def test_a_broken_agent_that_is_mended_is_served_by_the_next_attempt(
    engine: RunningEngine, agents_root: Path
) -> None:
    write_agent(agents_root, "mine", BROKEN)
    assert "restrct" in error_of(await post(engine, "/mcp/mine", initialize()))
    write_agent(agents_root, "mine", ECHOER)
    mended = await engine.client(endpoint="/mcp/mine")
    assert await mended.tool_names() == [CANVAS_ONLY, ECHO]


async def test_a_session_whose_agent_breaks_is_told_and_lives_until_it_is_mended(
    engine: RunningEngine, agents_root: Path, listen: Listen
) -> None:
    client = await engine.client(endpoint="/mcp/echoer")
    await client.tool_names()
    stream = await listen(client)
    write_agent(agents_root, "echoer", BROKEN)
    await engine.space.agents.ask(ReadAgents())
    await is_told(stream)
    for message in (rpc("tools/list"), call(ECHO, {"text": "x"})):
        response = await client.post(message)
        assert "restrct" in error_of(response)
    assert (await client.ask("ping"))["result"] == {}
    write_agent(agents_root, "echoer", ECHOER)
    await engine.space.agents.ask(ReadAgents())
    await is_told(stream)
    assert await client.tool_names() == [CANVAS_ONLY, ECHO]


async def test_a_session_whose_agent_is_gone_is_told_that_there_is_no_such_agent(
    engine: RunningEngine, agents_root: Path
) -> None:
    client = await engine.client(endpoint="/mcp/echoer")
    shutil.rmtree(agents_root / "echoer")
    await engine.space.agents.ask(ReadAgents())
    for message in (rpc("tools/list"), call(ECHO, {"text": "x"})):
        response = await client.post(message)
        # 404 would say that the session has ended, and its client would open another one in vain.
        assert (response.status, response.json["error"]["code"], response.json["id"]) == (200, -32603, message["id"])
        assert "there is no agent 'echoer'" in error_of(response)
    assert (await client.ask("ping"))["result"] == {}
    stranger = await post(engine, "/mcp/echoer", rpc("tools/list"), ("Mcp-Session-Id", "none"))
    assert stranger.status == 404
    assert (await post(engine, "/mcp/echoer", initialize())).status == 404
    write_agent(agents_root, "echoer", ECHOER)
    await engine.space.agents.ask(ReadAgents())
    assert await client.tool_names() == [CANVAS_ONLY, ECHO]


async def test_an_agent_that_is_tightened_holds_for_its_sessions_within_a_moment(
    engine: RunningEngine, agents_root: Path
) -> None:
    client = await engine.client(endpoint="/mcp/echoer")
    assert await client.tool_names() == [CANVAS_ONLY, ECHO]
    write_agent(agents_root, "echoer", f"- row: restrict\n  allow: [{CANVAS_ONLY}]\n")
    with trio.fail_after(3 * LOOK_SECONDS):
        while await client.tool_names() != [CANVAS_ONLY]:  # noqa: ASYNC110 - nobody tells a test of it
            await trio.sleep(0.05)
    assert (await client.call(ECHO, {"text": "x"}))["isError"] is True


async def test_the_folders_are_looked_at_for_those_who_are_connected_only(
    engine: RunningEngine, agents_root: Path
) -> None:
    write_agent(agents_root, "echoer", BROKEN)
    await trio.sleep(1.5 * LOOK_SECONDS)
    assert "echoer" in engine.space.agents.agents.value.views


@pytest.mark.parametrize(("path", "right"), [("/mcp/", "/mcp"), ("/mcp/code/", "/mcp/code"), ("/mcp//", "/mcp")])
async def test_a_path_with_a_slash_too_many_is_told_the_right_one(engine: RunningEngine, path: str, right: str) -> None:
    response = await post(engine, path, initialize())
    assert response.status == 404
    assert f"Use '{right}'" in error_of(response)


@pytest.mark.parametrize(
    "endpoint",
    [
        "/mcp/code?agent=minimal",
        "/mcp?agent=code&agent=minimal",
        "/mcp?presentation=code&presentation=native",
    ],
)
async def test_an_address_that_asks_for_two_things_at_once_is_refused(engine: RunningEngine, endpoint: str) -> None:
    response = await post(engine, endpoint, initialize())
    assert response.status == 400
    said = error_of(response)
    assert "two values of" in said
    assert ("the path and the query of the address name " in said) != ("the query of the address names " in said)


async def test_what_is_left_empty_in_an_address_or_said_twice_alike_means_what_it_says(engine: RunningEngine) -> None:
    empty = await engine.client(endpoint="/mcp?agent=&presentation=")
    assert ECHO in await empty.tool_names()
    twice = await engine.client(endpoint="/mcp/code?agent=code&agent=")
    assert await twice.tool_names() == [RUN_CODE]


@pytest.mark.parametrize("name", ["SPACE_RUN_CODE", "run_code", "space-run-code"])
async def test_a_misspelling_of_the_tool_that_runs_programs_is_told_so_where_there_is_one(
    engine: RunningEngine, name: str
) -> None:
    coding, plain = await engine.client(endpoint="/mcp/code"), await engine.client()
    assert "Did you mean 'space_run_code'?" in error_of(await coding.post(call(name, {})))
    said = error_of(await plain.post(call(name, {})))
    assert "Did you mean" not in said
    assert "only agents that are shown their tools as code" in said


async def test_an_agent_that_is_edited_changes_the_list_of_its_own_sessions_and_tells_only_them(
    engine: RunningEngine, agents_root: Path, listen: Listen
) -> None:
    write_agent(agents_root, "other", ECHOER)
    own, other = await engine.client(endpoint="/mcp/echoer"), await engine.client(endpoint="/mcp/other")
    native = await engine.client()
    for client in (own, other, native):
        await client.tool_names()
    streams = [await listen(client) for client in (own, other, native)]
    told = await announcements(engine)
    write_agent(agents_root, "echoer", ECHOER + "- row: tool-presentation\n  mode: both\n")
    await engine.space.agents.ask(ReadAgents())
    await is_told(streams[0])
    assert await own.tool_names() == [RUN_CODE, CANVAS_ONLY, ECHO]
    assert await other.tool_names() == [CANVAS_ONLY, ECHO]
    assert await announcements(engine) == told + 1
    for stream in streams:
        await stream.finish()


async def test_mounting_anew_what_is_the_same_changes_nothing_for_anybody(
    engine: RunningEngine, listen: Listen
) -> None:
    client = await engine.client(endpoint="/mcp/code")
    before = (await client.ask("tools/list"))["result"]
    stream = await listen(client)
    told = await announcements(engine)
    await engine.space.agents.ask(FollowCapabilities())
    assert (await client.ask("tools/list"))["result"] == before
    await turn(engine, "trial-risky-tools", "on")
    await is_told(stream)
    assert await announcements(engine) == told + 1


async def test_the_id_of_a_shipped_agent_is_not_taken_over(engine: RunningEngine, agents_root: Path) -> None:
    write_agent(agents_root, "code", ECHOER)
    await engine.space.agents.ask(ReadAgents())
    client = await engine.client(endpoint="/mcp/code")
    assert await client.tool_names() == [RUN_CODE]
    roster = engine.space.agents.agents.value.roster
    assert any(agent.id == "code" and "ships with Space" in agent.reason for agent in roster.unusable)


# Without a code runtime


@pytest.fixture
def no_deno(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where deno is looked for, and is not."""
    missing = tmp_path / "no-such-deno"
    monkeypatch.setenv(DENO_VARIABLE, str(missing))
    return missing


async def test_without_deno_the_agent_of_programs_says_so_and_the_others_work(
    no_deno: Path, tmp_path: Path, agents_root: Path
) -> None:
    async with engine_with(tmp_path, agents_root) as engine:
        response = await post(engine, "/mcp/code", initialize())  # [115]
        said = error_of(response)
        assert 'presentation "code" of agent "code"' in said
        assert '"tool-presentation"' in said
        assert f"deno not found (looked at {no_deno}" in said
        (unusable,) = (agent for agent in engine.space.agents.agents.value.roster.unusable if agent.id == "code")
        assert unusable.row == 4
        assert unusable.reason in said
        assert ECHO in await (await engine.client()).tool_names()  # [083]
        refused = await post(engine, "/mcp?presentation=both", initialize())
        assert "presentation 'both' needs the code runtime: deno not found" in error_of(refused)  # [204]
        assert ECHO in await (await engine.client(endpoint="/mcp?presentation=native")).tool_names()


async def test_without_deno_a_deployment_of_programs_names_its_option(
    no_deno: Path, tmp_path: Path, agents_root: Path
) -> None:
    agents = {"presentation": Presentation.CODE}
    async with engine_with(tmp_path, agents_root, agents=agents) as engine:
        said = error_of(await post(engine, "/mcp", initialize()))
        assert 'presentation "code" of agent "standard"' in said
        assert "--presentation" in said


async def test_an_agent_comes_to_life_once_deno_is_there(no_deno: Path, tmp_path: Path, agents_root: Path) -> None:
    async with engine_with(tmp_path, agents_root) as engine:
        assert "deno not found" in error_of(await post(engine, "/mcp/code", initialize()))
        no_deno.symlink_to(find_deno_bin())  # noqa: ASYNC240 - one system call
        client = await engine.client(endpoint="/mcp/code")
        assert await client.tool_names() == [RUN_CODE]


def write_stand_in(deno: Path) -> None:
    """A file that looks like a deno until it is asked."""
    deno.write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
    deno.chmod(0o755)


async def test_a_runtime_that_failed_and_works_again_brings_its_agents_back(
    no_deno: Path, tmp_path: Path, agents_root: Path
) -> None:
    write_stand_in(no_deno)
    async with engine_with(tmp_path, agents_root) as engine:
        programs = engine.space.programs
        client = await engine.client(endpoint="/mcp/code")
        with trio.fail_after(10):
            while programs.no_runtime_because() is None:  # noqa: ASYNC110 - warming has no event
                await trio.sleep(0.005)
        result = await client.call(RUN_CODE, {"code": "return 1", "description": "try"})  # [162]
        assert result["isError"] is True
        assert f"{RUN_CODE} needs the code runtime: {no_deno} is no deno" in result["content"][0]["text"]
        for endpoint in ("/mcp/code", "/mcp?presentation=both"):
            assert "is no deno" in error_of(await post(engine, endpoint, initialize()))
        no_deno.unlink()  # noqa: ASYNC240 - one system call
        no_deno.symlink_to(find_deno_bin())  # noqa: ASYNC240 - one system call
        again = await engine.client(endpoint="/mcp/code")
        assert await again.tool_names() == [RUN_CODE]
        assert await client.tool_names() == [RUN_CODE]
        assert RUN_CODE in await (await engine.client(endpoint="/mcp?presentation=both")).tool_names()


async def test_an_agent_that_was_edited_is_what_its_folder_says_for_the_next_session(
    engine: RunningEngine, agents_root: Path
) -> None:
    before = await engine.client(endpoint="/mcp/echoer")
    write_agent(agents_root, "echoer", ECHOER + "- row: tool-presentation\n  mode: both\n")
    after = await engine.client(endpoint="/mcp/echoer")
    assert await after.tool_names() == [RUN_CODE, CANVAS_ONLY, ECHO]
    assert await before.tool_names() == await after.tool_names()


async def test_a_form_of_the_deployment_holds_for_agents_that_choose_none(tmp_path: Path, agents_root: Path) -> None:
    write_agent(agents_root, "plain", "- row: tool-presentation\n  mode: native\n")
    agents = {"presentation": Presentation.CODE}
    async with engine_with(tmp_path, agents_root, agents=agents) as engine:
        assert await (await engine.client()).tool_names() == [RUN_CODE]
        opted_out = await engine.client(endpoint="/mcp/plain")  # [199]
        assert ECHO in await opted_out.tool_names()
        assert RUN_CODE not in await opted_out.tool_names()


# Instructions


async def instructions(engine: RunningEngine, endpoint: str) -> str:
    response = await post(engine, endpoint, initialize())
    return response.json["result"]["instructions"]


async def test_the_rule_of_programs_is_told_where_it_is_kept_and_nowhere_else(engine: RunningEngine) -> None:
    rule = f"Only `{RUN_CODE}` can be called directly."
    assert rule in await instructions(engine, "/mcp/code")  # [086]
    assert rule in await instructions(engine, "/mcp?presentation=code")
    assert rule not in await instructions(engine, "/mcp?presentation=both")  # [087]
    assert rule not in await instructions(engine, "/mcp")


# Forced SSE


@pytest.fixture
async def sse(tmp_path: Path, agents_root: Path) -> AsyncGenerator[RunningEngine]:
    write_agent(agents_root, "echoer", ECHOER)
    async with engine_with(tmp_path, agents_root, force_sse=True) as running:
        yield running


async def sse_names(client: SseClient) -> list[str]:
    assert await client.stream.next_message() == LIST_CHANGED
    await client.ask(initialize())
    return [tool["name"] for tool in (await client.ask(rpc("tools/list")))["result"]["tools"]]


async def test_the_single_stream_serves_the_agent_at_whose_endpoint_it_is_opened(sse: RunningEngine) -> None:
    client = await sse.sse_client("/mcp/echoer")
    assert client.endpoint.startswith("/mcp/echoer?")
    assert await sse_names(client) == [CANVAS_ONLY, ECHO]
    await client.stream.finish()


@pytest.mark.parametrize("endpoint", ["/mcp?agent=echoer", "/mcp?agent=echoer&presentation=both"])
async def test_the_single_stream_serves_an_agent_that_the_query_names(sse: RunningEngine, endpoint: str) -> None:
    client = await sse.sse_client(endpoint)
    names = await sse_names(client)
    assert [name for name in names if name != RUN_CODE] == [CANVAS_ONLY, ECHO]
    assert (RUN_CODE in names) is ("both" in endpoint)
    await client.stream.finish()


async def test_the_single_stream_of_an_agent_that_cannot_be_used_is_refused_with_the_reason(
    sse: RunningEngine, agents_root: Path
) -> None:
    write_agent(agents_root, "mine", BROKEN)
    response = await sse.request("GET", "/mcp/mine", (("Accept", "text/event-stream"),))
    assert "restrct" in error_of(response)
    unknown = await sse.request("GET", "/mcp/nobody-like-this", (("Accept", "text/event-stream"),))
    assert unknown.status == 404


async def test_a_tool_that_moves_the_context_shows_every_agent_its_new_list_before_it_answers(
    engine: RunningEngine,
) -> None:
    native, own = await engine.client(), await engine.client(endpoint="/mcp/echoer")
    await native.call(MOVE, {"surface": "scene"})
    assert await own.tool_names() == [ECHO]


async def test_many_clients_of_many_agents_list_at_once_and_each_sees_its_own(engine: RunningEngine) -> None:
    expected = {"/mcp/echoer": [CANVAS_ONLY, ECHO], "/mcp/code": [RUN_CODE]}

    async def look(endpoint: str) -> None:
        client = await engine.client(endpoint=endpoint)
        for _ in range(3):
            assert await client.tool_names() == expected[endpoint]

    with trio.fail_after(20):
        async with trio.open_nursery() as nursery:
            for number in range(10):
                nursery.start_soon(look, sorted(expected)[number % 2])


def test_the_shipped_agents_lie_where_they_are_looked_for() -> None:
    assert sorted(folder.name for folder in SHIPPED_ROOT.iterdir() if folder.is_dir()) == [
        "code",
        "creative",
        "minimal",
        "standard",
    ]
