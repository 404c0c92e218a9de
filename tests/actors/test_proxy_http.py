"""Units that stand for MCP servers at an address: the official server, which comes, goes and comes back."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio

from presets.unit_shop import UnitState
from protocol.tool import ToolError
from tests.actors.fakes import text_of
from tests.actors.proxies_on_trial import PRESETS, ProxyTrial, loaded, manifest, write_unit
from tests.actors.test_proxy_units import Listening, call_with
from tests.actors.units_on_trial import units_on_trial

pytestmark = [
    pytest.mark.slow,
    # The official client leaves its generators to the collector, once their responses are closed.
    pytest.mark.filterwarnings("ignore:Async generator .* was garbage collected:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

OFFICIAL = Path(__file__).with_name("official_mcp_server.py")
NAMES = ("space_notes_add", "space_notes_grow", "space_notes_steps", "space_notes_token", "space_notes_wait")

START_SECONDS = 20.0
"""The official server takes a second to start, and longer on a busy machine."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@asynccontextmanager
async def serving(port: int, *command: str) -> AsyncGenerator[trio.Process]:
    """The official server on that port, or what that command of Python serves there, for the block."""
    process = await trio.lowlevel.open_process(
        [sys.executable, *(command or (str(OFFICIAL), str(port)))], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        with trio.fail_after(START_SECONDS):
            while True:
                try:
                    stream = await trio.open_tcp_stream("127.0.0.1", port)
                except OSError:
                    await trio.sleep(0.05)
                else:
                    await stream.aclose()
                    break
        yield process
    finally:
        process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()


def address(port: int, more: str = "") -> str:
    return f'kind = "proxy"\n[proxy]\nurl = "http://127.0.0.1:{port}/mcp"\n{more}\n{PRESETS}'


@asynccontextmanager
async def proxy_of(folder: Path, port: int, more: str = "") -> AsyncGenerator[ProxyTrial]:
    write_unit(folder, address(port, more))
    async with units_on_trial(folder) as trial:
        await loaded(trial)
        yield ProxyTrial(trial.space, trial.root, folder)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is looked at now and then is looked at often."""
    monkeypatch.setattr("actors.proxy_server.FIRST_WAIT_SECONDS", 0.2)
    monkeypatch.setattr("actors.proxy_server.LONGEST_WAIT_SECONDS", 0.4)
    monkeypatch.setattr("actors.proxy_connection.HEALTH_SECONDS", 0.2)


async def test_a_server_at_an_address_is_called_with_the_headers_of_the_manifest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOTES_TOKEN", "s3cr3t-token-of-tests")
    port, more = free_port(), '[proxy.headers]\nAuthorization = "Bearer env:NOTES_TOKEN"'
    async with serving(port), proxy_of(tmp_path, port, more) as t:
        assert t.tools == NAMES
        assert (await t.call("space_notes_add", {"a": 1, "b": 2})).structured == {"sum": 3}
        assert text_of(await t.call("space_notes_token")) == "Bearer s3cr3t-token-of-tests"
        assert "s3cr3t" not in await t.log()
        by = Listening()
        await call_with(t, "space_notes_steps", by)
        assert by.told[-1] == (3, 3, "step 3")


async def test_its_changes_are_followed(tmp_path: Path) -> None:
    port = free_port()
    async with serving(port), proxy_of(tmp_path, port) as trial:
        assert text_of(await trial.call("space_notes_grow")) == "grown"
        await trial.until(lambda: "space_notes_late" in trial.tools)
        assert text_of(await trial.call("space_notes_late")) == "late"


async def test_a_call_that_is_cancelled_holds_up_no_other(tmp_path: Path) -> None:
    port = free_port()
    async with serving(port), proxy_of(tmp_path, port, "call_seconds = 1") as trial:
        with trio.move_on_after(0.2):
            await trial.call("space_notes_wait")
        assert (await trial.call("space_notes_add", {"a": 1, "b": 2})).structured == {"sum": 3}
        with pytest.raises(ToolError, match="has not answered within 1 s"):
            await trial.call("space_notes_wait")


@pytest.mark.usefixtures("impatient")
async def test_a_server_that_comes_late_goes_and_comes_back_is_followed(tmp_path: Path) -> None:
    port = free_port()
    async with proxy_of(tmp_path, port) as trial:
        await trial.until(lambda: trial.row("notes").state is UnitState.STALE)
        assert "its server is away" in (trial.row("notes").problem or "")
        assert trial.tools == ()
        async with serving(port):
            await trial.until(lambda: trial.tools == NAMES)
            await trial.until(lambda: trial.row("notes").state is UnitState.LOADED)
        await trial.until(lambda: trial.row("notes").state is UnitState.STALE)
        assert trial.tools == NAMES
        with pytest.raises(ToolError, match="the MCP server of unit 'notes' is away"):
            await trial.call("space_notes_add", {"a": 1, "b": 2})
        async with serving(port):
            await trial.until(lambda: trial.row("notes").state is UnitState.LOADED)
            assert (await trial.call("space_notes_add", {"a": 1, "b": 2})).structured == {"sum": 3}


async def test_a_server_that_was_started_anew_is_greeted_again_once_a_call_shows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.proxy_server.FIRST_WAIT_SECONDS", 0.2)
    port = free_port()
    async with serving(port) as process:
        write_unit(tmp_path, address(port))
        async with units_on_trial(tmp_path) as trial:
            await trial.until(lambda: trial.tools == NAMES)
            process.kill()
            await process.wait()
            async with serving(port):
                with pytest.raises(ToolError, match="the MCP server of unit 'notes'"):
                    await trial.call("space_notes_add", {"a": 1, "b": 2})
                await trial.until(lambda: trial.row("notes").version == 2)
                assert (await trial.call("space_notes_add", {"a": 1, "b": 2})).structured == {"sum": 3}


async def test_what_is_no_mcp_server_is_told(tmp_path: Path) -> None:
    port = free_port()
    async with (
        serving(port, "-m", "http.server", "--bind", "127.0.0.1", str(port)),
        proxy_of(tmp_path, port) as trial,
    ):
        await trial.until(lambda: trial.row("notes").state is UnitState.STALE)
        assert "its server is away: it did not answer the handshake" in (trial.row("notes").problem or "")


async def test_an_answer_that_is_too_large_is_refused_and_the_next_call_goes_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()
    async with serving(port), proxy_of(tmp_path, port) as trial:
        monkeypatch.setattr("actors.proxy_http.MAX_BODY_BYTES", 50)
        with pytest.raises(ToolError):
            await trial.call("space_notes_add", {"a": 1, "b": 2})
        monkeypatch.undo()
        await trial.until(lambda: trial.row("notes").state is UnitState.LOADED)
        assert (await trial.call("space_notes_add", {"a": 1, "b": 2})).structured == {"sum": 3}


async def test_the_official_server_over_pipes_is_served_like_any_other(tmp_path: Path) -> None:
    write_unit(tmp_path, manifest([sys.executable, str(OFFICIAL), "stdio"]))
    async with units_on_trial(tmp_path) as started:
        trial = ProxyTrial(started.space, started.root, tmp_path)
        await trial.until(lambda: trial.tools == NAMES)
        with trio.move_on_after(0.3):
            await trial.call("space_notes_wait")
        assert (await trial.call("space_notes_add", {"a": 1, "b": 2})).structured == {"sum": 3}
        with trio.fail_after(10):
            while "the wait was cancelled" not in await trial.log():  # noqa: ASYNC110 - a file tells nobody
                await trio.sleep(0.05)
        await trial.call("space_notes_grow")
        await trial.until(lambda: "space_notes_late" in trial.tools)
