"""What the client commands say when the engine is missing, is something else, or refuses."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import closing

import pytest

from cli.client import TOKEN_REQUIRED
from cli.failure import NO_ENGINE, REFUSED, USAGE
from tests.cli.conftest import Space
from tests.cli.fake_engine import STATUS, FakeEngine, Reply
from transport.guard import GuardPolicy, check

CLIENT_COMMANDS = [
    ("status",),
    ("context", "get"),
    ("context", "set", "surface=scene"),
    ("presets",),
    ("preset", "on", "drawing-inspect-tools"),
    ("tools",),
    ("explain", "space_draw"),
    ("call", "space_draw"),
    ("export", "view.svg"),
    ("opencode", "--print"),
    ("world", "list"),
    ("world", "create", "garden"),
    ("world", "switch", "world-2"),
    ("world", "delete", "world-2"),
    ("world", "export", "world-2", "garden.space-world"),
    ("world", "import", __file__),
    ("world", "recover", "world-2"),
]


def free_port() -> int:
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@pytest.fixture
def nobody() -> str:
    """A URL at which nothing listens."""
    return f"http://127.0.0.1:{free_port()}"


@pytest.fixture
def talker() -> Iterator[str]:
    """The URL of a server that accepts, says something that is no HTTP, and closes."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:

        def talk() -> None:
            with closing(listening.accept()[0]) as peer:
                peer.recv(65536)
                peer.sendall(b"220 mail.example ESMTP\r\n")

        thread = threading.Thread(target=talk)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        thread.join()


@pytest.mark.parametrize("command", CLIENT_COMMANDS, ids=" ".join)
def test_every_command_says_when_no_engine_runs(space: Space, nobody: str, command: tuple[str, ...]) -> None:
    ran = space(*command, "--url", nobody)
    assert ran.code == NO_ENGINE == 3
    assert f"No engine answers at {nobody}" in ran.err
    assert "space serve" in ran.err
    assert ran.out == ""


@pytest.mark.parametrize("command", CLIENT_COMMANDS, ids=" ".join)
def test_every_command_fails_in_json_for_programs(space: Space, nobody: str, command: tuple[str, ...]) -> None:
    ran = space(*command, "--url", nobody, "--json")
    assert ran.code == NO_ENGINE
    assert ran.json["error"]["kind"] == "no-engine"
    assert nobody in ran.json["error"]["message"]


@pytest.mark.parametrize(
    "reply",
    [
        Reply(200, "text/html", b"<h1>It works!</h1>"),
        Reply(404, "text/html", b"<h1>Not found</h1>"),
        Reply(200, "application/json", b'{"hello": "world"}'),
        Reply(200, "application/json", b"[1, 2"),
        Reply(200, "application/json", b"\xff\xfe"),
        Reply(500, "application/problem+json", b"not json"),
        Reply(302, "", b""),
    ],
    ids=["page", "missing page", "other JSON", "half JSON", "no text", "broken problem", "elsewhere"],
)
@pytest.mark.parametrize("command", CLIENT_COMMANDS, ids=" ".join)
def test_another_server_is_told_from_an_engine(
    space: Space, engine: FakeEngine, command: tuple[str, ...], reply: Reply
) -> None:
    engine.reply = lambda request: reply
    ran = space(*command)
    assert ran.code == REFUSED
    assert f"What answers at {engine.url} is not a Space engine" in ran.err
    assert f"HTTP {reply.status}" in ran.err
    assert "--url" in ran.err
    assert ran.out == ""


def test_a_server_that_speaks_no_http_is_said_to(space: Space, talker: str) -> None:
    ran = space("status", "--url", talker, "--json")
    assert ran.code == REFUSED
    assert ran.json["error"]["kind"] == "connection-lost"
    assert "does not speak HTTP" in ran.err


def test_a_missing_token_is_asked_for(space: Space, engine: FakeEngine) -> None:
    engine.token = "s3cret"
    ran = space("status")
    assert ran.code == REFUSED
    assert f"The engine at {engine.url} demands a token." in ran.err
    assert "SPACE_TOKEN" in ran.err


def test_a_wrong_token_is_called_wrong_and_not_repeated(space: Space, engine: FakeEngine) -> None:
    engine.token = "s3cret"
    ran = space("status", "--token", "guessed", "--json")
    assert ran.code == REFUSED
    assert ran.json["error"]["kind"] == "token"
    assert "The token is not that of the engine" in ran.err
    assert "guessed" not in ran.out + ran.err


@pytest.mark.parametrize("command", CLIENT_COMMANDS, ids=" ".join)
def test_every_command_sends_the_token(space: Space, engine: FakeEngine, command: tuple[str, ...]) -> None:
    engine.token = "pässwort"
    space(*command, "--token", "pässwort")
    assert engine.requests
    assert all(
        request.headers["authorization"].encode("latin-1").decode() == "Bearer pässwort" for request in engine.requests
    )


def test_the_token_comes_from_the_environment(
    space: Space, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.token = "s3cret"
    monkeypatch.setenv("SPACE_TOKEN", "s3cret")
    assert space("status").code == 0


def test_an_empty_token_is_no_token(space: Space, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPACE_TOKEN", "")
    assert space("status").code == 0
    assert "authorization" not in engine.last.headers


def test_a_token_that_no_header_can_carry_is_a_usage_error(space: Space, engine: FakeEngine) -> None:
    ran = space("status", "--token", "two\r\nlines")
    assert ran.code == USAGE
    assert "a token holds no spaces" in ran.err
    assert engine.requests == []


def test_the_title_by_which_the_token_is_known_is_that_of_the_guard() -> None:
    refusal = check([(b"host", b"127.0.0.1")], GuardPolicy(token="s3cret"))
    assert refusal is not None
    assert refusal.title == TOKEN_REQUIRED


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
def test_a_proxy_of_the_environment_is_not_used(
    space: Space, engine: FakeEngine, nobody: str, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, nobody)
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert space("status", "--json").json == STATUS


@pytest.mark.parametrize("ending", ["", "/", "/mcp", "/mcp/"])
def test_the_url_may_be_that_of_the_mcp_endpoint(space: Space, engine: FakeEngine, ending: str) -> None:
    assert space("status", "--url", engine.url + ending).code == 0
    assert engine.last.path == "/status"


@pytest.mark.parametrize(
    "url",
    [
        "127.0.0.1:7787",
        "ftp://127.0.0.1",
        "http://",
        "http://[::1",
        "http://a:x",
        "http://a b",
        "http://a..b",
        "http://xn--",
        "http://999.1.1.1",
        "http://u:p@a",
        "http://a/?b",
        "http://a#b",
    ],
)
def test_a_url_that_is_none_is_a_usage_error(space: Space, url: str) -> None:
    ran = space("status", "--url", url)
    assert ran.code == USAGE
    assert "http://127.0.0.1:7787" in ran.err


def test_a_refusal_shows_the_detail_of_the_problem_and_has_its_members_in_json(
    space: Space, engine: FakeEngine
) -> None:
    engine.replies["PATCH", "/api/context"] = Reply.problem(
        422, "Invalid value", "surface must not be empty", at="surface"
    )
    ran = space("context", "set", "surface=x", "--json")
    assert ran.code == REFUSED
    assert "space: surface must not be empty" in ran.err
    assert ran.json["error"]["status"] == 422
    assert ran.json["error"]["at"] == "surface"


def test_control_characters_in_what_the_engine_says_do_not_reach_the_terminal(space: Space, engine: FakeEngine) -> None:
    engine.replies["GET", "/status"] = Reply.problem(409, "No", "evil \x1b[2J\x07")
    ran = space("status")
    assert "evil \\x1b[2J\\x07" in ran.err
    assert "\x1b" not in ran.err
