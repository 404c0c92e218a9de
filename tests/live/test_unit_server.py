"""An opencode from outside develops a unit, and another one in the engine uses it. Only the models are scripted.

Source: remote-mcp, "External Unit MCP Server"; opencode as an MCP client, section 2.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.live.conftest import Live, Session
from tests.live.engine import LiveEngine, wait_until
from tests.live.opencode import OpenCode, isolated_environment, users_configuration
from tests.live.scripted_model import Call, ModelRequest, ScriptedModel, Step
from tests.transport.unit_server_process import UnitServerProcess

pytestmark = [pytest.mark.live, pytest.mark.slow]

PREFIX = "space-unit-dev_"
"""What opencode puts before the name of each tool: the server's name in its configuration."""

DONE = Step(text="Done.")

UNIT = '''\
"""Dice for the table."""

from space_unit import preset, tool


@tool
async def double(pips: int) -> int:
    """Double the pips of a die."""
    return pips * 3


dice = preset("dice", tools=[double], contexts=[{"surface": "any"}])
'''

TEST = """\
from ..unit import double


async def test_it_doubles() -> None:
    assert await double(4) == 8
"""

PATCH = """\
--- a/unit.py
+++ b/unit.py
@@ -7,3 +7,3 @@
 async def double(pips: int) -> int:
     \"\"\"Double the pips of a die.\"\"\"
-    return pips * 3
+    return pips * 2
"""


def result_of(request: ModelRequest) -> Any:
    """The result of the one call before this request, as the model reads it."""
    (text,) = request.results
    return json.loads(text)


def step(tool: str, **arguments: Any) -> Step:
    return Step(calls=(Call(f"space_unit_{tool}", arguments),))


@pytest.mark.parametrize(
    "flags",
    [pytest.param((), id="direct"), pytest.param(("--force-sse",), id="force-sse", marks=pytest.mark.nightly)],
)
def test_an_agent_from_outside_develops_a_unit_and_one_in_the_engine_uses_it(
    flags: tuple[str, ...], opencode_binary: Path, tmp_path: Path
) -> None:
    environment = isolated_environment(tmp_path)
    project = tmp_path / "project"
    project.mkdir()
    own = tmp_path / "config" / "opencode"
    own.mkdir()
    with (
        ScriptedModel() as model,
        UnitServerProcess(tmp_path, *flags, environment=_with_model(environment, own, model)) as server,
        LiveEngine(tmp_path, environment, "--units", str(server.units)) as engine,
    ):
        # What the document asks of callers, and no more.
        outside = {**environment, "XDG_CONFIG_HOME": str(server.config_home)}
        with OpenCode(opencode_binary, project, outside) as opencode:
            assert opencode.mcp_status() == {"space-unit-dev": {"status": "connected"}}
            _develop(Session(Live(engine, opencode, model, "outside"), opencode.create_session()), server)
        wait_until(lambda: _offers(engine, "space_dice_double"), "the engine follows", 10)

        launch = engine.ask("opencode", "--dir", str(tmp_path / "isolated"))
        inside = {name: value for name, value in {**environment, **launch["environment"]}.items() if value is not None}
        with OpenCode(opencode_binary, project, inside) as opencode:
            session = Session(Live(engine, opencode, model, "inside"), opencode.create_session())
            before, after = session.turn(Step(calls=(Call("space_dice_double", {"pips": 21}),)), DONE)
            assert "space_space_dice_double" in before.tools
            assert not [name for name in before.tools if name.startswith("space_space_unit_")]
            assert result_of(after) == {"result": 42}


def _develop(session: Session, server: UnitServerProcess) -> None:
    requests = session.turn(
        step("create_source", unit_id="dice", path="unit.py", source=UNIT),
        step("create_source", unit_id="dice", path="tests/test_unit.py", source=TEST),
        step("run_tests", unit_id="dice"),
        step("apply_patch", unit_id="dice", patch=PATCH),
        step("run_tests", unit_id="dice"),
        step("reload", unit_id="dice"),
        DONE,
    )
    ten = ("apply_patch", "create_source", "inspect", "list", "read_log", "read_source", "reload", "resolve")
    for request in requests:
        assert sorted(request.tools) == [f"{PREFIX}space_unit_{name}" for name in (*ten, "run_tests", "snapshot")]
    first, made, tested, failed, patched, passed, reloaded = requests
    assert "space_unit_create_source" in first.system_prompt
    assert result_of(made)["unit"]["tools"] == ["space_dice_double"]
    assert result_of(tested)["files"][0]["path"] == "tests/test_unit.py"
    assert (result_of(failed)["passed"], result_of(failed)["failed"][0]["test"]) == (
        False,
        "tests/test_unit.py::test_it_doubles",
    )
    assert result_of(patched)["reloaded"]
    assert result_of(passed)["passed"]
    assert result_of(reloaded)["unit"]["state"] == "loaded"
    assert "pips * 2" in (server.units / "dice" / "unit.py").read_text(encoding="utf-8")


def _with_model(environment: dict[str, str], own: Path, model: ScriptedModel) -> dict[str, str]:
    """The environment of a user whose own opencode has this model."""
    (own / "opencode.json").write_text(json.dumps(users_configuration(model.url)), encoding="utf-8")
    return environment


def _offers(engine: LiveEngine, tool: str) -> bool:
    return any(row["mcp_name"] == tool for row in engine.ask("tools", "--shown")["tools"])
