"""`space opencode` writes an isolated configuration and becomes opencode."""

from __future__ import annotations

import json
import os
import shlex
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from cli.failure import REFUSED
from tests.cli.conftest import Space
from tests.cli.fake_engine import FakeEngine, Reply
from tests.cli.test_agents import agent, unusable

FAKE_OPENCODE = f"""#!{sys.executable}
import json, os, sys
json.dump({{"arguments": sys.argv[1:], "environment": dict(os.environ), "pid": os.getpid()}}, sys.stdout)
sys.exit(7)
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program named opencode that prints how it was started and exits with 7; the folder holds nothing else."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "opencode"
    program.write_text(FAKE_OPENCODE)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    return program


@pytest.fixture
def missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No opencode anywhere."""
    monkeypatch.setenv("PATH", str(tmp_path))


def home_of(engine: FakeEngine, tmp_path: Path) -> Path:
    port = engine.url.rpartition(":")[2]
    return tmp_path / "xdg_data_home" / "space" / "opencode" / f"127.0.0.1-{port}"


def test_print_writes_the_configuration_and_says_how_to_use_it(
    space: Space, engine: FakeEngine, tmp_path: Path
) -> None:
    ran = space("opencode", "--print", "--", "run", "draw a house")
    home = home_of(engine, tmp_path)
    label, line = ran.out.splitlines()
    assert ran.code == 0
    assert label == f"OPENCODE_XDG_CONFIG_HOME={home}"
    words = shlex.split(line)
    assert f"XDG_CONFIG_HOME={home}" in words
    assert words[-3:] == ["opencode", "run", "draw a house"]
    written = json.loads((home / "opencode" / "opencode.json").read_text())
    assert written["mcp"]["space"]["url"] == f"{engine.url}/mcp"


def test_the_configuration_can_go_elsewhere(space: Space, engine: FakeEngine, tmp_path: Path) -> None:
    ran = space("opencode", "--print", "--dir", "my own")
    assert f"OPENCODE_XDG_CONFIG_HOME={tmp_path / 'my own'}" in ran.out.splitlines()
    assert (tmp_path / "my own" / "opencode" / "opencode.json").is_file()
    assert not (tmp_path / "xdg_data_home").exists()


def test_nobody_else_may_read_the_token(space: Space, engine: FakeEngine, tmp_path: Path) -> None:
    engine.token = "s3cret"
    ran = space("opencode", "--print", "--token", "s3cret")
    file = home_of(engine, tmp_path) / "opencode" / "opencode.json"
    assert "Bearer s3cret" in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "s3cret" not in ran.out


def test_opencode_has_nothing_to_install_there(space: Space, engine: FakeEngine, tmp_path: Path) -> None:
    space("opencode", "--print")
    folder = home_of(engine, tmp_path) / "opencode"
    assert (folder / "node_modules").is_dir()
    assert "@opencode-ai/plugin" in (folder / "package-lock.json").read_text()


def test_the_users_own_configuration_is_read_for_the_model_and_never_written(
    space: Space, engine: FakeEngine, tmp_path: Path
) -> None:
    own = tmp_path / "xdg_config_home" / "opencode"
    own.mkdir(parents=True)
    (own / "opencode.jsonc").write_text('{"model": "a/b", "mcp": {"other": {}}} // mine')
    space("opencode", "--print")
    written = json.loads((home_of(engine, tmp_path) / "opencode" / "opencode.json").read_text())
    assert written["model"] == "a/b"
    assert list(written["mcp"]) == ["space"]
    assert [file.name for file in own.iterdir()] == ["opencode.jsonc"]
    assert (own / "opencode.jsonc").read_text() == '{"model": "a/b", "mcp": {"other": {}}} // mine'


def test_a_broken_configuration_of_the_user_is_noted_and_done_without(space: Space, tmp_path: Path) -> None:
    own = tmp_path / "xdg_config_home" / "opencode"
    own.mkdir(parents=True)
    (own / "opencode.json").write_text("{")
    ran = space("opencode", "--print")
    assert ran.code == 0
    assert str(own) in ran.err


def test_programs_get_what_they_need_to_start_it(
    space: Space, engine: FakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENCODE_CONFIG", "/elsewhere")
    answer = space("opencode", "--json", "--", "run").json
    assert answer["xdg_config_home"] == str(home_of(engine, tmp_path))
    assert Path(answer["configuration"]).is_file()
    assert answer["command"] == ["opencode", "run"]
    assert answer["environment"]["OPENCODE_CONFIG"] is None


@pytest.mark.usefixtures("missing")
def test_where_opencode_is_missing_it_is_said_how_to_install_it(
    space: Space, engine: FakeEngine, tmp_path: Path
) -> None:
    ran = space("opencode")
    assert ran.code == REFUSED
    assert "opencode is not installed" in ran.err
    assert "npm install -g opencode-ai" in ran.err
    assert space("opencode", "--print").code == 0


def test_without_an_engine_nothing_is_written(space: Space, engine: FakeEngine, tmp_path: Path) -> None:
    engine.token = "s3cret"
    assert space("opencode", "--print").code == REFUSED
    assert not (tmp_path / "xdg_data_home").exists()


@pytest.mark.slow
def test_the_command_becomes_opencode(space: Space, engine: FakeEngine, installed: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "OPENCODE_CONFIG": "/elsewhere", "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", "from cli.main import main; main()", "opencode", "--", "run", "--model", "a/b"]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        out, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (7, "")
    started = json.loads(out)
    assert started["arguments"] == ["run", "--model", "a/b"]
    assert started["pid"] == process.pid
    assert started["environment"]["XDG_CONFIG_HOME"] == str(home_of(engine, tmp_path))
    assert started["environment"]["XDG_DATA_HOME"] == str(tmp_path / "xdg_data_home")
    assert "OPENCODE_CONFIG" not in started["environment"]


def test_opencode_can_be_pointed_at_an_agent_and_shares_no_folder(
    space: Space, engine: FakeEngine, tmp_path: Path
) -> None:
    engine.replies["GET", "/api/agents/code"] = Reply.of(agent("code", mode="code"))
    space("opencode", "--print", "--agent", "code")
    home = home_of(engine, tmp_path)
    file = home.with_name(f"{home.name}-code") / "opencode" / "opencode.json"
    assert json.loads(file.read_text())["mcp"]["space"]["url"] == f"{engine.url}/mcp/code"
    assert not home.exists()


def test_opencode_is_not_started_as_an_agent_that_cannot_be_used(
    space: Space, engine: FakeEngine, tmp_path: Path
) -> None:
    engine.replies["GET", "/api/agents/code"] = Reply.of(unusable("code", "needs the code runtime"))
    for name in ("code", "nobody"):
        assert space("opencode", "--print", "--agent", name).code == REFUSED
    assert "needs the code runtime" in space("opencode", "--print", "--agent", "code").err
    assert not (tmp_path / "xdg_data_home").exists()
