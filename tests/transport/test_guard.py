"""Who may speak to the engine: Host, Origin and token, on every route, the unknown ones included."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.transport.conftest import LogEntries
from tests.transport.mcp_client import BOTH, McpClient, initialize, rpc
from tests.transport.raw_http import connected, request_bytes
from tests.transport.running_engine import RunningEngine, running_engine
from transport.guard import GuardPolicy, check
from transport.listener import ListenError, open_listener

ROUTES = (
    ("POST", "/mcp"),
    ("GET", "/mcp"),
    ("DELETE", "/mcp"),
    ("GET", "/status"),
    ("GET", "/api/context"),
    ("PATCH", "/api/context"),
    ("GET", "/api/view.svg"),
    ("PUT", "/api/presets/trial-tools/override"),
    ("GET", "/nowhere"),
    ("OPTIONS", "/status"),
)
"""One of each kind of route."""

PAGE = (("GET", "/"), ("GET", "/panel/main.js"))
"""What a browser reads before it can have a token."""

TOKEN = "s3cret-and-long"


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "evil.example:7787", "10.0.0.1", "", None])
async def test_a_foreign_host_is_refused_on_every_route(engine: RunningEngine, host: str | None) -> None:
    for method, target in (*ROUTES, *PAGE):
        response = await engine.request(method, target, host=host)
        # Without any Host header HTTP/1.1 itself is broken, which is found out before us.
        assert response.status == (400 if host is None else 421), (method, target)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST:1", "[::1]", "[::1]:7787", "127.0.0.53:80"])
async def test_each_name_of_this_machine_is_served(engine: RunningEngine, host: str) -> None:
    assert (await engine.request("GET", "/status", host=host)).status == 200


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "https://127.0.0.1",
        "http://127.0.0.1:1",
        "http://localhost",
        "file://",
        "http://[",
        "\xff",
        "",
    ],
)
async def test_a_foreign_origin_is_refused_on_every_route(engine: RunningEngine, origin: str) -> None:
    for method, target in (*ROUTES, *PAGE):
        response = await engine.request(method, target, (("Origin", origin),))
        assert response.status == 403, (method, target)


async def test_pages_of_the_engine_itself_may_use_it(engine: RunningEngine) -> None:
    host = f"localhost:{engine.port}"
    response = await engine.request("GET", "/status", (("Origin", f"http://{host}"),), host=host)
    assert response.status == 200


async def test_two_origins_or_two_hosts_are_refused(engine: RunningEngine) -> None:
    twice = (("Origin", "http://127.0.0.1"), ("Origin", "http://127.0.0.1"))
    assert (await engine.request("GET", "/status", twice)).status == 403
    assert (await engine.request("GET", "/status", (("Host", "127.0.0.1"),))).status == 400


async def test_two_credentials_are_refused_even_where_both_are_right(tmp_path: Path) -> None:
    async with running_engine(tmp_path, token=TOKEN) as engine:
        for other in (TOKEN, "wrong"):
            twice = (("Authorization", f"Bearer {other}"), ("Authorization", f"Bearer {TOKEN}"))
            response = await engine.request("GET", "/status", twice)
            assert (response.status, response.json["title"]) == (400, "Two Authorization headers")


async def test_refusals_of_the_endpoint_are_json_rpc_and_all_others_problems(engine: RunningEngine) -> None:
    refused = await engine.request("POST", "/mcp", host="evil.example")
    assert refused.header("content-type") == "application/json"
    assert refused.json["error"]["code"] == -32600
    assert "evil.example" in refused.json["error"]["message"]
    refused = await engine.request("GET", "/status", host="evil.example")
    assert refused.header("content-type") == "application/problem+json"
    assert refused.json["status"] == 421


async def test_a_refused_message_is_neither_handled_nor_counted(engine: RunningEngine) -> None:
    body = json.dumps(initialize()).encode()
    await engine.request("POST", "/mcp", (*BOTH, ("Origin", "null")), body)
    counted = (await engine.status())["mcp"]
    assert (counted["post_count"], counted["session_count"]) == (0, 0)


async def test_a_refused_request_with_a_body_in_a_thousand_pieces_ends_well(engine: RunningEngine) -> None:
    async with connected(engine.port) as connection:
        headers = (*BOTH, ("Origin", "null"), ("Transfer-Encoding", "chunked"))
        await connection.send(request_bytes("POST", "/mcp", headers) + b"1\r\nx\r\n" * 1000 + b"0\r\n\r\n")
        assert (await connection.read_response()).status == 403
    assert (await engine.request("GET", "/status")).status == 200


@pytest.mark.parametrize("authorization", [None, "Bearer wrong", "Bearer", f"Basic {TOKEN}", TOKEN, f"Bearer {TOKEN}x"])
async def test_without_the_token_every_route_is_403_and_never_401(tmp_path: Path, authorization: str | None) -> None:
    async with running_engine(tmp_path, token=TOKEN) as engine:
        headers = () if authorization is None else (("Authorization", authorization),)
        for method, target in ROUTES:
            response = await engine.request(method, target, headers)
            assert response.status == 403, (method, target)
            assert response.header("www-authenticate") is None
            assert TOKEN.encode() not in response.body


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
async def test_with_the_token_everything_is_served(tmp_path: Path, scheme: str) -> None:
    async with running_engine(tmp_path, token=TOKEN) as engine:
        headers = (("Authorization", f"{scheme} {TOKEN}"),)
        assert (await engine.request("GET", "/status", headers)).status == 200
        body = json.dumps(initialize()).encode()
        assert (await engine.request("POST", "/mcp", (*BOTH, *headers), body)).status == 200


async def test_the_token_is_in_no_log_and_no_status(tmp_path: Path, errors_logged: LogEntries) -> None:
    async with running_engine(tmp_path, token=TOKEN) as engine:
        for given in (TOKEN, "wrong"):
            headers = (("Authorization", f"Bearer {given}"),)
            response = await engine.request("GET", "/status", headers)
            await engine.request("POST", "/mcp", (*BOTH, *headers), b"{")
            assert TOKEN not in response.body.decode()
    assert TOKEN not in repr(errors_logged)
    assert TOKEN not in repr(GuardPolicy(token=TOKEN))


async def test_a_websocket_is_refused(engine: RunningEngine) -> None:
    upgrade = (
        ("Connection", "Upgrade"),
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ("Sec-WebSocket-Version", "13"),
    )
    for target in ("/mcp", "/status", "/nowhere"):
        assert (await engine.request("GET", target, upgrade)).status == 403, target
    assert (await engine.request("GET", "/status")).status == 200


def test_beyond_loopback_any_host_is_served_but_a_foreign_origin_is_not() -> None:
    policy = GuardPolicy(loopback_only=False, token=TOKEN)
    token = (b"authorization", f"Bearer {TOKEN}".encode())
    assert check([(b"host", b"engine.example:7787"), token], policy) is None
    assert check([(b"host", b"engine.example"), (b"origin", b"http://engine.example"), token], policy) is None
    refusal = check([(b"host", b"engine.example"), (b"origin", b"http://evil.example"), token], policy)
    assert refusal is not None
    assert refusal.status == 403
    refusal = check([(b"host", b"engine.example")], policy)
    assert refusal is not None
    assert "Token" in refusal.title


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.com"])
def test_the_engine_listens_beyond_loopback_only_when_allowed_and_with_a_token(host: str) -> None:
    with pytest.raises(ListenError, match="non-loopback"):
        open_listener(host, 0, peer_timeout=1)
    with pytest.raises(ListenError, match="--token"):
        open_listener(host, 0, allow_non_loopback=True, peer_timeout=1)


@pytest.mark.parametrize("token", [None, ""])
def test_an_empty_token_is_none(token: str | None) -> None:
    with pytest.raises(ListenError, match="--token"):
        open_listener("0.0.0.0", 0, allow_non_loopback=True, token=token, peer_timeout=1)


async def test_beyond_loopback_the_engine_serves_who_has_the_token(tmp_path: Path) -> None:
    async with running_engine(tmp_path, host="0.0.0.0", token=TOKEN) as engine:
        headers = (("Authorization", f"Bearer {TOKEN}"),)
        assert (await engine.request("GET", "/status", headers, host="engine.example")).status == 200
        assert (await engine.request("GET", "/status", host="engine.example")).status == 403


def test_a_taken_port_is_refused_with_a_way_out() -> None:
    first = open_listener("127.0.0.1", 0, peer_timeout=1)
    with first.socket, pytest.raises(ListenError, match="--port 0"):
        open_listener("127.0.0.1", first.port, peer_timeout=1)


async def test_a_session_is_no_substitute_for_the_token(tmp_path: Path) -> None:
    async with running_engine(tmp_path, token=TOKEN) as engine:
        headers = (("Authorization", f"Bearer {TOKEN}"),)
        body = json.dumps(initialize()).encode()
        opened = await engine.request("POST", "/mcp", (*BOTH, *headers), body)
        client = McpClient(engine.port, opened.header("mcp-session-id"))
        assert (await client.post(rpc("ping"))).status == 403
