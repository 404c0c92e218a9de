"""Copies of agents: whole or not at all, private, and without what belongs to the original alone."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from engine.errors import ConflictError, InvalidArgumentError
from presets.agents.roster import SHIPPED_ROOT, Roster
from transport.agent_folders import MAX_COPIED_BYTES, MAX_COPIED_FILES, copy_agent, remove_agent


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The user's folder of agents, which does not exist yet."""
    return tmp_path / "data" / "agents"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """An agent to copy."""
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "composition.yml").write_text("- row: risk-ceiling\n  risk: normal\n")
    return folder


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("shipped", sorted(path.name for path in SHIPPED_ROOT.iterdir()))
def test_the_copy_of_a_shipped_agent_is_an_agent_with_the_same_rows(root: Path, shipped: str) -> None:
    copy_agent(SHIPPED_ROOT / shipped, root, "mine")
    roster = Roster.load(user_root=root)
    copied, original = roster.resolve("mine"), roster.resolve(shipped)
    assert copied.rows == original.rows
    assert (copied.path / "composition.yml").read_bytes() == (original.path / "composition.yml").read_bytes()
    assert copied.descriptions == original.descriptions
    assert (copied.names, copied.order) == ({}, None)


def test_only_the_owner_may_read_a_copy_and_what_could_be_run_still_can(source: Path, root: Path) -> None:
    (source / "deeper").mkdir(mode=0o755)
    (source / "deeper" / "script.sh").write_text("true")
    (source / "deeper" / "script.sh").chmod(0o755)
    copied = copy_agent(source, root, "mine")
    assert [mode_of(path) for path in (root, copied, copied / "deeper")] == [0o700] * 3
    assert mode_of(copied / "composition.yml") == 0o600
    assert mode_of(copied / "deeper" / "script.sh") == 0o700


def test_a_copy_can_have_a_name_of_its_own(root: Path) -> None:
    copy_agent(SHIPPED_ROOT / "code", root, "mine", "  Mein Agent ")
    assert Roster.load(user_root=root).resolve("mine").name() == "Mein Agent"


def test_metadata_in_which_nothing_is_left_goes_and_what_nobody_knows_stays(source: Path, root: Path) -> None:
    (source / "preset.yml").write_text("name: Original\norder: 3\n")
    assert not (copy_agent(source, root, "bare") / "preset.yml").exists()
    (source / "preset.yml").write_text("name: Original\norder: 3\nicon: star\n")
    assert yaml.safe_load((copy_agent(source, root, "starred") / "preset.yml").read_text()) == {"icon": "star"}


def test_metadata_that_cannot_be_read_is_left_behind(source: Path, root: Path) -> None:
    (source / "preset.yml").write_text("name: [")
    assert not (copy_agent(source, root, "mine") / "preset.yml").exists()


def test_links_are_copied_as_what_they_point_at(source: Path, root: Path) -> None:
    (source / "there").mkdir()
    (source / "there" / "notes.txt").write_text("notes")
    (source / "linked").symlink_to("there")
    copied = copy_agent(source, root, "mine")
    assert not (copied / "linked").is_symlink()
    assert (copied / "linked" / "notes.txt").read_text() == "notes"


@pytest.mark.parametrize("target", ["folder", "folder/secret.txt", "/dev/zero"])
def test_a_link_that_leads_out_of_the_folder_is_not_followed(
    source: Path, root: Path, tmp_path: Path, target: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "secret.txt").write_text("secret")
    (source / "linked").symlink_to(tmp_path / target)
    with pytest.raises(ConflictError, match="linked is a link that leads out of the agent's folder"):
        copy_agent(source, root, "mine")
    assert list(root.iterdir()) == []


def test_a_folder_that_is_a_link_itself_is_copied(source: Path, root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(source)
    assert (copy_agent(tmp_path / "link", root, "mine") / "composition.yml").exists()


def test_what_ships_with_space_may_be_installed_as_links(source: Path, root: Path, tmp_path: Path) -> None:
    (tmp_path / "installed").mkdir()
    (tmp_path / "installed" / "composition.yml").symlink_to(source / "composition.yml")
    copied = copy_agent(tmp_path / "installed", root, "mine", links_lead_out=True)
    assert (copied / "composition.yml").read_bytes() == (source / "composition.yml").read_bytes()


@pytest.mark.parametrize(
    "agent_id", ["", "Mine", "../mine", ".mine", "-mine", "my agent", "mine/", "ä", "a" * 65, "a\n"]
)
def test_an_id_that_no_agent_can_have_is_refused(source: Path, root: Path, agent_id: str) -> None:
    with pytest.raises(InvalidArgumentError, match="is no id of an agent"):
        copy_agent(source, root, agent_id)
    assert not root.exists()


@pytest.mark.parametrize("kind", ["folder", "empty folder", "file", "broken link"])
def test_what_is_there_already_stays_as_it_is(source: Path, root: Path, kind: str) -> None:
    root.mkdir(parents=True)
    target = root / "mine"
    match kind:
        case "file":
            target.write_text("kept")
        case "broken link":
            target.symlink_to("nowhere")
        case _:
            target.mkdir()
    if kind == "folder":
        (target / "kept").touch()
    before = target.lstat()
    with pytest.raises(ConflictError, match="already exists"):
        copy_agent(source, root, "mine")
    assert (target.lstat().st_ino, target.lstat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert list(root.iterdir()) == [target]


def test_of_two_copies_that_end_at_once_the_later_gives_way(
    source: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = copy_agent(source, root, "mine")
    answers = [False, True]
    monkeypatch.setattr(os.path, "lexists", lambda path: answers.pop(0))
    with pytest.raises(ConflictError, match="already exists"):
        copy_agent(source, root, "mine")
    assert list(root.iterdir()) == [copied]


def _endless(source: Path) -> None:
    (source / "again").symlink_to(source)


def _crowded(source: Path) -> None:
    for number in range(MAX_COPIED_FILES + 1):
        (source / str(number)).touch()


def _large(source: Path) -> None:
    with (source / "large").open("wb") as file:
        file.truncate(MAX_COPIED_BYTES)


def _pipe(source: Path) -> None:
    os.mkfifo(source / "pipe")


@pytest.mark.parametrize("made", [_endless, _crowded, _large, _pipe])
def test_what_is_no_agent_is_not_copied_and_nothing_is_left(
    source: Path, root: Path, made: Callable[[Path], None]
) -> None:
    made(source)
    with pytest.raises((ConflictError, OSError)):
        copy_agent(source, root, "mine")
    assert list(root.iterdir()) == []


def test_a_link_to_nowhere_is_an_error_of_the_disk_and_nothing_is_left(source: Path, root: Path) -> None:
    (source / "lost").symlink_to("nowhere")
    with pytest.raises(FileNotFoundError):
        copy_agent(source, root, "mine")
    assert list(root.iterdir()) == []


def test_a_removed_agent_is_gone_with_everything_in_it(source: Path, root: Path) -> None:
    remove_agent(copy_agent(source, root, "mine"))
    assert list(root.iterdir()) == []


def test_removing_an_agent_that_is_a_link_takes_the_link_alone(source: Path, root: Path) -> None:
    root.mkdir(parents=True)
    (root / "mine").symlink_to(source)
    remove_agent(root / "mine")
    assert list(root.iterdir()) == []
    assert (source / "composition.yml").exists()
