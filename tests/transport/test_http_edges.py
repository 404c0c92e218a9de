"""What is wrong with a request below the level of messages: methods, types, sizes, broken JSON, and odd HTTP."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from protocol.limits import Limits
from tests.transport.mcp_client import BOTH, JSON_BODY, McpClient, initialize, post_bytes, rpc
from tests.transport.raw_http import chunked, connected, request_bytes
from tests.transport.running_engine import RunningEngine, running_engine

SMALL = Limits(body_bytes=10_000)


@pytest.mark.parametrize("method", ["PUT", "PATCH", "OPTIONS", "HEAD", "TRACE", "PURGE"])
@pytest.mark.parametrize("force_sse", [False, True], ids=["direct", "sse"])
async def test_a_method_that_is_not_served_is_405(tmp_path: Path, force_sse: bool, method: str) -> None:
    async with running_engine(tmp_path, force_sse=force_sse) as engine:
        response = await engine.request(method, "/mcp", JSON_BODY, b"{}")
    assert response.status == 405
    assert response.header("allow") == "GET, POST, DELETE"
    if method != "HEAD":
        assert response.json["error"]["code"] == -32600


@pytest.mark.parametrize(
    "content_type",
    [
        None,
        "text/plain",
        "application/json-seq",
        "application/x-www-form-urlencoded",
        "json",
        "text/plain; application/json",
    ],
)
async def test_a_body_that_is_not_declared_as_json_is_415(engine: RunningEngine, content_type: str | None) -> None:
    headers = () if content_type is None else (("Content-Type", content_type),)
    response = await engine.request("POST", "/mcp", headers, json.dumps(initialize()).encode())
    assert response.status == 415
    assert "application/json" in response.json["error"]["message"]


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "APPLICATION/JSON"])
async def test_parameters_and_case_of_the_content_type_do_not_matter(engine: RunningEngine, content_type: str) -> None:
    headers = (("Content-Type", content_type),)
    assert (await engine.request("POST", "/mcp", headers, json.dumps(initialize()).encode())).status == 200


@pytest.mark.parametrize("accept", ["text/html", "image/*", "application/json;q=0, text/event-stream;q=0.0"])
async def test_a_client_that_takes_neither_form_of_answer_is_406(engine: RunningEngine, accept: str) -> None:
    headers = (*JSON_BODY, ("Accept", accept))
    response = await engine.request("POST", "/mcp", headers, json.dumps(initialize()).encode())
    assert response.status == 406


@pytest.mark.parametrize("accept", ["*/*", "application/*", "text/*", "text/event-stream", "application/json", ""])
async def test_a_client_that_takes_one_of_them_is_served(engine: RunningEngine, accept: str) -> None:
    headers = (*JSON_BODY, ("Accept", accept))
    assert (await engine.request("POST", "/mcp", headers, json.dumps(initialize()).encode())).status == 200


async def test_a_stream_is_only_for_those_that_take_one(engine: RunningEngine) -> None:
    client = await engine.client()
    response = await engine.request("GET", "/mcp", (("Accept", "application/json"), *client.headers))
    assert response.status == 406


@pytest.mark.parametrize("target", ["/mcp", "/api/context", "/nowhere"])
async def test_a_body_declared_too_long_is_413_before_it_is_sent(engine: RunningEngine, target: str) -> None:
    async with connected(engine.port) as connection:
        headers = (*JSON_BODY, ("Content-Length", str(4 * 1024 * 1024 + 1)))
        await connection.send(request_bytes("POST", target, headers))
        response = await connection.read_response()
        assert response.status == 413
        assert response.header("connection") == "close"
        assert "The body has 4194305 bytes; the most is 4194304 bytes." in response.body.decode()
        await connection.wait_closed()


@pytest.mark.parametrize("target", ["/mcp", "/api/context"])
async def test_a_chunked_body_that_grows_too_long_is_413(tmp_path: Path, target: str) -> None:
    async with running_engine(tmp_path, limits=SMALL) as engine, connected(engine.port) as connection:
        headers = (*JSON_BODY, ("Transfer-Encoding", "chunked"))
        method = "POST" if target == "/mcp" else "PUT"
        body = chunked(*[b"x" * 1000] * 12)
        await connection.send(request_bytes(method, target, headers) + body)
        response = await connection.read_response()
        assert response.status == 413
    assert response.header("content-type") in {"application/json", "application/problem+json"}


async def test_a_body_of_exactly_the_limit_is_read(tmp_path: Path) -> None:
    async with running_engine(tmp_path, limits=SMALL) as engine:
        body = json.dumps(initialize()).encode()
        body += b" " * (SMALL.body_bytes - len(body))
        assert (await engine.request("POST", "/mcp", BOTH, body)).status == 200
        assert (await engine.request("POST", "/mcp", BOTH, body + b" ")).status == 413


async def test_a_body_in_many_chunks_is_one_body(engine: RunningEngine) -> None:
    body = json.dumps(initialize()).encode()
    async with connected(engine.port) as connection:
        headers = (*BOTH, ("Transfer-Encoding", "chunked"))
        await connection.send(request_bytes("POST", "/mcp", headers) + chunked(*[bytes([byte]) for byte in body]))
        assert (await connection.read_response()).json["result"]["serverInfo"]["name"] == "space"


async def test_a_request_sent_byte_by_byte_is_served(engine: RunningEngine) -> None:
    async with connected(engine.port) as connection:
        for byte in post_bytes(initialize()):
            await connection.send(bytes([byte]))
        assert (await connection.read_response()).status == 200


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", -32700),
        (b"{", -32700),
        (b"nonsense", -32700),
        (b"\xff\xfe{}", -32700),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": NaN}}', -32700),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "\\ud800"}}', -32700),
        (b"[" * 100_000, -32600),
        (b'{"a":' * 70 + b"1" + b"}" * 70, -32600),
        (b"7", -32600),
        (b"null", -32600),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": 3}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}', -32600),
    ],
)
async def test_a_body_that_is_no_message_is_400(engine: RunningEngine, body: bytes, code: int) -> None:
    client = await engine.client()
    response = await engine.request("POST", "/mcp", (*BOTH, *client.headers), body)
    assert response.status == 400
    assert response.json["error"]["code"] == code


@pytest.mark.parametrize(
    "target", ["?x", "http://127.0.0.1/status", "http://[/mcp", "*", "status", "mailto:x"], ids=repr
)
async def test_a_target_that_is_no_path_of_ours_is_400(engine: RunningEngine, target: str) -> None:
    response = await engine.request("GET", target)
    assert response.status == 400


async def test_an_unknown_path_is_404_with_a_problem(engine: RunningEngine) -> None:
    for target in (
        "/panel",
        "/sse",
        "/api",
        "/.well-known/oauth-protected-resource/mcp",
        "/%00",
        "/%ff",
        "/api/tools//x",
    ):
        response = await engine.request("GET", target)
        assert response.status == 404, target
        assert response.header("content-type") == "application/problem+json"


@pytest.mark.parametrize(
    "raw",
    [
        b"nonsense\r\n\r\n",
        b"GET /status HTTP/1.1\r\nHost 127.0.0.1\r\n\r\n",
        b"GET /status HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: x\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET /" + b"x" * 200_000 + b" HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ],
    ids=["words", "header", "length", "chunk", "long", "TLS"],
)
async def test_what_is_no_http_is_refused_and_the_server_serves_on(engine: RunningEngine, raw: bytes) -> None:
    async with connected(engine.port) as connection:
        await connection.send(raw)
        answer = await connection.wait_closed()
    assert answer.startswith(b"HTTP/1.1 4"), answer[:80]
    assert (await engine.request("GET", "/status")).status == 200


async def test_an_offer_to_change_to_http_2_is_not_taken(engine: RunningEngine) -> None:
    upgrade = (("Connection", "Upgrade, HTTP2-Settings"), ("Upgrade", "h2c"), ("HTTP2-Settings", "AAMAAABkAAQAAP__"))
    async with connected(engine.port) as connection:
        for _ in range(2):
            assert (await connection.request("GET", "/status", upgrade)).json["mcp"]["running"] is True


async def test_a_client_that_speaks_http_2_at_once_is_refused(engine: RunningEngine) -> None:
    async with connected(engine.port) as connection:
        await connection.send(b"PRI * HTTP/2.0\r\nHost: 127.0.0.1\r\n\r\nSM\r\n\r\n")
        assert (await connection.read_response()).status in {400, 505}


async def test_an_old_client_that_closes_after_each_answer_is_served(engine: RunningEngine) -> None:
    async with connected(engine.port) as connection:
        await connection.send(b"GET /status HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")
        answer = await connection.wait_closed()
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200")
    assert json.loads(body)["mcp"]["running"] is True


async def test_a_client_that_asks_before_it_sends_its_body_is_told_to_go_on(engine: RunningEngine) -> None:
    body = json.dumps(initialize()).encode()
    async with connected(engine.port) as connection:
        headers = (*BOTH, ("Expect", "100-continue"), ("Content-Length", str(len(body))))
        await connection.send(request_bytes("POST", "/mcp", headers))
        assert (await connection.read_head()).status == 100
        await connection.send(body)
        assert (await connection.read_response()).status == 200


async def test_errors_of_the_endpoint_never_make_clients_look_for_a_login(engine: RunningEngine) -> None:
    stranger = McpClient(engine.port, "nobody")
    for response in (
        await stranger.post(rpc("ping")),
        await McpClient(engine.port).post(rpc("ping")),
        await engine.request("POST", "/mcp", (), b"{}"),
        await engine.request("PUT", "/mcp"),
        await engine.request("GET", "/.well-known/oauth-authorization-server"),
    ):
        assert response.status not in {401, 403}
        assert b"oauth" not in response.body.lower()
        assert response.header("www-authenticate") is None
