"""`space tools` and `space explain`."""

from __future__ import annotations

from cli.failure import REFUSED
from tests.cli.conftest import Space
from tests.cli.fake_engine import FakeEngine, Reply, explanation


def test_tools_lists_every_tool_with_its_state(space: Space) -> None:
    lines = [line.split() for line in space("tools").out.splitlines()]
    assert ["space_draw", "shown", "drawing-inspect-tools", "normal"] in lines
    assert ["space_scene", "hidden", "drawing-inspect-tools", "normal"] in lines


def test_tools_can_be_limited_to_those_that_are_shown(space: Space) -> None:
    assert "space_scene" not in space("tools", "--shown").out
    shown = space("tools", "--shown", "--json").json
    assert [tool["tool"] for tool in shown["tools"]] == ["space_draw"]
    assert shown["revision"] == 3


def test_explain_gives_the_reason_and_what_would_help(space: Space, engine: FakeEngine) -> None:
    remedy = {"command": "space preset on file-write-tools", "method": "PUT", "path": "/x", "body": {"state": "on"}}
    engine.replies["GET", "/api/tools/space_file_write"] = Reply.of(
        {**explanation("space_file_write", "risk", remedy=remedy), "definition": {"description": "Writes a file."}}
    )
    ran = space("explain", "space_file_write")
    assert ran.code == 0
    assert ran.out.startswith("Tool 'space_file_write' is risk.\nTry: space preset on file-write-tools\n")
    assert "Writes a file." in ran.out
    assert "activity=drawing" in ran.out


def test_explain_gives_programs_the_answer_as_it_is(space: Space, engine: FakeEngine) -> None:
    answer = {**explanation("space_draw"), "definition": None}
    engine.replies["GET", "/api/tools/space_draw"] = Reply.of(answer)
    assert space("explain", "space_draw", "--json").json == answer


def test_an_unknown_tool_is_refused_with_the_explanation(space: Space, engine: FakeEngine) -> None:
    members = explanation("space_drow", "unknown", reason="There is no tool 'space_drow'.", suggestions=["space_draw"])
    engine.replies["GET", "/api/tools/space_drow"] = Reply.problem(404, "Unknown tool", "see reason", **members)
    ran = space("explain", "space_drow", "--json")
    assert ran.code == REFUSED
    assert "There is no tool 'space_drow'." in ran.err
    assert ran.json["error"]["suggestions"] == ["space_draw"]


def test_a_tool_of_any_name_can_be_asked_for(space: Space, engine: FakeEngine) -> None:
    space("explain", "../a b?#%")
    assert engine.last.path == "/api/tools/../a b?#%"


def test_tools_and_their_explanations_can_be_those_of_an_agent(space: Space, engine: FakeEngine) -> None:
    space("tools", "--agent", "code")
    assert (engine.last.path, engine.last.query) == ("/api/tools", {"agent": "code"})
    reason = "only `space_run_code` is callable directly"
    engine.replies["GET", "/api/tools/space_draw"] = Reply.of(
        {**explanation("space_draw", "program", reason=reason), "definition": None}
    )
    ran = space("explain", "space_draw", "--agent", "code")
    assert (engine.last.query, ran.out.splitlines()[0]) == ({"agent": "code"}, reason)
    space("tools")
    assert engine.last.query == {}
