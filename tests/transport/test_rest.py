"""The REST routes: what a good request gets, and the reason that a bad one gets."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.transport.conftest import LogEntries
from tests.transport.mcp_client import JSON_BODY
from tests.transport.raw_http import Response, connect
from tests.transport.running_engine import RunningEngine
from tests.transport.tools_on_trial import CANVAS_ONLY, CRASH, ECHO, IMAGE, PIXEL, RISKY, SCENE_ONLY, SLOW

PNG = b"\x89PNG\r\n\x1a\n"


async def send(engine: RunningEngine, method: str, target: str, body: Any) -> Response:
    """A request with a JSON body."""
    return await engine.request(method, target, JSON_BODY, json.dumps(body).encode())


def assert_problem(response: Response, status: int, *words: str) -> None:
    """It is a problem of that status, whose detail has these words."""
    assert response.status == status, response
    assert response.header("content-type") == "application/problem+json"
    problem = response.json
    assert problem["type"] == "about:blank"
    assert problem["status"] == status
    assert problem["title"]
    for word in words:
        assert word in problem["detail"], problem


async def test_the_status_has_every_figure_that_the_document_names(engine: RunningEngine) -> None:
    status = await engine.status()
    assert set(status) == {
        *("engine", "mcp", "context", "overrides", "world", "sessions", "calls", "actors"),
        *("default_agent", "agents", "code_runtime", "blocks", "units"),
    }
    assert set(status["mcp"]) >= {
        *("running", "hostname", "port", "force_sse", "sse_connected", "active_session_id"),
        *("sse_connect_count", "sse_reconnect_count", "post_count", "initialize_count", "tools_list_count"),
        *("tools_call_count", "list_changed_count", "last_list_changed_at", "last_method", "last_error"),
        *("tool_count", "tool_change_count", "tool_namespace_prefix"),
        *("session_count", "listener_count", "task_count"),
    }
    assert (status["mcp"]["running"], status["mcp"]["port"]) == (True, engine.port)
    assert status["mcp"]["tool_namespace_prefix"] == "space_"
    assert [actor["name"] for actor in status["actors"]] == [
        *(
            "units",
            "context",
            "agents",
            "resolution",
            "mcp sync",
            "catalog",
            "stream",
            "tasks",
            "listeners",
            "sessions",
            "blocks",
            "own-blocks",
            "world",
            "providers",
        )
    ]
    assert all(actor["failed"] == 0 for actor in status["actors"])


async def test_the_context_is_read_patched_and_replaced(engine: RunningEngine) -> None:
    before = (await engine.request("GET", "/api/context")).json
    assert (before["surface"], before["activity"], before["canvas_visible"]) == ("canvas", "drawing", True)
    patched = await send(engine, "PATCH", "/api/context", {"surface": "scene", "weather": "fine"})
    assert patched.status == 200
    assert (patched.json["surface"], patched.json["weather"]) == ("scene", "fine")
    assert (await engine.request("GET", "/api/context")).json == patched.json
    assert "weather" not in (await send(engine, "PATCH", "/api/context", {"weather": None})).json
    put = await send(engine, "PUT", "/api/context", {"surface": "canvas", "canvas_visible": False})
    assert put.status == 200
    assert put.json == {"surface": "canvas", "canvas_visible": False, "world_id": before["world_id"]}


async def test_the_tool_list_has_followed_when_a_context_change_returns(engine: RunningEngine) -> None:
    client = await engine.client()
    assert CANVAS_ONLY in await client.tool_names()
    await send(engine, "PATCH", "/api/context", {"surface": "scene"})
    names = await client.tool_names()
    assert SCENE_ONLY in names
    assert CANVAS_ONLY not in names


@pytest.mark.parametrize(
    ("method", "body", "status"),
    [
        ("PATCH", {"surface": ""}, 422),
        ("PATCH", {"surface": 7}, 422),
        ("PATCH", {"surface": None}, 422),
        ("PATCH", {"canvas_visible": "yes"}, 422),
        ("PATCH", {"activity": "any"}, 422),
        ("PATCH", {"mode": "drawing"}, 422),
        ("PATCH", {"weather": {"is": "fine"}}, 422),
        ("PATCH", {"weather": []}, 422),
        ("PATCH", {"world_id": "nowhere"}, 404),
        ("PATCH", {"world_id": None}, 422),
        ("PATCH", [], 422),
        ("PATCH", None, 422),
        ("PATCH", 7, 422),
        ("PUT", {}, 422),
        ("PUT", {"surface": "canvas"}, 422),
    ],
)
async def test_a_context_that_cannot_be_is_refused_and_nothing_changes(
    engine: RunningEngine, method: str, body: Any, status: int
) -> None:
    before = (await engine.request("GET", "/api/context")).json
    assert_problem(await send(engine, method, "/api/context", body), status)
    assert (await engine.request("GET", "/api/context")).json == before


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b'{"surface": NaN}', b'{"surface": "\\ud800"}', b"\xff", b'{"x": 1e999}', b"[" * 100_000, b"7" * 5000],
    ids=range(8),
)
@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("PUT", "/api/context"),
        ("PATCH", "/api/context"),
        ("PUT", "/api/presets/trial-tools/override"),
        ("POST", f"/api/tools/{ECHO}/call"),
    ],
    ids=["put", "patch", "override", "call"],
)
async def test_a_body_that_is_no_json_is_400(engine: RunningEngine, method: str, target: str, body: bytes) -> None:
    response = await engine.request(method, target, JSON_BODY, body)
    if body == b"" and target.endswith("/call"):
        # Without arguments a call has none, and this tool needs one.
        assert response.json["is_error"] is True
        return
    assert_problem(response, 400)


@pytest.mark.parametrize("content_type", [None, "text/plain", "application/x-www-form-urlencoded"])
async def test_a_body_of_another_type_is_415(engine: RunningEngine, content_type: str | None) -> None:
    headers = () if content_type is None else (("Content-Type", content_type),)
    assert_problem(await engine.request("PATCH", "/api/context", headers, b"{}"), 415, "application/json")


async def test_presets_are_rows_and_an_override_changes_one(engine: RunningEngine) -> None:
    client = await engine.client()
    rows = {row["name"]: row for row in (await engine.request("GET", "/api/presets")).json["presets"]}
    assert rows["trial-risky-tools"]["active"] is False
    assert RISKY not in await client.tool_names()
    response = await send(engine, "PUT", "/api/presets/trial-risky-tools/override", {"state": "on"})
    assert response.status == 200
    assert (response.json["name"], response.json["active"]) == ("trial-risky-tools", True)
    assert RISKY in await client.tool_names()
    assert (await engine.status())["overrides"]
    await send(engine, "PUT", "/api/presets/trial-risky-tools/override", {"state": "auto"})
    assert RISKY not in await client.tool_names()


@pytest.mark.parametrize("body", [{}, {"state": "maybe"}, {"state": 1}, {"state": "on", "more": 1}, ["on"], "on"])
async def test_an_override_that_cannot_be_is_refused(engine: RunningEngine, body: Any) -> None:
    assert_problem(await send(engine, "PUT", "/api/presets/trial-tools/override", body), 422)


async def test_an_override_of_an_unknown_preset_is_404(engine: RunningEngine) -> None:
    assert_problem(await send(engine, "PUT", "/api/presets/nobody/override", {"state": "on"}), 404, "nobody")


async def test_every_known_tool_is_explained(engine: RunningEngine) -> None:
    listed = (await engine.request("GET", "/api/tools")).json
    states = {tool["mcp_name"]: tool["state"] for tool in listed["tools"]}
    assert states[ECHO] == "shown"
    assert states[SCENE_ONLY] != "shown"
    assert states[RISKY] not in {"shown", states[SCENE_ONLY]}
    assert all(tool["reason"] for tool in listed["tools"])


async def test_one_tool_has_its_definition_whether_or_not_it_is_offered(engine: RunningEngine) -> None:
    shown = (await engine.request("GET", f"/api/tools/{ECHO}")).json
    assert shown["definition"]["input_schema"]["required"] == ["text"]
    by_id = (await engine.request("GET", "/api/tools/trial.echo")).json
    assert by_id["definition"] == shown["definition"]
    hidden = (await engine.request("GET", f"/api/tools/{SCENE_ONLY}")).json
    assert "surface=scene" in hidden["reason"]
    await send(engine, "PATCH", "/api/context", {"surface": "scene"})
    offered = (await engine.request("GET", f"/api/tools/{SCENE_ONLY}")).json["definition"]
    assert offered["description"]
    assert hidden["definition"] == {**offered, "owner": None}


@pytest.mark.parametrize("name", ["space_nothing", "%ff", "a/b", "%00", "x" * 5000, "%F0%9F%92%A9"])
async def test_an_unknown_tool_is_404_with_a_reason(engine: RunningEngine, name: str) -> None:
    assert_problem(await engine.request("GET", f"/api/tools/{name}"), 404)
    assert_problem(await send(engine, "POST", f"/api/tools/{name}/call", {}), 404)


async def test_a_tool_is_called_through_the_same_gate_as_over_mcp(
    engine: RunningEngine, errors_logged: LogEntries
) -> None:
    called = (await send(engine, "POST", f"/api/tools/{ECHO}/call", {"text": "x"})).json
    assert called == {
        "content": [{"type": "text", "text": "x"}],
        "structured_content": {"text": "x"},
        "is_error": False,
    }
    image = (await engine.request("POST", f"/api/tools/{IMAGE}/call")).json
    assert image["content"][-1]["data"] == PIXEL
    wrong = (await send(engine, "POST", f"/api/tools/{ECHO}/call", {"text": 7})).json
    assert wrong["is_error"] is True
    hidden = (await send(engine, "POST", f"/api/tools/{SCENE_ONLY}/call", {})).json
    assert hidden["is_error"] is True
    assert "surface=scene" in hidden["content"][0]["text"]
    crashed = await send(engine, "POST", f"/api/tools/{CRASH}/call", {})
    assert (crashed.status, crashed.json["is_error"]) == (200, True)
    errors_logged.clear()


async def test_a_client_that_goes_away_ends_the_call_that_it_made(engine: RunningEngine) -> None:
    connection = await connect(engine.port)
    await connection.send(
        f"POST /api/tools/{SLOW}/call HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n".encode()
    )
    await engine.hooks.started.acquire()
    await connection.reset()
    await engine.hooks.cancelled.acquire()


async def test_prompt_fragments_are_those_of_the_active_presets(full_engine: RunningEngine) -> None:
    fragments = (await full_engine.request("GET", "/api/prompt-fragments")).json["prompt_fragments"]
    assert any("space_app_capture_view" in json.dumps(fragment) for fragment in fragments)


async def test_the_view_is_an_svg_and_a_png(full_engine: RunningEngine) -> None:
    drawn = await send(
        full_engine,
        "POST",
        "/api/tools/space_drawing_insert_shape/call",
        {"shape": "rectangle", "x": 0, "y": 0, "width": 20, "height": 10},
    )
    assert drawn.json["is_error"] is False, drawn.json
    svg = await full_engine.request("GET", "/api/view.svg")
    assert svg.status == 200
    assert svg.header("content-type") == "image/svg+xml; charset=utf-8"
    assert svg.body.startswith(b"<svg") or svg.body.startswith(b"<?xml")
    assert b"<rect" in svg.body
    assert "sandbox" in (svg.header("content-security-policy") or "")
    png = await full_engine.request("GET", "/api/view.png?width=64&height=32")
    assert png.header("content-type") == "image/png"
    assert png.body.startswith(PNG)
    assert png.header("cache-control") == "private, no-cache"


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("width=0", 422),
        ("width=-1", 422),
        ("width=x", 422),
        ("width=", 422),
        ("height=99999999", 422),
        ("height=1e3", 422),
        ("width=%ff", 422),
        ("surface=nowhere", 409),
    ],
)
async def test_a_view_that_cannot_be_is_refused_with_its_reason(
    full_engine: RunningEngine, query: str, status: int
) -> None:
    assert_problem(await full_engine.request("GET", f"/api/view.png?{query}"), status)


async def test_a_surface_without_a_picture_is_no_fault(engine: RunningEngine) -> None:
    await send(engine, "PATCH", "/api/context", {"surface": "cinema"})
    assert_problem(await engine.request("GET", "/api/view.svg"), 409, "cinema", "canvas")
    assert (await engine.request("GET", "/api/view.svg?surface=canvas")).status == 200


async def test_a_scene_is_exported_as_gltf_and_has_no_svg(full_engine: RunningEngine) -> None:
    glb = await full_engine.request("GET", "/api/view.glb?surface=scene")
    assert glb.header("content-type") == "model/gltf-binary"
    assert glb.body.startswith(b"glTF")
    assert_problem(await full_engine.request("GET", "/api/view.svg?surface=scene"), 409, "glTF")
    assert_problem(await full_engine.request("GET", "/api/view.glb?surface=canvas"), 409, "surface=scene")


@pytest.mark.parametrize(
    ("method", "target", "allowed"),
    [
        ("POST", "/status", "GET"),
        ("DELETE", "/api/context", "PATCH"),
        ("GET", "/api/presets/trial-tools/override", "PUT"),
        ("PUT", "/api/view.png", "GET"),
    ],
)
async def test_a_method_that_a_route_does_not_have_is_405(
    engine: RunningEngine, method: str, target: str, allowed: str
) -> None:
    response = await engine.request(method, target)
    assert_problem(response, 405)
    assert allowed in (response.header("allow") or "")


async def test_a_head_request_gets_the_head_alone(engine: RunningEngine) -> None:
    response = await engine.request("HEAD", "/status")
    assert (response.status, response.body) == (200, b"")
