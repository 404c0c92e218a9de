"""The roster: which folders are agents, in what order, whose id wins, and that a broken one harms nobody else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from presets.agents.definition import AgentDefinition, Trust, UnusableAgent, UnusableAgentError
from presets.agents.roster import Roster, UnknownAgentError
from presets.agents.yaml_file import MAX_FILE_BYTES
from tests.presets.agents.folders import write_agent

HEALTHY = "- {row: risk-ceiling, risk: normal}"
BROKEN = "- {row: risk-ceiling, risk: normal}\n- {row: ghost}"


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    root = tmp_path / "shipped"
    write_agent(root, "standard", HEALTHY, "order: 1")
    write_agent(root, "code", HEALTHY, "order: 2")
    return root


@pytest.fixture
def user(tmp_path: Path) -> Path:
    root = tmp_path / "agents"
    root.mkdir()
    return root


def test_shipped_agents_come_first_then_by_order_then_by_id(shipped: Path, user: Path):
    for agent_id, order in (("z", None), ("b", 1), ("a", None), ("y", 0), ("c", 1), ("n", -1)):
        write_agent(user, agent_id, HEALTHY, None if order is None else f"order: {order}")
    assert ids(Roster.load(shipped, user)) == ["standard", "code", "n", "y", "b", "c", "a", "z"]


def test_every_agent_says_where_it_comes_from(shipped: Path, user: Path):
    folder = write_agent(user, "mine", HEALTHY)
    roster = Roster.load(shipped, user)
    assert [agent.trust for agent in roster.agents] == [Trust.SHIPPED, Trust.SHIPPED, Trust.USER]
    assert roster.resolve("mine").path == folder


def test_a_broken_agent_is_listed_with_file_row_and_reason_and_harms_nobody(shipped: Path, user: Path):
    folder = write_agent(user, "broken", BROKEN)
    write_agent(user, "mine", HEALTHY)
    roster = Roster.load(shipped, user)
    assert ids(roster) == ["standard", "code", "mine"]
    (broken,) = roster.unusable
    assert (broken.id, broken.path, broken.row, broken.trust) == ("broken", folder / "composition.yml", 2, Trust.USER)
    assert str(broken).startswith(
        f"agent 'broken' is unusable: {folder}/composition.yml, row 2: there is no row 'ghost'. There are "
    )
    assert roster.get("broken") is broken
    with pytest.raises(UnusableAgentError, match=r"agent 'broken' is unusable: .* row 2: there is no row") as no:
        roster.resolve("broken")
    assert no.value.unusable is broken


@pytest.mark.parametrize(
    ("composition", "reason"),
    [
        (None, "is missing"),
        ("rows: []", "must be a top-level list of rows, each beginning '- row: …'"),
        ("- [", "is not valid YAML, line 1, column 4: "),
        (b"- \xff\xfe", "is not UTF-8: byte 2 cannot be read"),
        ("#" * (MAX_FILE_BYTES + 1), f"has {MAX_FILE_BYTES + 1} bytes; the most is {MAX_FILE_BYTES}"),
    ],
)
def test_a_file_that_is_no_composition_says_what_it_is(user: Path, composition: str | bytes | None, reason: str):
    write_agent(user, "broken", composition)
    (broken,) = Roster.load(user / "none", user).unusable
    assert broken.row is None
    assert broken.reason.startswith(reason)


def test_a_folder_in_the_place_of_the_file_is_said(user: Path):
    (user / "odd" / "composition.yml").mkdir(parents=True)
    assert Roster.load(user / "none", user).unusable[0].reason == "is not a file"


def test_a_pipe_in_the_place_of_the_file_holds_nobody_up(user: Path):
    (user / "odd").mkdir()
    os.mkfifo(user / "odd" / "composition.yml")
    assert Roster.load(user / "none", user).unusable[0].reason == "is not a file"


def test_a_composition_that_is_a_link_out_of_its_folder_is_not_read(user: Path, shipped: Path, tmp_path: Path):
    (tmp_path / "secret.yml").write_text(HEALTHY)
    (user / "odd").mkdir()
    (user / "odd" / "composition.yml").symlink_to(tmp_path / "secret.yml")
    (broken,) = Roster.load(user / "none", user).unusable
    assert broken.reason == "is a link that leads out of the agent's folder"
    # What ships with Space may be installed as links.
    assert ids(Roster.load(user)) == ["odd"]


def test_a_device_in_the_place_of_the_file_is_said(user: Path, tmp_path: Path):
    (user / "odd").mkdir()
    (user / "odd" / "composition.yml").symlink_to("/dev/zero")
    assert Roster.load(user).unusable[0].reason == "is not a file"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read_is_said(user: Path):
    folder = write_agent(user, "locked", HEALTHY)
    (folder / "composition.yml").chmod(0)
    assert Roster.load(user / "none", user).unusable[0].reason == "cannot be read: Permission denied"


def test_all_faulty_rows_of_an_agent_are_in_its_reason(user: Path):
    write_agent(user, "broken", "- one\n- two")
    (broken,) = Roster.load(user / "none", user).unusable
    assert broken.row == 1
    assert "; row 2: must be a mapping" in broken.reason


@pytest.mark.parametrize("composition", [HEALTHY, BROKEN, None])
def test_the_users_folder_cannot_take_the_id_of_a_shipped_agent(shipped: Path, user: Path, composition: str | None):
    folder = write_agent(user, "code", composition)
    roster = Roster.load(shipped, user)
    assert roster.resolve("code").trust is Trust.SHIPPED
    assert roster.unusable == (
        UnusableAgent(
            id="code",
            path=folder,
            trust=Trust.USER,
            reason="the id 'code' belongs to an agent that ships with Space; give the folder another name",
        ),
    )


def test_folders_that_cannot_be_agents_are_passed_over_and_one_that_wants_to_be_is_told(user: Path):
    for name in (".hidden", "Has_Caps", "-dash", "with space"):
        (user / name).mkdir()
    (user / "a-file").write_text("no folder")
    write_agent(user, "My_Agent", HEALTHY)
    write_agent(user, ".git", HEALTHY)
    roster = Roster.load(user / "none", user)
    assert (roster.agents, roster.unusable) == ((), ())
    (problem,) = roster.problems
    assert problem.startswith(f"{user / 'My_Agent'} is no agent: its name")


def test_a_root_that_does_not_exist_holds_nothing(shipped: Path, user: Path):
    assert Roster.load(shipped, user / "none").problems == ()
    assert ids(Roster.load(shipped, None)) == ["standard", "code"]
    assert Roster.load(user / "none", user / "none either").agents == ()


def test_a_root_that_cannot_be_read_is_reported_and_costs_the_others_nothing(shipped: Path, tmp_path: Path):
    (tmp_path / "file").write_text("no folder")
    roster = Roster.load(shipped, tmp_path / "file")
    assert roster.problems == (f"the agents in {tmp_path / 'file'} cannot be read: Not a directory",)
    assert ids(roster) == ["standard", "code"]


def test_a_folder_behind_a_link_is_an_agent_and_a_dead_link_is_none(user: Path, tmp_path: Path):
    write_agent(tmp_path / "elsewhere", "real", HEALTHY)
    (user / "linked").symlink_to(tmp_path / "elsewhere" / "real")
    (user / "dead").symlink_to(tmp_path / "nowhere")
    assert ids(Roster.load(user / "none", user)) == ["linked"]


def test_what_is_on_disk_now_is_what_is_read(user: Path):
    folder = write_agent(user, "mine", HEALTHY)
    before = Roster.load(user / "none", user)
    assert Roster.load(user / "none", user) == before
    (folder / "composition.yml").write_text(HEALTHY.replace("normal", "shell"))
    assert Roster.load(user / "none", user).resolve("mine") != before.resolve("mine")


def test_an_unknown_agent_is_refused_with_close_ids_or_all(shipped: Path):
    roster = Roster.load(shipped)
    with pytest.raises(UnknownAgentError, match=r"there is no agent 'standart'\. Did you mean 'standard'\?"):
        roster.resolve("standart")
    with pytest.raises(UnknownAgentError, match=r"there is no agent 'zzz'\. There are: standard, code\."):
        roster.resolve("zzz")
    with pytest.raises(UnknownAgentError, match=r"There are: \(none\)\."):
        Roster().resolve("zzz")


def test_who_names_no_agent_gets_the_standard_one(shipped: Path):
    assert Roster.load(shipped).resolve().id == "standard"


# Former ids


def test_a_former_id_leads_to_the_agent_that_took_its_place(shipped: Path):
    roster = Roster.load(shipped, aliases={"programs": "ptc", "ptc": "code"})
    assert (roster.resolve("programs").id, roster.canonical("ptc"), roster.canonical("zzz")) == ("code", "code", "zzz")


def test_aliases_that_go_in_a_circle_lead_nowhere(shipped: Path):
    with pytest.raises(UnknownAgentError):
        Roster.load(shipped, aliases={"a": "b", "b": "a"}).resolve("a")


def test_the_users_folder_cannot_take_a_former_id_of_a_shipped_agent(shipped: Path, user: Path):
    write_agent(user, "ptc", HEALTHY)
    roster = Roster.load(shipped, user, {"ptc": "code"})
    assert roster.unusable[0].reason.startswith("'ptc' is the former id of 'code', which ships with Space")


def test_an_agent_that_fails_a_check_is_listed_as_unusable(shipped: Path, user: Path):
    write_agent(user, "broken", BROKEN)

    def check(agent: AgentDefinition) -> UnusableAgent | None:
        if agent.id != "code":
            return None
        return UnusableAgent(id=agent.id, path=agent.path, trust=agent.trust, reason="no runtime")

    roster = Roster.load(shipped, user).checked(check)
    assert ids(roster) == ["standard"]
    assert [agent.id for agent in roster.unusable] == ["broken", "code"]


def ids(roster: Roster) -> list[str]:
    return [agent.id for agent in roster.agents]
