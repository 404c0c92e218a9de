"""The routes of agents: what each is and sees, copies of it, and a session that gets its tools in another form."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
import trio

from actors.agents import AgentOptions, FollowCapabilities
from presets.agents.roster import DEFAULT_AGENT as ROSTER_DEFAULT
from presets.presentation import RUN_CODE_NAME, Presentation
from tests.transport.mcp_client import LIST_CHANGED, McpClient, initialize, rpc
from tests.transport.raw_http import Response
from tests.transport.running_engine import RunningEngine, running_engine
from tests.transport.test_list_following import nothing_comes
from tests.transport.test_rest import assert_problem, send
from tests.transport.tools_on_trial import CANVAS_ONLY, ECHO, MOVE, RISKY, SCENE_ONLY
from transport.defaults import DEFAULT_AGENT

QUIET_SECONDS = 0.1
"""How long a stream is watched on which nothing may come."""

NO_DENO = "SPACE_DENO"


@pytest.fixture
def agents_folder(tmp_path: Path) -> Path:
    """The user's folder of agents of the engine in the same test."""
    folder = tmp_path / "data" / "agents"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
async def engine(tmp_path: Path, agents_folder: Path) -> AsyncGenerator[RunningEngine]:
    """An engine with the tools on trial, of which `minimal` knows none."""
    async with running_engine(tmp_path, agents=AgentOptions(user_root=agents_folder)) as running:
        yield running


@pytest.fixture
async def without_runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[RunningEngine]:
    """An engine that finds no deno."""
    monkeypatch.setenv(NO_DENO, str(tmp_path / "no-deno"))
    async with running_engine(tmp_path) as running:
        yield running


def compose(folder: Path, agent_id: str, text: str) -> Path:
    """Write an agent and return its composition file."""
    (folder / agent_id).mkdir(exist_ok=True)
    file = folder / agent_id / "composition.yml"
    file.write_text(text, encoding="utf-8")
    return file


def folders_in(folder: Path) -> list[str]:
    """What lies in a folder, half copies included."""
    return sorted(path.name for path in folder.iterdir())


async def get(engine: RunningEngine, target: str) -> Any:
    """The JSON behind a path, which must be there."""
    response = await engine.request("GET", target)
    assert response.status == 200, response
    return response.json


async def agents_of(engine: RunningEngine) -> dict[str, Any]:
    """The rows of all agents by id."""
    return {row["id"]: row for row in (await get(engine, "/api/agents"))["agents"]}


async def present(engine: RunningEngine, client: McpClient, mode: str | None) -> Response:
    """Give the client's session its tools in another form."""
    return await send(engine, "PUT", f"/api/sessions/{client.session}/presentation", {"presentation": mode})


def test_the_default_agent_is_the_one_of_the_roster() -> None:
    assert DEFAULT_AGENT == ROSTER_DEFAULT


async def test_every_agent_is_listed_with_what_it_is_and_sees(full_engine: RunningEngine) -> None:
    engine = full_engine
    listed = await get(engine, "/api/agents")
    assert [row["id"] for row in listed["agents"]] == ["standard", "code", "minimal", "creative"]
    assert (listed["default"], listed["default_problem"], listed["problems"]) == ("standard", None, [])
    standard, code, *_ = listed["agents"]
    assert (standard["default"], standard["usable"], standard["trust"]) == (True, True, "shipped")
    assert (standard["mode"], "--presentation" in standard["mode_source"]) == ("native", True)
    assert CANVAS_ONLY in standard["tools"]
    assert (code["mode"], code["tools"]) == ("code", [RUN_CODE_NAME])
    assert 'row 4 "tool-presentation"' in code["mode_source"]
    assert code["capability_count"] == len(standard["tools"])
    assert set(code["names"]) == {"en", "zh"}


async def test_the_folders_are_read_again_for_every_answer(engine: RunningEngine, agents_folder: Path) -> None:
    assert "mine" not in await agents_of(engine)
    compose(agents_folder, "mine", f"- row: restrict\n  allow: [{ECHO}]\n")
    assert (await agents_of(engine))["mine"]["tools"] == [ECHO]
    compose(agents_folder, "mine", "- row: restrct\n")
    row = (await agents_of(engine))["mine"]
    assert (row["usable"], row["tools"]) == (False, [])
    assert row["unusable"]["file"].endswith("mine/composition.yml")
    assert row["unusable"]["row"] == 1
    assert "Did you mean 'restrict'?" in row["unusable"]["reason"]


async def test_a_folder_with_the_id_of_a_shipped_agent_is_listed_beside_it(
    engine: RunningEngine, agents_folder: Path
) -> None:
    compose(agents_folder, "standard", "[]")
    rows = [row for row in (await get(engine, "/api/agents"))["agents"] if row["id"] == "standard"]
    assert [(row["trust"], row["usable"], row["default"]) for row in rows] == [
        ("shipped", True, True),
        ("user", False, False),
    ]


async def test_an_agent_is_shown_with_its_composition_and_its_tools(engine: RunningEngine) -> None:
    agent = await get(engine, "/api/agents/code")
    assert agent["tools"] == [RUN_CODE_NAME]
    assert {ECHO, CANVAS_ONLY} <= set(agent["capabilities"])
    assert agent["prompt_blocks"][0] == "instructions"
    assert "row: tool-presentation" in agent["composition"]["text"]
    first, *_, last = agent["composition"]["rows"]
    assert (first["row"], first["groups"], first["except"]) == ("preset-groups", "all", ["units"])
    assert last == {
        "number": 4,
        "title": 'row 4 "tool-presentation"',
        "row": "tool-presentation",
        "mode": "code",
    }


async def test_an_unusable_agent_is_shown_with_the_text_that_is_at_fault(
    engine: RunningEngine, agents_folder: Path
) -> None:
    compose(agents_folder, "mine", "- row: restrct\n")
    agent = await get(engine, "/api/agents/mine")
    assert (agent["usable"], agent["composition"]["text"]) == (False, "- row: restrct\n")
    assert (agent["composition"]["rows"], agent["capabilities"]) == ([], [])
    refused = await engine.request("GET", "/api/agents/mine/sdk")
    assert_problem(refused, 409, "agent 'mine' is unusable", "restrct")


async def test_an_unknown_agent_is_not_found_and_a_close_one_named(engine: RunningEngine) -> None:
    for target in ("", "/sdk", "/prompt"):
        response = await engine.request("GET", f"/api/agents/cod{target}")
        assert_problem(response, 404, "there is no agent 'cod'", "'code'")
    assert_problem(await engine.request("GET", "/api/tools?agent=cod"), 404, "'code'")


async def test_the_sdk_is_the_text_that_the_model_reads(engine: RunningEngine) -> None:
    response = await engine.request("GET", "/api/agents/code/sdk")
    assert response.header("content-type") == "text/plain; charset=utf-8"
    client = await engine.client(endpoint="/mcp/code")
    (tool,) = (await client.ask("tools/list"))["result"]["tools"]
    assert response.body.decode() == tool["description"]


async def test_the_sdk_can_be_had_at_every_level_and_as_declarations(engine: RunningEngine) -> None:
    async def text(query: str) -> str:
        return (await engine.request("GET", f"/api/agents/code/sdk{query}")).body.decode()

    full, bare, catalogue = [await text(f"?level={level}") for level in ("full", "no_field_docs", "catalogue")]
    assert full == await text("")
    assert f"{ECHO}(" in bare
    assert f"- {ECHO}: " in catalogue
    assert "```ts" not in catalogue
    assert (await text("?what=declarations")).startswith("type JsonValue")
    assert_problem(await engine.request("GET", "/api/agents/code/sdk?level=all"), 422, "'all'", "no_field_docs")
    assert_problem(await engine.request("GET", "/api/agents/code/sdk?what=all"), 422, "declarations")


@pytest.mark.parametrize("agent", ["standard", "code", "minimal"])
async def test_the_prompt_is_what_a_client_is_told_at_initialize(full_engine: RunningEngine, agent: str) -> None:
    engine = full_engine
    client = McpClient(engine.port, endpoint=f"/mcp/{agent}")
    told = (await client.post(initialize())).json["result"]["instructions"]
    assert (await engine.request("GET", f"/api/agents/{agent}/prompt")).body.decode() == told


# The tools as an agent sees them.


async def test_the_tools_of_an_agent_are_listed_as_it_may_have_them(engine: RunningEngine, agents_folder: Path) -> None:
    compose(agents_folder, "mine", f"- row: restrict\n  deny: [{ECHO}, {RISKY}]\n")
    rows = {row["mcp_name"]: row for row in (await get(engine, "/api/tools?agent=mine"))["tools"]}
    assert (rows[ECHO]["state"], "hidden by agent 'mine'" in rows[ECHO]["reason"]) == ("hidden", True)
    assert rows[MOVE]["state"] == "shown"
    assert all(row["agent"] == "mine" for row in rows.values())
    risky = rows[RISKY]
    assert (risky["state"], risky["remedy"]) == ("risk", None)
    assert "space preset on" in risky["reason"]
    assert "It would still be hidden by agent 'mine'" in risky["reason"]
    assert RUN_CODE_NAME not in rows


async def test_in_code_mode_a_tool_is_reached_by_a_program(engine: RunningEngine) -> None:
    rows = {row["mcp_name"]: row for row in (await get(engine, "/api/tools?agent=code"))["tools"]}
    assert [name for name, row in rows.items() if row["state"] == "shown"] == [RUN_CODE_NAME]
    assert (rows[ECHO]["state"], f"await tools.{ECHO}(" in rows[ECHO]["reason"]) == ("program", True)
    assert rows[SCENE_ONLY]["state"] == "hidden"
    one = await get(engine, f"/api/tools/{ECHO}?agent=code")
    assert one == {**rows[ECHO], "tool": ECHO, "definition": one["definition"]}
    assert one["definition"]["name"] == ECHO
    own = await get(engine, f"/api/tools/{RUN_CODE_NAME}?agent=code")
    assert own["definition"]["input_schema"]["required"] == ["code", "description"]


async def test_without_an_agent_nothing_of_agents_is_said(engine: RunningEngine) -> None:
    rows = (await get(engine, "/api/tools"))["tools"]
    assert all("agent" not in row for row in rows)
    assert_problem(await engine.request("GET", f"/api/tools/{RUN_CODE_NAME}"), 404, "There is no tool")


async def test_a_call_goes_through_the_gate_of_the_agent(engine: RunningEngine, agents_folder: Path) -> None:
    compose(agents_folder, "mine", f"- row: restrict\n  deny: [{MOVE}]\n")

    async def call(tool: str, agent: str, body: Any) -> Any:
        return await send(engine, "POST", f"/api/tools/{tool}/call?agent={agent}", body)

    said = (await call(ECHO, "mine", {"text": "hello"})).json
    assert (said["structured_content"], said["is_error"]) == ({"text": "hello"}, False)
    for tool, agent, reason in (
        (MOVE, "mine", "hidden by agent 'mine'"),
        (ECHO, "code", "only `space_run_code` is callable directly"),
        (SCENE_ONLY, "mine", "hidden in this context"),
        (ECHO, "standard", "Invalid arguments"),
    ):
        refused = (await call(tool, agent, {})).json
        assert refused["is_error"]
        assert reason in refused["content"][0]["text"]
    response = await call(RUN_CODE_NAME, "standard", {"code": "return 1", "description": "one"})
    assert_problem(response, 404, "presentation 'native' of agent 'standard'", "--presentation")


async def test_a_guard_of_the_agents_scopes_is_asked_before_a_call(engine: RunningEngine) -> None:
    agents = engine.space.agents
    with agents.state.deployment.guard(lambda name, arguments: f"no {name} today"):
        await agents.ask(FollowCapabilities())
        refused = (await send(engine, "POST", f"/api/tools/{ECHO}/call?agent=standard", {"text": "hello"})).json
    assert (refused["is_error"], refused["content"][0]["text"]) == (True, f"no {ECHO} today")


# Copies.


async def test_a_copy_is_an_agent_of_the_users_and_can_be_removed_again(
    engine: RunningEngine, agents_folder: Path
) -> None:
    copied = await send(engine, "POST", "/api/agents", {"from": "code", "id": "mine", "name": "Mine"})
    assert copied.status == 201
    assert (copied.json["trust"], copied.json["mode"], copied.json["names"]) == ("user", "code", {"en": "Mine"})
    assert copied.json["path"] == str(agents_folder / "mine")
    client = await engine.client(endpoint="/mcp/mine")
    assert await client.tool_names() == [RUN_CODE_NAME]
    gone = await engine.request("DELETE", "/api/agents/mine")
    assert (gone.status, gone.json["id"]) == (200, "mine")
    assert folders_in(agents_folder) == []
    assert "mine" not in await agents_of(engine)
    answer = (await client.post(rpc("tools/list"))).json
    assert "there is no agent 'mine'" in answer["error"]["message"]


async def test_a_copy_takes_the_configuration_along_and_a_removed_agent_leaves_none(engine: RunningEngine) -> None:
    config = "/api/agent-blocks/{}/config"
    changed = {"overrides": {"instructions": {"contentMode": "override", "customContent": "Mine."}}}
    assert (await send(engine, "PATCH", config.format("code"), changed)).status == 200
    for _ in range(2):
        await send(engine, "POST", "/api/agents", {"from": "code", "id": "mine"})
        assert "Mine." in (await engine.request("GET", "/api/agents/mine/prompt")).body.decode()
        gone = (await engine.request("DELETE", "/api/agents/mine")).json
        assert gone["configuration_kept_as"].startswith("archived-agent-blocks/mine.")
    await send(engine, "POST", "/api/agents", {"from": "minimal", "id": "mine"})
    assert "Mine." not in (await engine.request("GET", "/api/agents/mine/prompt")).body.decode()
    assert (await engine.request("DELETE", "/api/agents/mine")).json["configuration_kept_as"] is None


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"from": "code", "id": "minimal"}, 409, "there is an agent 'minimal' already"),
        ({"from": "code", "id": "Mine"}, 422, "small letters"),
        ({"from": "code", "id": "../mine"}, 422, "small letters"),
        ({"from": "cod", "id": "mine"}, 404, "Did you mean 'code'"),
        ({"from": "code"}, 422, '"id"'),
        ({"from": "code", "id": "mine", "name": 7}, 422, '"name"'),
        ({"from": "code", "id": "mine", "name": " "}, 422, "between 1 and"),
        ({"from": "code", "id": "mine", "rows": []}, 422, "'rows'"),
    ],
)
async def test_a_copy_that_cannot_be_is_refused_and_leaves_nothing(
    engine: RunningEngine, agents_folder: Path, body: Any, status: int, words: str
) -> None:
    assert_problem(await send(engine, "POST", "/api/agents", body), status, words)
    assert folders_in(agents_folder) == []


async def test_a_broken_agent_can_be_copied_and_removed(engine: RunningEngine, agents_folder: Path) -> None:
    compose(agents_folder, "broken", "- row: restrct\n")
    copied = await send(engine, "POST", "/api/agents", {"from": "broken", "id": "mended"})
    assert (copied.status, copied.json["usable"]) == (201, False)
    for agent in ("broken", "mended"):
        assert (await engine.request("DELETE", f"/api/agents/{agent}")).status == 200
    assert folders_in(agents_folder) == []


async def test_what_ships_with_space_cannot_be_removed(engine: RunningEngine, agents_folder: Path) -> None:
    compose(agents_folder, "code", "[]")
    assert_problem(await engine.request("DELETE", "/api/agents/code"), 403, "ships with Space")
    assert_problem(await engine.request("DELETE", "/api/agents/nobody"), 404, "there is no agent 'nobody'")
    assert (agents_folder / "code" / "composition.yml").exists()


async def test_an_engine_without_a_folder_for_agents_says_so(tmp_path: Path) -> None:
    async with running_engine(tmp_path, agents=AgentOptions()) as engine:
        assert (await get(engine, "/api/agents"))["user_folder"] is None
        refused = await send(engine, "POST", "/api/agents", {"from": "code", "id": "mine"})
        assert_problem(refused, 409, "no folder for agents")


# The form in which a session has its tools.


async def test_a_session_that_is_presented_otherwise_is_told_and_lists_otherwise(engine: RunningEngine) -> None:
    client, other = await engine.client(), await engine.client()
    stream, others = await client.following_stream(), await other.following_stream()
    native = await client.tool_names()
    for mode, names in (("code", [RUN_CODE_NAME]), ("both", [RUN_CODE_NAME, *native]), (None, native)):
        answer = (await present(engine, client, mode)).json
        assert (answer["agent"], answer["presentation"], answer["list_changed"]) == ("standard", mode, True)
        assert answer["tools"] == await client.tool_names()
        assert await stream.next_message() == LIST_CHANGED
        assert sorted(await client.tool_names()) == sorted(names)
    await nothing_comes(others, QUIET_SECONDS)
    assert await other.tool_names() == native
    await stream.finish()
    await others.finish()


async def test_nothing_is_announced_where_the_list_stays_as_it_is(engine: RunningEngine) -> None:
    client = await engine.client()
    stream = await client.following_stream()
    for mode in ("native", None):
        assert (await present(engine, client, mode)).json["list_changed"] is False
    await nothing_comes(stream, QUIET_SECONDS)
    await stream.finish()


async def test_the_single_stream_hears_of_it_as_well(sse_engine: RunningEngine) -> None:
    client = await sse_engine.sse_client()
    assert await client.stream.next_message() == LIST_CHANGED
    target = f"/api/sessions/{client.session}/presentation"
    assert (await send(sse_engine, "PUT", target, {"presentation": "code"})).json["list_changed"]
    assert await client.stream.next_message() == LIST_CHANGED
    await client.stream.finish()


@pytest.mark.slow
async def test_after_the_change_a_call_waits_for_the_new_list_as_before(engine: RunningEngine) -> None:
    """Each form counts the revisions of its list from one, so what was listed in another must not count."""
    client = await engine.client()
    stream = await client.following_stream()
    for surface in ("scene", "canvas", "scene", "canvas"):
        await send(engine, "PATCH", "/api/context", {"surface": surface})
        assert await stream.next_message() == LIST_CHANGED
        await client.tool_names()
    await present(engine, client, "both")
    assert await stream.next_message() == LIST_CHANGED
    connection = await client.begin(
        {"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": MOVE, "arguments": {"surface": "scene"}}}
    )
    assert await stream.next_message() == LIST_CHANGED
    await nothing_comes(connection, QUIET_SECONDS)
    assert SCENE_ONLY in await client.tool_names()
    assert (await connection.read_response()).json["result"]["content"][0]["text"] == "moved to scene"
    await connection.finish()
    await stream.finish()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"presentation": "wordy"}, "there is no presentation 'wordy'"),
        ({"presentation": 7}, '{"presentation": "code"}'),
        ({}, '{"presentation": "code"}'),
        ({"presentation": "code", "more": 1}, '{"presentation": "code"}'),
    ],
)
async def test_a_form_that_there_is_not_is_refused(engine: RunningEngine, body: Any, words: str) -> None:
    client = await engine.client()
    response = await send(engine, "PUT", f"/api/sessions/{client.session}/presentation", body)
    assert_problem(response, 422, words)
    assert (await engine.status())["sessions"][0]["presentation"] is None


async def test_the_form_of_a_session_that_is_not_there_cannot_be_chosen(engine: RunningEngine) -> None:
    response = await send(engine, "PUT", "/api/sessions/nobody/presentation", {"presentation": "code"})
    assert_problem(response, 404, "there is no session 'nobody'")


async def test_without_a_code_runtime_nobody_gets_programs_and_everybody_hears_why(
    without_runtime: RunningEngine,
) -> None:
    engine = without_runtime
    row = (await agents_of(engine))["code"]
    assert (row["usable"], row["unusable"]["row"]) == (False, 4)
    assert "deno not found" in row["unusable"]["reason"]
    client = await engine.client()
    assert_problem(await present(engine, client, "code"), 409, "needs the code runtime", "deno not found")
    assert_problem(await engine.request("GET", "/api/agents/code/sdk"), 409, "needs the code runtime")
    status = await engine.status()
    assert (status["code_runtime"]["available"], "deno not found" in status["code_runtime"]["reason"]) == (False, True)
    code = next(agent for agent in status["agents"] if agent["id"] == "code")
    assert (code["usable"], "needs the code runtime" in code["reason"]) == (False, True)


# The status.


async def test_the_status_shows_who_is_connected_as_which_agent(engine: RunningEngine) -> None:
    await engine.client(endpoint="/mcp/creative")
    client = await engine.client(endpoint="/mcp/creative")
    await present(engine, client, "both")
    status = await engine.status()
    assert [(row["agent"], row["presentation"]) for row in status["sessions"]] == [
        ("creative", None),
        ("creative", "both"),
    ]
    assert {agent["id"]: agent["sessions"] for agent in status["agents"]} == {
        "standard": 0,
        "code": 0,
        "minimal": 0,
        "creative": 2,
    }
    assert status["default_agent"] == {"id": "standard", "problem": None}
    runtime = status["code_runtime"]
    assert (runtime["available"], runtime["reason"], runtime["kills"]) == (True, None, {})
    assert {"walls", "deno_version", "spares", "leases", "compiler"} <= set(runtime)


async def test_an_unknown_default_agent_harms_nobody_who_names_another(tmp_path: Path, agents_folder: Path) -> None:
    folder = agents_folder
    async with running_engine(tmp_path, agents=AgentOptions(user_root=folder, default="mine")) as engine:
        refused = await McpClient(engine.port).post(initialize())
        assert "there is no agent 'mine'" in refused.json["error"]["message"]
        assert "there is no agent 'mine'" in (await engine.status())["default_agent"]["problem"]
        assert await (await engine.client(endpoint="/mcp/code")).tool_names() == [RUN_CODE_NAME]
        # It comes, and is there for whoever names nobody.
        compose(folder, "mine", f"- row: restrict\n  allow: [{ECHO}]\n")
        with trio.fail_after(5):
            assert await (await engine.client()).tool_names() == [ECHO]
        assert (await engine.status())["default_agent"] == {"id": "mine", "problem": None}


async def test_the_presentation_of_the_deployment_holds_for_agents_that_choose_none(tmp_path: Path) -> None:
    options = AgentOptions(presentation=Presentation.BOTH)
    async with running_engine(tmp_path, agents=options, built_in=True) as engine:
        modes = {row["id"]: row["mode"] for row in (await agents_of(engine)).values()}
        assert modes == {"standard": "both", "code": "code", "minimal": "both", "creative": "both"}
        assert RUN_CODE_NAME in await (await engine.client()).tool_names()


async def test_a_pipe_or_a_link_out_in_the_place_of_a_composition_shows_nothing_and_holds_nobody_up(
    engine: RunningEngine, agents_folder: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    for agent_id in ("piped", "linked"):
        (agents_folder / agent_id).mkdir(parents=True)
    os.mkfifo(agents_folder / "piped" / "composition.yml")
    (agents_folder / "linked" / "composition.yml").symlink_to(secret)
    for agent_id, reason in (("piped", "is not a file"), ("linked", "is a link that leads out of the agent's folder")):
        shown = await get(engine, f"/api/agents/{agent_id}")
        assert (shown["composition"]["text"], shown["unusable"]["reason"]) == (None, reason)
        copied = await send(engine, "POST", "/api/agents", {"from": agent_id, "id": "copy"})
        assert copied.status == 409
