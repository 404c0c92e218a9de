"""The real opencode, a scripted model and a real engine, put together as a user puts them together."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.live.engine import LiveEngine, wait_until
from tests.live.opencode import OpenCode, isolated_environment, users_configuration
from tests.live.scripted_model import ModelRequest, Reply, ScriptedModel

BINARY = Path(__file__).parent / "node_modules" / ".bin" / "opencode"

MODES = {"direct": (), "force-sse": ("--force-sse",)}


@dataclass(frozen=True)
class Live:
    """One opencode, connected to one engine, with a model that follows a script."""

    engine: LiveEngine
    opencode: OpenCode
    model: ScriptedModel
    mode: str

    def change(self, *arguments: str) -> None:
        """Run a `space` command that changes the tools, and wait until opencode has fetched the new list."""
        listed = self.lists()
        self.engine.space(*arguments)
        wait_until(lambda: self.lists() > listed, "opencode lists the tools again")

    def lists(self) -> int:
        """How often the engine was asked for its tools."""
        return self.engine.ask("status")["mcp"]["tools_list_count"]


@dataclass(frozen=True)
class Session:
    """One session of opencode."""

    live: Live
    id: str

    def turn(self, *steps: Reply) -> list[ModelRequest]:
        """One message of the user, answered by these steps; the requests that reached the model, in order."""
        model = self.live.model
        first = len(model.requests)
        model.play(*steps)
        try:
            self.live.opencode.prompt(self.id, "Go on.")
        finally:
            unplayed = model.unplayed()
        if model.failures:
            raise model.failures.pop()
        assert unplayed == 0, f"{unplayed} steps were never asked for"
        return model.requests[first:]


@pytest.fixture(scope="session")
def opencode_binary() -> Path:
    """The opencode from npm. Without it the test is skipped, or fails where live tests are required."""
    if not BINARY.exists():
        reason = "opencode is not installed; `make test` installs it where npm is there"
        if os.environ.get("SPACE_REQUIRE_LIVE") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    return BINARY


@pytest.fixture(scope="module", params=MODES)
def live(
    request: pytest.FixtureRequest, opencode_binary: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Live]:
    """An engine in each of its modes, and opencode with the configuration that `space opencode` writes for it."""
    mode = str(request.param)
    root = tmp_path_factory.mktemp(mode)
    environment = isolated_environment(root)
    project = root / "project"
    project.mkdir()
    with ScriptedModel() as model, LiveEngine(root, environment, *MODES[mode]) as engine:
        own = root / "config" / "opencode"
        own.mkdir()
        (own / "opencode.json").write_text(json.dumps(users_configuration(model.url)), encoding="utf-8")
        launch = engine.ask("opencode", "--dir", str(root / "isolated"))
        changed = {**environment, **launch["environment"]}
        isolated = {name: value for name, value in changed.items() if value is not None}
        with OpenCode(opencode_binary, project, isolated) as opencode:
            yield Live(engine, opencode, model, mode)


@pytest.fixture
def session(live: Live) -> Session:
    """A fresh session, with the user drawing on the canvas and every preset following the context."""
    if live.engine.ask("context", "get")["surface"] != "canvas":
        live.change("context", "set", "surface=canvas", "activity=drawing")
    for preset in live.engine.ask("presets")["presets"]:
        if preset["override_state"] != "auto":
            live.change("preset", "auto", preset["name"])
    return Session(live, live.opencode.create_session())
