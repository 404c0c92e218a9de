"""opencode works in the engine, and its tools follow the user: the whole of Space, with the model alone scripted.

Each test runs in both modes of the MCP endpoint. Source: opencode as an MCP client, "What our server must do".
"""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from tests.live.conftest import Live, Session
from tests.live.engine import wait_until
from tests.live.scripted_model import Call, ModelRequest, Step

pytestmark = [pytest.mark.live, pytest.mark.slow]

DRAW = "space_drawing_insert_shape"
LOOK = "space_drawing_inspect"
SEE = "space_app_capture_view"
READ = "space_app_read_file"
GO = "space_app_switch_surface"
PAINT = "space_app_set_theme"

DONE = Step(text="Done.")


def rectangle(fill: str, **members: float) -> Call:
    return Call(DRAW, {"shape": "rectangle", "width": 100, "height": 80, "fill_color": fill, "x": 0, "y": 0, **members})


def offers(request: ModelRequest, tool: str) -> bool:
    return f"space_{tool}" in request.tools


def test_opencode_is_offered_the_tools_of_the_context_and_none_of_its_own(live: Live, session: Session) -> None:
    assert live.opencode.mcp_status() == {"space": {"status": "connected"}}
    (request,) = session.turn(DONE)
    offered = {f"space_{tool['mcp_name']}" for tool in live.engine.ask("tools", "--shown")["tools"]}
    assert set(request.tools) == offered
    assert offers(request, DRAW)


def test_what_opencode_draws_is_there_as_svg_and_as_png(live: Live, session: Session, tmp_path: Path) -> None:
    before = tmp_path / "before.png"
    live.engine.space("export", str(before))
    _, after = session.turn(Step(calls=(rectangle("#FF8800", x=1000, y=1000),)), DONE)
    assert "rectangle" in after.results[0]
    svg, png = tmp_path / "view.svg", tmp_path / "view.png"
    live.engine.space("export", str(svg))
    live.engine.space("export", str(png))
    assert "#ff8800" in svg.read_text(encoding="utf-8").lower()
    assert png.read_bytes() != before.read_bytes()
    sampled = live.engine.ask("call", "space_drawing_sample_color", '{"x": 1050, "y": 1040, "set_defaults": false}')
    assert "#ff8800" in str(sampled["structured_content"]).lower()


def test_the_model_sees_the_drawing(session: Session) -> None:
    _, after = session.turn(Step(calls=(Call(SEE),)), DONE)
    assert after.images == 1


def test_the_tools_change_within_the_session_and_a_hidden_one_is_refused_with_the_reason(
    live: Live, session: Session
) -> None:
    def leave() -> None:
        live.change("context", "set", "surface=scene")

    drawing, elsewhere = session.turn(Step(calls=(rectangle("#00FF00"),), before=leave), DONE)
    assert offers(drawing, DRAW)
    assert not offers(elsewhere, DRAW)
    assert offers(elsewhere, SEE)
    assert "hidden in this context" in elsewhere.results[0]
    assert "surface=canvas" in elsewhere.results[0]
    live.change("context", "set", "surface=canvas")
    (back,) = session.turn(DONE)
    assert back.tools == drawing.tools


def test_a_call_that_changes_the_tools_shows_in_the_very_next_request(live: Live, session: Session) -> None:
    drawing, elsewhere = session.turn(Step(calls=(Call(GO, {"surface": "scene"}),)), DONE)
    assert offers(drawing, DRAW)
    assert not offers(elsewhere, DRAW)


def test_a_preset_that_is_turned_on_is_there_for_the_next_request(live: Live, session: Session) -> None:
    secret = uuid.uuid4().hex
    (live.engine.workspace / "notes.txt").write_text(secret, encoding="utf-8")

    def allow() -> None:
        live.change("preset", "on", "general-file-read-tools")

    first, second, third = session.turn(
        Step(calls=(Call(LOOK),), before=allow), Step(calls=(Call(READ, {"path": "notes.txt"}),)), DONE
    )
    assert not offers(first, READ)
    assert offers(second, READ)
    assert secret in third.results[0]


def test_a_session_survives_a_restart_of_the_engine(live: Live, session: Session, tmp_path: Path) -> None:
    engine = live.engine
    session.turn(Step(calls=(rectangle("#123456"),)), DONE)
    assert engine.stop() == 0
    engine.start()
    if live.mode == "force-sse":
        wait_until(lambda: engine.ask("status")["mcp"]["sse_connected"], "opencode connects again")
    engine.space("context", "set", "surface=scene")
    # In direct mode opencode notices the restart at its next call, and lists again within two requests of the model.
    _, *noticing, last = session.turn(*[Step(calls=(Call(PAINT, {"theme": "dark"}),))] * 3, DONE)
    assert not offers(last, DRAW)
    assert all("dark" in result for request in (*noticing, last) for result in request.results)
    live.change("context", "set", "surface=canvas")
    _, after = session.turn(Step(calls=(Call(LOOK),)), DONE)
    assert "123456" in after.results[0]
    engine.space("export", str(tmp_path / "view.svg"))
    assert "#123456" in (tmp_path / "view.svg").read_text(encoding="utf-8").lower()
