"""`space calls` lists the calls of tools, follows them, and ends one."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import pytest

from cli.calls import FOLLOW_SECONDS
from cli.failure import USAGE
from tests.cli.conftest import Space
from tests.cli.fake_engine import FakeEngine, Reply


def row(number: int, **members: Any) -> dict[str, Any]:
    return {
        "id": number,
        "version": number,
        "source": "mcp",
        "tool": "space_draw",
        "agent": "standard",
        "client": "opencode 1",
        "started_at": 1_767_323_045.0,
        "seconds": 0.25,
        "state": "done",
        "error": None,
        "arguments_preview": '{"x":1}',
        **members,
    }


def rows(*calls: dict[str, Any], engine: str = "e1") -> Reply:
    newest = max(call["version"] for call in calls)
    return Reply.of({"engine": engine, "version": newest, "kept": len(calls), "calls": list(calls)})


@pytest.fixture(autouse=True)
def calls(engine: FakeEngine) -> None:
    """The fake engine has seen three calls, of which one still runs."""
    refused = row(2, tool="space_shell", state="refused", error="off by the user")
    running = row(3, state="running", seconds=None)
    engine.replies |= {
        ("GET", "/api/calls"): rows(row(1), refused, running),
        ("POST", "/api/calls/3/cancel"): Reply.of(row(3, state="cancelled")),
    }


def test_the_last_calls_are_listed(space: Space, engine: FakeEngine) -> None:
    ran = space("calls")
    lines = ran.out.splitlines()
    assert (ran.code, len(lines)) == (0, 4)
    assert "space_shell" in lines[2]
    assert "off by the user" in lines[2]
    assert "running" in lines[3]
    assert engine.last.query == {"limit": "50"}


def test_those_of_one_tool_are_listed(space: Space) -> None:
    listed = space("calls", "--tool", "space_draw", "--json").json
    assert [call["id"] for call in listed["calls"]] == [1, 3]
    assert [call["id"] for call in space("calls", "--tool", "space_draw", "--limit", "1", "--json").json["calls"]] == [
        3
    ]


def test_one_is_ended(space: Space) -> None:
    ran = space("calls", "cancel", "3")
    assert (ran.code, ran.out) == (0, "Call 3 of space_draw: cancelled.\n")
    assert space("calls", "cancel", "third").code == USAGE


@pytest.mark.slow
def test_followed_they_are_told_once_as_they_begin_and_end(space: Space, engine: FakeEngine) -> None:
    def go_on() -> None:
        time.sleep(FOLLOW_SECONDS / 2)
        engine.replies["GET", "/api/calls"] = rows(row(3, state="running", seconds=None, version=4), row(4, version=5))
        time.sleep(FOLLOW_SECONDS)
        # A new process, whose numbers begin anew.
        engine.replies["GET", "/api/calls"] = rows(row(1, tool="space_new"), engine="e2")
        time.sleep(FOLLOW_SECONDS * 2)
        engine.replies["GET", "/api/calls"] = Reply.problem(503, "Shutting down", "the engine is shutting down")

    thread = threading.Thread(target=go_on)
    thread.start()
    ran = space("calls", "--follow", "--json")
    thread.join()
    # A line each; the failure at the end is indented.
    told = [json.loads(line) for line in ran.out.splitlines() if line.startswith('{"')]
    ids = [(call["id"], call["tool"]) for call in told]
    assert ids[:4] == [(1, "space_draw"), (2, "space_shell"), (3, "space_draw"), (4, "space_draw")]
    assert ids[4:] == [(1, "space_new")]
    assert ran.code != 0
