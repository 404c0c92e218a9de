"""`space units serve`, from outside: its tools, what it hands to opencode, and how it ends.

Numbers are those of the cases that the existing engine asserts of its external unit server; what is a matter of the
tools themselves stands in `tests/actors/test_unit_tools.py`.
"""

from __future__ import annotations

import json
import os
import signal
import stat
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.actors.units_on_trial import code_of
from tests.transport.mcp_client import McpClient, SseClient, initialize, rpc
from tests.transport.raw_http import BOUND_SECONDS, connected
from tests.transport.serving_process import ended_at_once, is_running
from tests.transport.stateless_client import StatelessClient
from tests.transport.unit_server_process import SPACE, UnitServerProcess
from transport.opencode_units import NATIVE_PERMISSIONS, unit_server_configuration
from transport.unit_server import check_units

pytestmark = pytest.mark.slow

TEN = {
    f"space_unit_{name}"
    for name in (
        *("resolve", "inspect", "read_source", "apply_patch", "create_source"),
        *("run_tests", "reload", "read_log", "snapshot", "list"),
    )
}

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")

LOUD = code_of(extra="print('a unit speaks')\n")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UnitServerProcess]:
    """One server for the tests that leave no unit behind which others would see."""
    with UnitServerProcess(tmp_path_factory.mktemp("server")) as server:
        yield server


async def client_of(server: UnitServerProcess, version: str = "2025-06-18") -> McpClient:
    return await McpClient.initialized(server.port, version)


async def result_of(client: McpClient, tool: str, **arguments: Any) -> Any:
    """The structured result of a call, which must be a success, and stand in the text too."""
    result = await client.call(f"space_unit_{tool}", arguments)
    assert not result.get("isError"), result
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    return result["structuredContent"]


async def refusal_of(client: McpClient, tool: str, **arguments: Any) -> str:
    """The text of a call that must fail."""
    answer = await client.ask("tools/call", {"name": f"space_unit_{tool}", "arguments": arguments})
    if "error" in answer:
        return answer["error"]["message"]
    assert answer["result"]["isError"], answer
    return answer["result"]["content"][0]["text"]


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Look again and again until another process has brought something about."""
    with trio.fail_after(BOUND_SECONDS):
        while not await condition():  # noqa: ASYNC110 - nothing here hears of it
            await trio.sleep(0.02)


# What it offers


@pytest.mark.parametrize("version", VERSIONS)
async def test_in_every_revision_with_sessions_it_offers_exactly_the_ten_tools(
    server: UnitServerProcess, version: str
) -> None:  # 262
    client = await client_of(server, version)
    assert client.version == version
    tools = (await client.ask("tools/list"))["result"]["tools"]
    assert {tool["name"] for tool in tools} == TEN
    assert len(tools) == len(TEN)
    for tool in tools:
        assert tool["description"]
        assert tool["inputSchema"]["type"] == "object"


async def test_without_sessions_it_offers_the_same(server: UnitServerProcess) -> None:
    listed = await StatelessClient(server.port).ask("tools/list")
    assert {tool["name"] for tool in listed["tools"]} == TEN


async def test_it_has_no_other_agents_and_nothing_but_tools(server: UnitServerProcess) -> None:
    result = (await McpClient(server.port).post(initialize())).json["result"]
    assert result["serverInfo"]["name"] == "space-unit-dev"
    assert "space_unit_create_source" in result["instructions"]
    assert "surface" not in result["instructions"].replace('"surface": "any"', "")
    client = await client_of(server)
    assert (await client.ask("resources/list"))["result"]["resources"] == []
    (prompt,) = (await client.ask("prompts/list"))["result"]["prompts"]
    assert prompt["name"] == "space_preset_unit-look-tools"
    async with connected(server.port) as connection:
        for agent in ("standard", "creative", "code"):
            assert (await connection.request("GET", f"/mcp/{agent}")).status == 404


async def test_a_unit_is_made_tested_mended_and_loaded_again(tmp_path: Path) -> None:  # 221 to 232, 255 to 269
    with UnitServerProcess(tmp_path) as server:
        client = await client_of(server)
        assert await result_of(client, "list") == {"units": []}
        made = await result_of(client, "create_source", unit_id="dice", path="unit.py", source=LOUD)
        assert (made["unit"]["tools"], made["unit"]["state"]) == (["space_dice_roll"], "loaded")
        assert (server.units / "dice" / "unit.py").read_text() == LOUD
        assert (server.units / "dice" / "unit.toml").is_file()

        # What it contributes stays where it is tried out.
        assert set(await client.tool_names()) == TEN
        tests = "from ..unit import roll\n\n\nasync def test_it() -> None:\n    assert await roll() == 4\n"
        await result_of(client, "create_source", unit_id="dice", path="tests/test_unit.py", source=tests)
        failed = await result_of(client, "run_tests", unit_id="dice")
        assert (failed["passed"], failed["failed_count"]) == (False, 1)
        assert failed["failed"][0]["test"] == "tests/test_unit.py::test_it"
        read = await result_of(client, "read_source", unit_id="dice", path="unit.py")
        change = {"path": "unit.py", "old": "return 1", "new": "return 4"}
        assert "hash" in await refusal_of(client, "apply_patch", unit_id="dice", expected_hash="sha256:0", **change)
        patched = await result_of(client, "apply_patch", unit_id="dice", expected_hash=read["hash"], **change)
        assert patched["reloaded"]
        assert (await result_of(client, "run_tests", unit_id="dice"))["passed"]
        reloaded = (await result_of(client, "reload", unit_id="dice"))["unit"]
        assert (reloaded["state"], reloaded["version"]) == ("loaded", 3)

        looked = await result_of(client, "inspect", unit_id="dice")
        assert [file["path"] for file in looked["files"]] == ["tests/test_unit.py", "unit.py", "unit.toml"]
        assert all(file["hash"].startswith("sha256:") for file in looked["files"])
        assert (await result_of(client, "resolve", description="roll"))["candidates"][0]["unit_id"] == "dice"
        assert "limit" in await refusal_of(client, "resolve", description="roll", limit=-1)
        assert "integer" in await refusal_of(client, "resolve", description="roll", limit=1.5)
        assert (await result_of(client, "snapshot", unit_id="dice"))["supported"]
        log = await result_of(client, "read_log", unit_id="dice", grep="takes it back")
        assert log["lines"]
        assert set(log) == {"lines", "total_lines"}
        code, more = server.end(signal.SIGTERM)
        assert (code, more) == (0, "")
        # Where an engine finds them.
        kept = tmp_path / "xdg-data" / "space"
        assert list((kept / "unit-snapshots" / "dice").iterdir())
        assert "a unit speaks" in server.log.read_text(encoding="utf-8")


async def test_what_an_engine_would_refuse_is_refused_with_nothing_left(tmp_path: Path) -> None:
    with UnitServerProcess(tmp_path) as server:
        client = await client_of(server)
        said = await refusal_of(client, "create_source", unit_id="bad", path="unit.py", source="def (:")
        assert "SyntaxError" in said
        taken = code_of(tool="undo", unit="drawing")
        said = await refusal_of(client, "create_source", unit_id="drawing", path="unit.py", source=taken)
        assert "'drawing' is what Space calls something of its own" in said
        said = await refusal_of(client, "create_source", unit_id="dise", path="tests/test_unit.py", source="")
        assert "To begin a new one, create its unit.py first" in said
        said = await refusal_of(client, "create_source", unit_id="dice", path="unit.toml", source="")
        assert "has no unit.py" in said
        said = await refusal_of(client, "create_source", unit_id="../dice", path="unit.py", source=code_of())
        assert "small letters" in said
        assert list(server.units.iterdir()) == []
        assert await result_of(client, "list") == {"units": []}


async def test_an_editor_beside_it_is_followed(tmp_path: Path) -> None:
    with UnitServerProcess(tmp_path) as server:
        client = await client_of(server)
        (server.units / "dice").mkdir()
        (server.units / "dice" / "unit.py").write_text(code_of())
        (server.units / "dice" / "unit.toml").touch()

        async def listed() -> bool:
            return [unit["state"] for unit in (await result_of(client, "list"))["units"]] == ["loaded"]

        await until(listed)
        async with connected(server.port) as connection:
            (row,) = (await connection.request("GET", "/api/units")).json["units"]
        assert row["tools"] == ["space_dice_roll"]


async def test_of_changes_of_two_servers_on_one_folder_none_is_lost(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    with (
        UnitServerProcess(tmp_path) as one,
        UnitServerProcess(
            tmp_path / "other", "--units", str(tmp_path / "units"), "--data", str(tmp_path / "d")
        ) as other,
    ):
        counter = code_of(answer="0")
        await result_of(await client_of(one), "create_source", unit_id="dice", path="unit.py", source=counter)
        done: list[int] = []

        async def count(server: UnitServerProcess, times: int) -> None:
            client = await client_of(server)
            made = 0
            while made < times:
                read = await result_of(client, "read_source", unit_id="dice", path="unit.py")
                number = int(read["text"].partition("return ")[2].split()[0])
                arguments = {
                    "name": "space_unit_apply_patch",
                    "arguments": {
                        "unit_id": "dice",
                        "path": "unit.py",
                        "expected_hash": read["hash"],
                        "old": f"return {number}\n",
                        "new": f"return {number + 1}\n",
                    },
                }
                result = (await client.ask("tools/call", arguments))["result"]
                if result.get("isError"):
                    assert "has changed since it was read" in result["content"][0]["text"]
                    continue
                made += 1
                done.append(number + 1)

        async def knows() -> bool:
            listed = (await result_of(await client_of(other), "list"))["units"]
            return [unit["state"] for unit in listed] == ["loaded"]

        await until(knows)
        with trio.fail_after(60):
            async with trio.open_nursery() as editors:
                for server, times in ((one, 8), (one, 8), (other, 8), (other, 8)):
                    editors.start_soon(count, server, times)
        assert sorted(done) == list(range(1, 33))
        assert "return 32\n" in (one.units / "dice" / "unit.py").read_text()
        assert sorted(path.name for path in (one.units / "dice").iterdir()) == ["unit.py", "unit.toml"]


async def test_in_forced_sse_mode_the_ten_come_over_the_single_stream(tmp_path: Path) -> None:
    with UnitServerProcess(tmp_path, "--force-sse") as server:
        client = await SseClient.opened(server.port)
        try:
            await client.post(initialize())
            await client.post(rpc("notifications/initialized", request_id=None))
            await client.post(rpc("tools/list", request_id=9))
            with trio.fail_after(BOUND_SECONDS):
                while (listed := await client.stream.next_message()).get("id") != 9:
                    pass
            assert {tool["name"] for tool in listed["result"]["tools"]} == TEN
        finally:
            await client.stream.finish()


# What it hands to opencode


def test_opencode_gets_a_private_folder_with_this_server_alone(server: UnitServerProcess) -> None:  # 270 to 272
    assert stat.S_IMODE(server.config_home.stat().st_mode) == 0o700
    assert server.config_home.parent == server.temporary
    file = server.config_home / "opencode" / "opencode.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    configuration = json.loads(file.read_text(encoding="utf-8"))
    (entry,) = configuration["mcp"].items()
    assert entry[0] == "space-unit-dev"
    assert (entry[1]["type"], entry[1]["enabled"], entry[1]["url"]) == ("remote", True, server.url)


def test_everything_that_is_opencodes_own_is_denied() -> None:
    permission: dict[str, str] = unit_server_configuration("http://127.0.0.1:1/mcp")["permission"]
    # The last rule that matches wins.
    assert next(iter(permission.items())) == ("*", "deny")
    document = (
        "read write edit grep glob list bash task external_directory todowrite webfetch websearch lsp skill question"
    )
    assert set(document.split()) <= set(NATIVE_PERMISSIONS)
    assert {permission[name] for name in NATIVE_PERMISSIONS} == {"deny"}
    allowed = {name for name, state in permission.items() if state != "deny"}
    assert allowed == {"doom_loop", "invalid", "space-unit-dev_space_unit_*"}


def test_the_users_own_opencode_is_read_for_its_model_and_never_touched(tmp_path: Path) -> None:
    own = tmp_path / "config" / "opencode"
    own.mkdir(parents=True)
    theirs = {"model": "mine/best", "permission": {"bash": "allow"}, "mcp": {"other": {"type": "remote", "url": "x"}}}
    (own / "opencode.json").write_text(json.dumps(theirs))
    before = _tree(tmp_path / "config")
    environment = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path / "config"), "HOME": str(tmp_path / "home")}
    with UnitServerProcess(tmp_path, environment=environment) as server:
        made = json.loads((server.config_home / "opencode" / "opencode.json").read_text())
        assert made["model"] == "mine/best"
        assert list(made["mcp"]) == ["space-unit-dev"]
        assert made["permission"]["bash"] == "deny"
        assert server.end(signal.SIGTERM)[0] == 0
    assert _tree(tmp_path / "config") == before
    assert not (tmp_path / "home").exists()


async def test_a_token_is_demanded_and_handed_to_opencode(tmp_path: Path) -> None:
    with UnitServerProcess(tmp_path, "--token", "s3cret") as server:
        made = json.loads((server.config_home / "opencode" / "opencode.json").read_text())
        headers = made["mcp"]["space-unit-dev"]["headers"]
        assert headers == {"Authorization": "Bearer s3cret"}
        async with connected(server.port) as connection:
            assert (await connection.request("GET", "/api/units")).status == 403
        async with connected(server.port) as connection:
            assert (await connection.request("GET", "/api/units", tuple(headers.items()))).status == 200


# How it ends


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_well_and_takes_its_folder_away(tmp_path: Path, number: signal.Signals) -> None:
    with UnitServerProcess(tmp_path) as server:
        assert server.config_home.is_dir()
        assert server.end(number) == (0, "")
    assert list(server.temporary.iterdir()) == []


def test_what_a_killed_server_left_goes_with_the_next_start_and_what_another_has_stays(tmp_path: Path) -> None:
    with UnitServerProcess(tmp_path) as killed, UnitServerProcess(tmp_path) as other:
        stranger = killed.temporary / "space-unit-server-of-nobody-to-speak-of"
        stranger.symlink_to(tmp_path)
        killed.process.kill()
        killed.process.wait()
        assert (killed.config_home / "opencode" / "opencode.json").is_file()
        with UnitServerProcess(tmp_path) as following:
            assert not killed.config_home.exists()
            assert (other.config_home / "opencode" / "opencode.json").is_file()
            assert following.end(signal.SIGTERM)[0] == 0
        assert other.end(signal.SIGTERM)[0] == 0
        assert list(killed.temporary.iterdir()) == [stranger]


async def test_a_second_signal_ends_it_at_once_with_the_tests_that_run(tmp_path: Path) -> None:
    with UnitServerProcess(tmp_path) as server:
        client = await client_of(server)
        await result_of(client, "create_source", unit_id="dice", path="unit.py", source=code_of())
        pid_file = tmp_path / "pid"
        endless = (
            f"import os, time\n\n\ndef test_it() -> None:\n    open({str(pid_file)!r}, 'w').write(str(os.getpid()))\n"
        )
        endless += "    time.sleep(60)\n"
        await result_of(client, "create_source", unit_id="dice", path="tests/test_unit.py", source=endless)
        async with trio.open_nursery() as nursery:

            async def run_tests() -> None:
                # The connection breaks, which is what is wanted.
                with suppress(Exception):
                    await result_of(client, "run_tests", unit_id="dice")

            nursery.start_soon(run_tests)

            async def has_begun() -> bool:
                return pid_file.exists() and pid_file.read_text() != ""

            async def is_closed() -> bool:
                try:
                    async with connected(server.port):
                        return False
                except OSError:
                    return True

            await until(has_begun)
            pid = int(pid_file.read_text())
            server.process.send_signal(signal.SIGTERM)
            await until(is_closed)
            assert server.process.poll() is None
            assert server.config_home.is_dir()
            code, _ = await trio.to_thread.run_sync(server.end, signal.SIGTERM)
            assert code == 128 + signal.SIGTERM
            nursery.cancel_scope.cancel()
        assert not is_running(pid)
    assert not server.config_home.exists()


# What keeps it from starting


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (("--units", "nowhere"), "'nowhere' does not exist"),
        (("--port", "{taken}"), "cannot start: port {taken} on 127.0.0.1 is taken"),
        (("--host", "0.0.0.0"), "cannot start: '0.0.0.0' is a non-loopback address"),
    ],
)
async def test_what_it_cannot_serve_is_said_in_a_line(
    tmp_path: Path, server: UnitServerProcess, flags: tuple[str, ...], expected: str
) -> None:
    given = [flag.format(taken=server.port) for flag in flags]
    command = [str(SPACE), "units", "serve", "--data", str(tmp_path / "data"), "--units", str(tmp_path), *given]
    code, out, said = await ended_at_once(command)
    assert (code, out) == (2, "")
    assert expected.format(taken=server.port) in said
    assert "Traceback" not in said


def test_a_folder_in_which_no_unit_could_be_made_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="the folder /proc cannot be written to"):
        check_units(Path("/proc"))
    with pytest.raises(OSError, match="is not a folder"):
        check_units(tmp_path / "nowhere")
    (tmp_path / "unit.toml").touch()
    with pytest.raises(OSError, match="is a unit itself; name the folder that it lies in"):
        check_units(tmp_path)


def _tree(root: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(root)): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in sorted(root.rglob("*"))
    }
