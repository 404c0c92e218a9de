"""One gate for every tool: what holds for a tool of Python holds for a tool of an MCP server, over the wire."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import trio

from actors.agents import AgentOptions
from actors.context import SetContext, SetOverride
from engine.units.folder import make_unit
from tests.actors.proxies_on_trial import manifest, raw
from tests.space_unit.units import HEAD
from tests.transport.mcp_client import McpClient
from tests.transport.running_engine import RunningEngine, running_engine

pytestmark = pytest.mark.slow

READY_SECONDS = 20.0

CANVAS = {"surface": "canvas", "canvas_visible": True, "activity": "drawing"}
GRAPH = {**CANVAS, "activity": "graph"}

PYTHON = f"""{HEAD}
from pydantic import BaseModel

class Sum(BaseModel):
    sum: float

@tool(read_only=True)
async def read_note() -> str:
    'Read.'
    return 'read_note {{}}'

@tool
async def add(a: float, b: float) -> Sum:
    'Add two numbers.'
    return Sum(sum=a + b)

@tool
async def fail() -> None:
    'Fails.'
    raise ToolError('the disk is full')

p = preset(
    'UNIT', tools=[read_note, fail], risk='filesystem-read', default='auto',
    contexts=[{{'surface': 'canvas', 'activity': 'graph'}}],
)
q = preset('UNIT-add', tools=[add], risk='shell')
"""

PROXY = """
leave_out = ["[!raf]*", "rich"]

[[proxy.preset]]
name = "UNIT"
tools = ["read_*", "fail"]
risk = "filesystem-read"
default = "auto"
contexts = [{ surface = "canvas", activity = "graph" }]

[[proxy.preset]]
name = "UNIT-add"
tools = ["add"]
risk = "shell"
"""

AGENTS = {
    "careful": "- row: preset-groups\n  groups: all\n- row: restrict\n  deny: [space_notes_read_note]\n",
    "harmless": "- row: preset-groups\n  groups: all\n- row: risk-ceiling\n  risk: filesystem-read\n",
    "finder": "- row: preset-groups\n  groups: all\n- row: tool-finder\n",
}


@dataclass
class Gate:
    """An engine with one unit `notes`, of Python or of a server, whose tools are the same."""

    engine: RunningEngine

    async def client(self, agent: str = "standard") -> McpClient:
        return await self.engine.client(endpoint=f"/mcp/{agent}")

    async def turn(self, preset: str, state: str) -> None:
        await self.engine.space.context.ask(SetOverride(preset, state))

    async def go(self, context: dict[str, Any]) -> None:
        await self.engine.space.context.ask(SetContext(context))

    async def tools(self, agent: str = "standard") -> list[str]:
        listed = await (await self.client(agent)).tool_names()
        return sorted(name for name in listed if name.startswith("space_notes_"))


def text(result: dict[str, Any]) -> str:
    return "".join(block.get("text", "") for block in result["content"])


@pytest.fixture(params=["python", "proxy"])
async def gate(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Gate]:
    units, agents = tmp_path / "data" / "units", tmp_path / "agents"
    units.mkdir(parents=True)
    if request.param == "python":
        files = {"unit.toml": "", "unit.py": PYTHON.replace("UNIT", "notes")}
    else:
        files = {"unit.toml": manifest(raw(), presets=PROXY.replace("UNIT", "notes"), cwd=str(tmp_path))}
    make_unit(units, "notes", {path: content.encode() for path, content in files.items()})
    for agent, composition in AGENTS.items():
        (agents / agent).mkdir(parents=True)
        (agents / agent / "composition.yml").write_text(composition, encoding="utf-8")
    async with running_engine(tmp_path, built_in=True, agents=AgentOptions(user_root=agents)) as engine:
        gate = Gate(engine)
        await gate.go(GRAPH)
        with trio.fail_after(READY_SECONDS):
            # A busy engine does not wait for its units at the start.
            while "space_notes_fail" not in engine.space.catalog.tools.value.names:  # noqa: ASYNC110 - of many parts
                await trio.sleep(0.02)
        yield gate


async def test_a_tool_is_listed_with_its_schema_and_called(gate: Gate) -> None:
    await gate.turn("notes-add", "on")
    client = await gate.client()
    assert await gate.tools() == ["space_notes_add", "space_notes_fail", "space_notes_read_note"]
    result = await client.call("space_notes_add", {"a": 1, "b": 2})
    assert (result["structuredContent"], result.get("isError", False)) == ({"sum": 3}, False)


async def test_a_context_hides_a_tool_and_a_call_of_it_says_what_would_show_it(gate: Gate) -> None:
    client = await gate.client()
    assert "read_note" in text(await client.call("space_notes_read_note", {}))
    await gate.go(CANVAS)
    assert await gate.tools() == []
    result = await client.call("space_notes_read_note", {})
    assert result["isError"]
    assert "activity=graph" in text(result)


async def test_what_the_user_has_turned_off_is_off(gate: Gate) -> None:
    client = await gate.client()
    await gate.turn("notes", "off")
    assert await gate.tools() == []
    assert "turned preset 'notes' off" in text(await client.call("space_notes_read_note", {}))


async def test_what_is_risky_is_off_until_it_is_turned_on(gate: Gate) -> None:
    client = await gate.client()
    refused = text(await client.call("space_notes_add", {"a": 1, "b": 2}))
    assert "off by default because of its risk (shell)" in refused
    await gate.turn("notes-add", "on")
    assert not (await client.call("space_notes_add", {"a": 1, "b": 2})).get("isError")


async def test_an_agent_takes_tools_away_by_name_and_by_risk(gate: Gate) -> None:
    await gate.turn("notes-add", "on")
    assert await gate.tools("careful") == ["space_notes_add", "space_notes_fail"]
    assert (await (await gate.client("careful")).call("space_notes_read_note", {}))["isError"]
    assert await gate.tools("harmless") == ["space_notes_fail", "space_notes_read_note"]
    assert (await (await gate.client("harmless")).call("space_notes_add", {"a": 1, "b": 2}))["isError"]


async def test_arguments_that_do_not_fit_are_refused_before_the_tool_is_reached(gate: Gate) -> None:
    await gate.turn("notes-add", "on")
    result = await (await gate.client()).call("space_notes_add", {"a": 1, "c": 2})
    assert result["isError"]
    assert "Invalid arguments for space_notes_add; it was not run" in text(result)


async def test_an_error_of_a_tool_reaches_the_model_in_its_words(gate: Gate) -> None:
    result = await (await gate.client()).call("space_notes_fail", {})
    assert (result["isError"], text(result)) == (True, "the disk is full")


async def test_a_program_calls_it_and_gets_its_result_and_its_error(gate: Gate) -> None:
    await gate.turn("notes-add", "on")
    client = await gate.client("code")
    program = (
        "const {sum} = await tools.space_notes_add({a: 1, b: 2});\n"
        "try { await tools.space_notes_fail({}); } catch (error) { return {sum, said: error.message}; }"
    )
    result = await client.call("space_run_code", {"code": program, "description": "try"})
    assert not result.get("isError"), result
    said = json.loads(text(result))
    assert said["sum"] == 3
    assert "the disk is full" in said["said"]
    await gate.go(CANVAS)
    result = await client.call("space_run_code", {"code": "return tools.space_notes_fail({})", "description": "try"})
    assert result["isError"]
    assert "activity=graph" in text(result)


async def test_it_is_found_and_called_by_name(gate: Gate) -> None:
    await gate.turn("notes-add", "on")
    client = await gate.client("finder")
    found = await client.call("space_find_tools", {"query": "add two numbers"})
    assert "space_notes_add" in text(found)
    result = await client.call("space_call_tool", {"name": "space_notes_add", "arguments": {"a": 1, "b": 2}})
    assert "3" in text(result)
    await gate.turn("notes-add", "off")
    result = await client.call("space_call_tool", {"name": "space_notes_add", "arguments": {"a": 1, "b": 2}})
    assert result["isError"]
