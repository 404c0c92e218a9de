"""Nothing that a client gets wrong is answered with a 500, ends more than its connection, or is logged as an error."""

from __future__ import annotations

import json
from typing import Any

import pytest
import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.transport.mcp_client import BOTH, JSON_BODY
from tests.transport.raw_http import BOUND_SECONDS, connect, connected, request_bytes
from tests.transport.running_engine import RunningEngine
from tests.transport.tools_on_trial import BIG, CANVAS_ONLY, ECHO, FAIL, IMAGE, MOVE, RISKY, SCENE_ONLY

pytestmark = pytest.mark.slow

BOUNDED = settings(
    max_examples=250,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)
methods = st.sampled_from(
    ["initialize", "ping", "tools/list", "tools/call", "notifications/cancelled", "notifications/initialized", "x"]
)
tools = st.sampled_from([ECHO, FAIL, IMAGE, MOVE, BIG, CANVAS_ONLY, SCENE_ONLY, RISKY, "space_nothing"]) | st.text()
params = values | st.fixed_dictionaries(
    {},
    optional={
        "name": tools | values,
        "arguments": values | st.fixed_dictionaries({"text": values}) | st.just({"surface": "scene"}),
        "_meta": values | st.fixed_dictionaries({"progressToken": values}),
        "protocolVersion": values | st.just("2025-03-26"),
        "requestId": values,
        "cursor": values,
        "clientInfo": values,
    },
)
messages = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0") | values, "method": methods | values, "params": params}, optional={"id": values}
)
bodies = (
    st.binary(max_size=200)
    | values.map(lambda value: json.dumps(value).encode())
    | messages.map(lambda message: json.dumps(message).encode())
    | st.lists(messages, max_size=3).map(lambda batch: json.dumps(batch).encode())
)
tokens = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=20)
header_values = st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"), max_size=40)
headers = st.lists(
    st.tuples(
        st.sampled_from(
            [
                *("Content-Type", "Accept", "Mcp-Session-Id", "MCP-Protocol-Version", "Origin", "Authorization"),
                *("Cookie", "Range", "If-None-Match", "Accept-Encoding", "X-Forwarded-Host", "Last-Event-ID"),
            ]
        ),
        header_values | st.sampled_from(["application/json", "text/event-stream", "2025-06-18", "*/*", "bytes=0-"]),
    ),
    max_size=4,
)
paths = (
    st.sampled_from(
        [
            *("/mcp", "/status", "/api/context", "/api/presets", "/api/tools", "/api/view.png", "/api/view.svg"),
            *("/api/presets/trial-tools/override", f"/api/tools/{ECHO}", f"/api/tools/{ECHO}/call", "/", "*"),
        ]
    )
    | tokens
    | tokens.map("/{}".format)
    | tokens.map("/api/tools/{}".format)
    | tokens.map("/api/presets/{}/override".format)
    | tokens.map("/mcp?sessionId={}".format)
    | tokens.map("/api/view.png?width={}".format)
    | tokens.map("/api/view.png?surface={}".format)
)
verbs = st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "X"])


async def examples(test: Any) -> None:
    """Run a hypothesis test, whose body comes back into this loop, in a thread."""
    await trio.to_thread.run_sync(test)


async def test_no_body_makes_the_endpoint_fail(engine: RunningEngine) -> None:
    client = await engine.client("2025-03-26")

    async def post(body: bytes) -> None:
        # Cut off after a while: a message may be a call that waits.
        with trio.fail_after(BOUND_SECONDS):
            async with connected(engine.port) as connection:
                await connection.send(request_bytes("POST", "/mcp", (*BOTH, *client.headers), body))
                head = await connection.read_head()
        assert head.status in {200, 202, 400, 404}, (head, body)

    @BOUNDED
    @given(bodies)
    def test(body: bytes) -> None:
        trio.from_thread.run(post, body)

    await examples(test)
    assert await client.ask("ping", request_id=1) == {"jsonrpc": "2.0", "id": 1, "result": {}}
    with trio.fail_after(BOUND_SECONDS):
        while (await engine.status())["calls"]:
            pass


async def test_no_body_makes_a_rest_route_fail(engine: RunningEngine) -> None:
    async def send(method: str, target: str, body: bytes) -> None:
        response = await engine.request(method, target, JSON_BODY, body)
        assert response.status < 500, (method, target, body, response)
        if response.status >= 400:
            assert response.json["detail"], response

    routes = st.sampled_from(
        [
            ("PUT", "/api/context"),
            ("PATCH", "/api/context"),
            ("PUT", "/api/presets/trial-canvas-tools/override"),
            ("POST", f"/api/tools/{ECHO}/call"),
            ("POST", f"/api/tools/{MOVE}/call"),
        ]
    )
    facts = st.dictionaries(
        st.sampled_from(
            ["surface", "activity", "canvas_visible", "world_id", "selection_kind", "state", "text", "mode"]
        )
        | st.text(),
        values,
        max_size=4,
    ).map(lambda value: json.dumps(value).encode())

    @BOUNDED
    @given(routes, bodies | facts)
    def test(route: tuple[str, str], body: bytes) -> None:
        trio.from_thread.run(send, *route, body)

    await examples(test)
    assert all(actor["failed"] == 0 for actor in (await engine.status())["actors"])


async def test_no_request_makes_the_server_fail(engine: RunningEngine) -> None:
    async def send(method: str, target: str, given_headers: list[tuple[str, str]], body: bytes | None) -> None:
        with trio.fail_after(BOUND_SECONDS):
            async with connected(engine.port) as connection:
                await connection.send(request_bytes(method, target, given_headers, body))
                head = await connection.read_head()
        assert head.status < 500, (method, target, given_headers, body, head)

    @BOUNDED
    @given(verbs, paths, headers, st.none() | bodies)
    def test(method: str, target: str, given_headers: list[tuple[str, str]], body: bytes | None) -> None:
        trio.from_thread.run(send, method, target, given_headers, body)

    await examples(test)
    assert (await engine.request("GET", "/status")).status == 200


async def test_no_bytes_make_the_server_fail(engine: RunningEngine) -> None:
    client = await engine.client()
    whole = request_bytes("POST", "/mcp", (*BOTH, *client.headers), b'{"jsonrpc":"2.0","id":1,"method":"ping"}')

    async def send(raw: bytes, reset: bool) -> None:
        connection = await connect(engine.port)
        await connection.send(raw)
        await (connection.reset() if reset else connection.finish())

    def spoilt(where: int, data: bytes, cut: int) -> bytes:
        where %= len(whole)
        return whole[:where] + data + whole[where + cut :]

    raws = st.binary(max_size=300) | st.builds(
        spoilt, st.integers(0, 10_000), st.binary(max_size=20), st.integers(0, 5)
    )

    @BOUNDED
    @given(raws, st.booleans())
    def test(raw: bytes, reset: bool) -> None:
        trio.from_thread.run(send, raw, reset)

    await examples(test)
    assert await client.ask("ping") == {"jsonrpc": "2.0", "id": 1, "result": {}}
