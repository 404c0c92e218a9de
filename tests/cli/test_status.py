"""`space status` shows the engine at a glance."""

from __future__ import annotations

from tests.cli.conftest import Space
from tests.cli.fake_engine import STATUS, FakeEngine, Reply


def test_status_shows_the_engine_its_world_clients_and_actors(space: Space) -> None:
    ran = space("status")
    assert ran.code == 0
    lines = [" ".join(line.split()) for line in ran.out.splitlines()]
    for line in (
        "uptime 1 h 2 min 5 s",
        "world home (world-1)",
        "other worlds garden",
        "undo, redo 3, 1",
        "surface canvas",
        "last error -",
        "0b7c opencode 1.18.33 2025-11-25 2026-01-01T00:01:00+00:00 yes 7 standard -",
        "standard yes native 1 the deployment's default (--presentation)",
        "code no - 0 agent 'code' is unusable: no deno",
        "reason no deno",
        "ended by force timeout 2",
        "world 0/64 42 0 1 0 1.25 20",
    ):
        assert line in lines


def test_status_gives_programs_the_answer_as_it_is(space: Space) -> None:
    assert space("status", "--json").json == STATUS


def test_what_a_newer_engine_adds_does_not_matter(space: Space, engine: FakeEngine) -> None:
    engine.replies["GET", "/status"] = Reply.of({**STATUS, "weather": "fine", "sessions": []})
    ran = space("status")
    assert ran.code == 0
    assert "MCP sessions" not in ran.out


def test_status_says_when_clients_that_name_no_agent_get_none(space: Space, engine: FakeEngine) -> None:
    problem = "there is no agent 'mine'."
    engine.replies["GET", "/status"] = Reply.of({**STATUS, "default_agent": {"id": "mine", "problem": problem}})
    assert f"Clients that name no agent get none: {problem}" in space("status").out


def test_an_engine_that_knows_no_agents_can_be_looked_at(space: Space, engine: FakeEngine) -> None:
    older = {name: value for name, value in STATUS.items() if name not in ("default_agent", "agents", "code_runtime")}
    engine.replies["GET", "/status"] = Reply.of(older)
    ran = space("status")
    assert (ran.code, "Code runtime" in ran.out) == (0, False)
