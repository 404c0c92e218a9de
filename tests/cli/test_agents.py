"""`space agents` shows the agents, why one cannot be used, and copies and removes the user's own."""

from __future__ import annotations

from typing import Any

import pytest

from cli.failure import REFUSED, USAGE
from tests.cli.conftest import Space
from tests.cli.fake_engine import FakeEngine, Reply

SDK = "## Writing code\n\n- a line with `ticks`\n"


def agent(agent_id: str, **members: Any) -> dict[str, Any]:
    return {
        "id": agent_id,
        "names": {"zh": "名", "en": agent_id.capitalize()},
        "descriptions": {"zh": "描述"},
        "order": 1.0,
        "trust": "shipped",
        "path": f"/agents/{agent_id}",
        "default": agent_id == "standard",
        "usable": True,
        "mode": "native",
        "mode_source": "the deployment's default (--presentation)",
        "tools": ["space_draw", "space_look"],
        "capability_count": 2,
        "unusable": None,
        "capabilities": ["space_draw", "space_look"],
        "prompt_blocks": ["instructions", "tools"],
        "composition": {"text": "- row: risk-ceiling\n  risk: normal\n", "rows": []},
        **members,
    }


def unusable(agent_id: str, reason: str) -> dict[str, Any]:
    fault = {"file": f"/agents/{agent_id}/composition.yml", "row": 4, "reason": reason}
    gone = {"names": {}, "descriptions": {}, "mode": None, "mode_source": None, "tools": [], "capabilities": []}
    return agent(agent_id, usable=False, unusable=fault, **gone)


@pytest.fixture(autouse=True)
def agents(engine: FakeEngine) -> None:
    """The fake engine has one agent that can be used and one that cannot."""
    rows = [agent("standard"), unusable("code", "needs the code runtime: no deno")]
    listed = {"default": "standard", "default_problem": None, "agents": rows, "problems": ["/agents/My is no agent"]}
    plain = "text/plain; charset=utf-8"
    engine.replies |= {
        ("GET", "/api/agents"): Reply.of(listed),
        ("GET", "/api/agents/standard"): Reply.of(rows[0]),
        ("GET", "/api/agents/code"): Reply.of(rows[1]),
        ("GET", "/api/agents/standard/sdk"): Reply(content_type=plain, body=SDK.encode()),
        ("GET", "/api/agents/standard/prompt"): Reply(content_type=plain, body="Space ist da…".encode()),
        ("POST", "/api/agents"): Reply.of(agent("mine", trust="user"), 201),
        ("DELETE", "/api/agents/mine"): Reply.of(agent("mine", trust="user")),
    }


def test_agents_are_listed_and_the_unusable_ones_with_their_reason(space: Space) -> None:
    ran = space("agents")
    lines = [line.split() for line in ran.out.splitlines()]
    assert ["standard", "Standard", "native", "2", "shipped", "yes", "(default)"] in lines
    assert ["code", "-", "-", "0", "shipped", "no"] in lines
    said = "agent 'code' is unusable: /agents/code/composition.yml, row 4: needs the code runtime: no deno"
    assert ran.err.splitlines() == [said, "/agents/My is no agent"]
    assert ran.code == 0


def test_a_default_agent_that_is_missing_is_said(space: Space, engine: FakeEngine) -> None:
    listed = {"default": "mine", "default_problem": "there is no agent 'mine'.", "agents": [], "problems": []}
    engine.replies["GET", "/api/agents"] = Reply.of(listed)
    assert "Clients that name no agent get none: there is no agent 'mine'." in space("agents").err


def test_programs_get_the_answers_as_they_are(space: Space) -> None:
    assert space("agents", "--json").json["problems"] == ["/agents/My is no agent"]
    assert space("agents", "show", "code", "--json").json == unusable("code", "needs the code runtime: no deno")
    assert space("agents", "copy", "standard", "mine", "--json").json["id"] == "mine"
    assert space("agents", "show", "standard", "--sdk", "--json").json == {"agent": "standard", "sdk": SDK}


def test_an_agent_is_shown_with_its_composition(space: Space) -> None:
    ran = space("agents", "show", "standard")
    lines = [" ".join(line.split()) for line in ran.out.splitlines()]
    for line in ("name Standard", "description 描述", "mode native", "prompt blocks instructions, tools"):
        assert line in lines
    assert ran.out.endswith("composition.yml:\n\n- row: risk-ceiling\n  risk: normal\n")
    assert "row 4: needs the code runtime" in space("agents", "show", "code").out


def test_the_texts_that_a_model_reads_are_printed_as_they_are(space: Space) -> None:
    assert space("agents", "show", "standard", "--sdk").out == SDK
    assert space("agents", "show", "standard", "--prompt").out == "Space ist da…\n"
    assert space("agents", "show", "standard", "--prompt", "--sdk").code == USAGE


def test_an_unknown_agent_is_refused(space: Space, engine: FakeEngine) -> None:
    said = "there is no agent 'cod'. Did you mean 'code'?"
    engine.replies["GET", "/api/agents/cod"] = Reply.problem(404, "Not found", said)
    ran = space("agents", "show", "cod")
    assert (ran.code, ran.err) == (REFUSED, f"space: {said}\n")


def test_copies_are_asked_for_and_removed_by_id(space: Space, engine: FakeEngine) -> None:
    assert space("agents", "copy", "standard", "mine").out == "Copied standard to /agents/mine\n"
    assert engine.last.body == {"from": "standard", "id": "mine"}
    space("agents", "copy", "standard", "mine", "--name", "My own")
    assert engine.last.body == {"from": "standard", "id": "mine", "name": "My own"}
    assert space("agents", "remove", "mine").out == "Removed mine (/agents/mine).\n"
    assert (engine.last.method, engine.last.path) == ("DELETE", "/api/agents/mine")


def test_an_option_that_would_be_lost_before_a_command_is_a_usage_error(space: Space, engine: FakeEngine) -> None:
    ran = space("agents", "--json", "show", "standard")
    assert (ran.code, "options of 'show' stand behind it" in ran.err) == (USAGE, True)
    assert engine.requests == []
