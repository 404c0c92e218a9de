"""The agents actor: folders become scopes, what cannot be used is listed with its reason, and nobody else pays for it.

Numbers in square brackets are those of the cases about presentation. Source: tool-presentation.
"""

from __future__ import annotations

import os
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from actors.agents import AgentOptions, Agents, AgentsActor, FollowCapabilities, ReadAgents, presentation_of
from actors.context import EditCapabilities
from actors.resolution import CapabilityEdit
from actors.roster_reader import SETTLED_SECONDS, RosterReader
from actors.space import Space
from engine.errors import InvalidArgumentError
from presets.agents.definition import UnusableAgentError
from presets.agents.roster import UnknownAgentError
from presets.presentation import Presentation
from tests.actors.capabilities import NEW, PLAIN
from tests.actors.fakes import running, running_actors, space_of

OWN = "- row: restrict\n  allow: [space_a_draw]\n"
CODE = "- row: tool-presentation\n  mode: code\n"
BROKEN = "- row: restrct\n"
EARLIER = 1_000_000_000


@dataclass
class Runtime:
    """Whether programs can be run, as a test sets it. `repaired` is what looking again finds."""

    reason: str | None = None
    repaired: bool = False
    looks: list[str] = field(default_factory=list[str])

    def no_runtime_because(self) -> str | None:
        return self.reason

    async def look_again(self) -> None:
        self.looks.append(str(self.reason))
        if self.repaired:
            self.reason = None


@dataclass
class Deployment:
    """An agents actor that runs, with folders of its own."""

    actor: AgentsActor
    runtime: Runtime
    shipped: Path
    user: Path

    async def read(self) -> Agents:
        return await self.actor.ask(ReadAgents())

    def reason(self, agent_id: str) -> str:
        """Why that agent cannot be used."""
        with pytest.raises(UnusableAgentError) as caught:
            self.actor.agents.value.view(agent_id)
        return str(caught.value)


def write_agent(root: Path, agent_id: str, composition: str) -> Path:
    folder = root / agent_id
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "composition.yml").write_text(composition, encoding="utf-8")
    return folder / "composition.yml"


@asynccontextmanager
async def deployed(
    folder: Path, space: Space, presentation: Presentation = Presentation.NATIVE
) -> AsyncGenerator[Deployment]:
    shipped, user, runtime = folder / "shipped", folder / "user", Runtime()
    write_agent(shipped, "standard", "[]\n")
    write_agent(shipped, "code", CODE)
    options = AgentOptions(shipped_root=shipped, user_root=user, presentation=presentation)
    async with running(space, PLAIN):
        actor = AgentsActor(space.resolution, options, runtime)
        async with running_actors(actor):
            await actor.ask(FollowCapabilities())
            yield Deployment(actor, runtime, shipped, user)


@pytest.fixture
async def deployment(tmp_path: Path, space: Space) -> AsyncGenerator[Deployment]:
    async with deployed(tmp_path, space) as made:
        yield made


async def test_each_folder_is_an_agent_with_a_scope_of_its_own(deployment: Deployment) -> None:
    write_agent(deployment.user, "mine", OWN)
    agents = await deployment.read()
    assert set(agents.views) == {"standard", "code", "mine"}
    assert agents.view("code").mode is Presentation.CODE
    assert agents.view("mine").mode is Presentation.NATIVE
    assert str(agents.view("code").mode_origin) == "agent 'code' (composition.yml, row 1 \"tool-presentation\")"
    assert agents.view("standard").filters == ()


async def test_who_names_no_agent_is_the_default_one(deployment: Deployment) -> None:
    agents = deployment.actor.agents.value
    assert agents.canonical("") == "standard"
    assert agents.canonical("mine") == "mine"
    with pytest.raises(UnknownAgentError, match="there is no agent 'mine'"):
        agents.view("mine")


async def test_reading_again_gives_the_same_while_nothing_has_changed(deployment: Deployment) -> None:
    before = deployment.actor.agents.value
    assert await deployment.read() is before
    write_agent(deployment.user, "mine", OWN)
    changed = await deployment.read()
    assert changed is not before
    assert await deployment.read() is changed


async def test_a_broken_agent_costs_nobody_else_anything_and_comes_back_when_it_is_mended(
    deployment: Deployment,
) -> None:
    write_agent(deployment.user, "mine", BROKEN)
    agents = await deployment.read()
    assert set(agents.views) == {"standard", "code"}
    assert "row 1: there is no row 'restrct'" in deployment.reason("mine")  # [537, 542]
    write_agent(deployment.user, "mine", OWN)
    assert "mine" in (await deployment.read()).views


async def test_an_agent_that_breaks_loses_its_scope_and_says_why(deployment: Deployment) -> None:
    write_agent(deployment.user, "mine", OWN)
    await deployment.read()
    scope = deployment.actor.state.scopes["mine"]
    write_agent(deployment.user, "mine", "no: list\n")
    await deployment.read()
    assert scope.closed
    assert "mine" in deployment.reason("mine")  # [536]


async def test_a_row_that_names_what_does_not_exist_makes_the_agent_unusable_until_it_does(
    tmp_path: Path, space: Space
) -> None:
    space.agents._options = AgentOptions(user_root=tmp_path / "user")
    space.agents._reader = RosterReader(AgentOptions().shipped_root, tmp_path / "user")
    write_agent(tmp_path / "user", "mine", "- row: restrict\n  allow: [space_c_new]\n")
    async with running(space, PLAIN):
        agents = space.agents.agents.value
        with pytest.raises(UnusableAgentError, match="unknown tools: 'space_c_new'"):
            agents.view("mine")
        await space.context.ask(EditCapabilities(NEW))
        assert "mine" in space.agents.agents.value.views
        await space.context.ask(EditCapabilities(CapabilityEdit(remove_adapters=("c.new",), remove_presets=("new",))))
        with pytest.raises(UnusableAgentError, match="unknown tools: 'space_c_new'"):
            space.agents.agents.value.view("mine")


async def test_scopes_of_before_are_closed_once_the_new_ones_stand(deployment: Deployment) -> None:
    before = dict(deployment.actor.state.scopes)
    await deployment.actor.ask(FollowCapabilities())
    after = deployment.actor.state.scopes
    assert all(scope.closed for scope in before.values())
    assert not any(scope.closed for scope in after.values())
    assert set(before) == set(after)


async def test_what_mounts_anew_and_is_the_same_gives_equal_views(deployment: Deployment) -> None:
    before = deployment.actor.agents.value
    after = await deployment.actor.ask(FollowCapabilities())
    assert {name: view == before.views[name] for name, view in after.views.items()} == {"standard": True, "code": True}


async def test_without_a_runtime_agents_of_programs_are_unusable_and_name_their_row(deployment: Deployment) -> None:
    deployment.runtime.reason = "deno not found"
    agents = await deployment.read()
    assert set(agents.views) == {"standard"}
    assert deployment.reason("code").endswith(
        'presentation "code" of agent "code" (composition.yml, row 1 "tool-presentation") needs the code runtime: '
        "deno not found"
    )  # [115, 493]
    assert deployment.runtime.looks == ["deno not found"]


async def test_a_runtime_that_works_again_brings_its_agents_back_without_anybody_running_a_program(
    deployment: Deployment,
) -> None:
    deployment.runtime.reason = "not ready in time"
    await deployment.read()
    deployment.runtime.repaired = True
    assert "code" in (await deployment.read()).views
    looks = len(deployment.runtime.looks)
    await deployment.read()
    assert len(deployment.runtime.looks) == looks, "what works is not tried again"


async def test_the_form_of_the_deployment_holds_where_an_agent_chooses_none(tmp_path: Path, space: Space) -> None:
    async with deployed(tmp_path, space, Presentation.BOTH) as deployment:
        write_agent(deployment.user, "plain", "- row: tool-presentation\n  mode: native\n")
        agents = await deployment.read()
        assert {name: view.mode for name, view in agents.views.items()} == {
            "standard": Presentation.BOTH,
            "code": Presentation.CODE,
            "plain": Presentation.NATIVE,
        }
        deployment.runtime.reason = "deno not found"
        assert set((await deployment.read()).views) == {"plain"}
        assert 'presentation "both" of agent "standard" (the deployment\'s default, --presentation)' in (
            deployment.reason("standard")
        )  # [204]


async def test_each_reason_is_said_in_the_log_once(deployment: Deployment, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    write_agent(deployment.user, "mine", BROKEN)
    await deployment.read()
    await deployment.actor.ask(FollowCapabilities())
    printed = capsys.readouterr().out
    assert printed.count("agent_unusable") == 1


@pytest.mark.parametrize("mode", list(Presentation))
def test_a_form_is_asked_for_by_its_word(mode: Presentation) -> None:
    assert presentation_of(mode.value) is mode
    assert presentation_of(None) is None


@pytest.mark.parametrize("word", ["", "Code", "sdk", "x" * 500])
def test_a_form_that_does_not_exist_is_refused_with_those_that_do(word: str) -> None:
    with pytest.raises(InvalidArgumentError, match="there are: native, code, both") as caught:
        presentation_of(word)
    assert len(str(caught.value)) < 150


# The reader of the folders


def settle(root: Path) -> None:
    """Let everything below look as if it had not been touched for years."""
    for path in (root, *root.rglob("*")):
        os.utime(path, (EARLIER, EARLIER))


def test_what_has_not_changed_for_a_while_is_read_once() -> None:
    reader = RosterReader(AgentOptions().shipped_root, None)
    assert reader.read() is reader.read()


def test_a_change_that_the_times_of_files_may_hide_is_seen(tmp_path: Path) -> None:
    write_agent(tmp_path, "mine", OWN)
    reader = RosterReader(tmp_path / "none", tmp_path)
    seen = [reader.read().agents[0].enabled_rows]
    # As long as before, and with times that say nothing.
    write_agent(tmp_path, "mine", OWN.replace("draw", "drew"))
    settle(tmp_path)
    seen.append(reader.read().agents[0].enabled_rows)
    assert seen[0] != seen[1]


def test_what_has_just_been_written_is_read_again_since_it_may_change_without_a_trace(tmp_path: Path) -> None:
    write_agent(tmp_path, "mine", OWN)
    reader = RosterReader(tmp_path / "none", tmp_path)
    first, second = reader.read(), reader.read()
    assert first == second
    assert first is not second


def test_a_folder_that_comes_is_seen_after_a_reading_that_was_kept(tmp_path: Path) -> None:
    user = tmp_path / "user"
    reader = RosterReader(AgentOptions().shipped_root, user)
    before = reader.read()
    assert reader.read() is before
    write_agent(user, "mine", OWN)
    assert [agent.id for agent in reader.read().agents if agent.id == "mine"] == ["mine"]


async def test_agents_are_read_while_the_engine_in_memory_has_no_folders_at_all(tmp_path: Path) -> None:
    space = space_of(tmp_path)
    async with running(space, PLAIN):
        agents = await space.agents.ask(ReadAgents())
        assert "standard" in agents.views
        # The shipped agent `minimal` names tools that this engine lacks, and says so.
        with pytest.raises(UnusableAgentError, match="unknown tools"):
            agents.view("minimal")


def test_a_root_that_was_a_loop_of_links_and_is_gone_is_no_problem_any_more(tmp_path: Path) -> None:
    (tmp_path / "user").symlink_to("user")
    reader = RosterReader(tmp_path / "shipped", tmp_path / "user")
    assert "Too many levels of symbolic links" in reader.read().problems[0]
    (tmp_path / "user").unlink()
    assert reader.has_changed()
    assert reader.read().problems == ()


@pytest.mark.slow
def test_a_time_to_come_does_not_let_the_folders_be_read_for_ever(tmp_path: Path) -> None:
    file = write_agent(tmp_path, "mine", OWN)
    reader = RosterReader(tmp_path / "shipped", tmp_path)
    for path in (file, file.parent, tmp_path):
        os.utime(path, (4_000_000_000, 4_000_000_000))
    time.sleep(SETTLED_SECONDS + 0.1)
    reader.read()
    assert not reader.has_changed()
    file.write_text(CODE)
    assert reader.has_changed()
