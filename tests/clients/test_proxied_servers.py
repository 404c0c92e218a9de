"""Real servers from npm as units: files that are offered only while the user is in the graph, and one of everything."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.context import SetContext, SetOverride
from tests.actors.fakes import text_of
from tests.actors.proxies_on_trial import PRESETS, ProxyTrial, loaded, manifest, write_unit
from tests.actors.test_proxy_units import Listening
from tests.actors.units_on_trial import units_on_trial
from tests.clients.node_packages import node_for

SERVERS = Path(__file__).parent / "node_modules" / "@modelcontextprotocol"

FILES = """
[[proxy.preset]]
name = "notes-read"
tools = ["read_*", "list_*", "search_*", "get_*", "directory_tree"]
risk = "filesystem-read"
default = "auto"
contexts = [{ surface = "canvas", activity = "graph" }]

[[proxy.preset]]
name = "notes-write"
tools = ["*"]
risk = "filesystem-write"
"""

pytestmark = [pytest.mark.live, pytest.mark.slow]


@pytest.fixture(scope="module")
def node_path() -> str:
    """The Node that runs the servers."""
    return node_for("the servers", [SERVERS / f"server-{name}" for name in ("filesystem", "everything")])


def server(node_path: str, name: str, *arguments: str) -> list[str]:
    return [node_path, str(SERVERS / f"server-{name}" / "dist" / "index.js"), *arguments]


async def test_a_server_for_files_is_there_only_while_the_user_is_at_it(node_path: str, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.txt").write_text("hello", encoding="utf-8")
    write_unit(tmp_path, manifest(server(node_path, "filesystem", str(folder)), presets=FILES))
    async with units_on_trial(tmp_path) as trial:
        await loaded(trial)
        await trial.until(lambda: bool(trial.row("notes").tools))
        assert trial.row("notes").presets == ("notes-read", "notes-write")
        assert trial.tools == ()
        graph = {"surface": "canvas", "canvas_visible": True, "activity": "graph"}
        await trial.space.context.ask(SetContext(graph))
        assert "space_notes_read_text_file" in trial.tools
        assert "space_notes_write_file" not in trial.tools
        read = await trial.call("space_notes_read_text_file", {"path": str(folder / "a.txt")})
        assert (text_of(read), read.structured) == ("hello", {"content": "hello"})
        refused = await trial.call("space_notes_read_text_file", {"path": "/etc/passwd"})
        assert refused.is_error
        assert "outside allowed directories" in text_of(refused)
        await trial.space.context.ask(SetOverride("notes-write", "on"))
        await trial.call("space_notes_write_file", {"path": str(folder / "b.txt"), "content": "new"})
        assert (folder / "b.txt").read_text(encoding="utf-8") == "new"
        found = {entry.definition.name: entry.definition for entry in trial.space.catalog.tools.value.entries}
        assert found["space_notes_read_text_file"].reads_only
        assert found["space_notes_write_file"].destroys


async def test_a_server_with_one_of_everything_gives_it_all(node_path: str, tmp_path: Path) -> None:
    write_unit(tmp_path, manifest(server(node_path, "everything"), presets=PRESETS))
    async with units_on_trial(tmp_path) as started:
        trial = ProxyTrial(started.space, started.root, tmp_path)
        await trial.until(lambda: bool(trial.tools))
        image = await trial.call("space_notes_get_tiny_image")
        assert "image" in [block.type for block in image.content]
        weather = await trial.call("space_notes_get_structured_content", {"location": "New York"})
        assert weather.structured is not None
        assert {"temperature", "conditions"} <= weather.structured.keys()
        links = await trial.call("space_notes_get_resource_links")
        assert "resource_link" in [block.type for block in links.content]
        by = Listening()
        entry = trial.space.catalog.tools.value.get("space_notes_trigger_long_running_operation")
        assert entry is not None
        await entry.definition.run({"duration": 0.3, "steps": 3}, by)  # pyright: ignore[reportArgumentType]
        assert [done for done, _, _ in by.told] == [1, 2, 3]
        assert "can only be called as a task" in await trial.log()
