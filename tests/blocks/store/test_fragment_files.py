"""Fragments on disk: made, changed with their versions, archived, ordered, tagged; broken ones are set aside."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from blocks.issue import InvalidBlockDataError
from blocks.store.block_store import BlockStore
from blocks.store.files import DataFileError
from blocks.store.limits import MAX_VERSIONS
from blocks.store.revision import StaleRevisionError
from blocks.store.story_files import StoryPlace
from engine.errors import ConflictError, InvalidArgumentError, NotFoundError
from tests.blocks.store.conftest import HERE, opened

FOLDER = "stories/tale/branches/main/fragments"


def make(store: BlockStore, name: str = "One", **members: Any) -> str:
    return store.fragments.create(HERE, {"type": "prose", "name": name, **members}).value.id


def listed(store: BlockStore) -> list[str]:
    return [one.value.name for one in store.fragments.list(HERE)]


def test_a_fragment_is_made_and_read_and_its_id_says_its_type(store: BlockStore, data: Path) -> None:
    made = store.fragments.create(
        HERE, {"type": "character", "name": "Mara", "tags": ["hero"], "sticky": True, "placement": "system", "order": 3}
    )
    assert made.value.id.startswith("ch-")
    assert store.fragments.read(HERE, made.value.id) == made
    stored = json.loads((data / FOLDER / f"{made.value.id}.json").read_text())
    assert (stored["tags"], stored["sticky"], stored["placement"], stored["version"]) == (["hero"], True, "system", 1)
    assert make(store, type="x").startswith("fr-")
    assert make(store, type="weather-report").startswith("we-")
    assert make(store, id="kn-ab12") == "kn-ab12"
    with pytest.raises(ConflictError):
        make(store, id="kn-ab12")


@pytest.mark.parametrize(
    ("raw", "paths"),
    [
        ({}, [("name",), ("type",)]),
        ({"type": "prose", "name": ""}, [("name",)]),
        ({"type": "../prose", "name": "x"}, [("type",)]),
        ({"type": "prose", "name": "x", "id": "nope"}, [("id",)]),
        ({"type": "prose", "name": "x", "tags": ["a", ""]}, [("tags", 1)]),
        ({"type": "prose", "name": "x", "tags": "hero"}, [("tags",)]),
        ({"type": "prose", "name": "x", "placement": "top", "order": "1"}, [("order",), ("placement",)]),
        ({"type": "prose", "name": "x", "versions": []}, [("versions",)]),
        ({"type": "prose", "name": "x", "content": "y" * 500_001}, [("content",)]),
    ],
)
def test_a_fragment_that_cannot_be_is_refused_with_the_paths(store: BlockStore, raw: Any, paths: list[Any]) -> None:
    with pytest.raises(InvalidBlockDataError) as refused:
        store.fragments.create(HERE, raw)
    assert [issue.path for issue in refused.value.issues] == paths
    assert listed(store) == []


def test_another_text_makes_a_version_and_another_tag_does_not(store: BlockStore) -> None:
    one = make(store, content="first")
    store.fragments.update(HERE, one, {"content": "second"})
    changed = store.fragments.update(HERE, one, {"tags": ["x"], "meta": {"a": 1}}).value
    assert (changed.version, [version["content"] for version in changed.versions]) == (2, ["first"])
    same = store.fragments.update(HERE, one, {"content": "second"})
    assert same.value == changed
    for number in range(MAX_VERSIONS + 5):
        changed = store.fragments.update(HERE, one, {"content": f"text {number}"}).value
    assert (changed.version, len(changed.versions)) == (MAX_VERSIONS + 7, MAX_VERSIONS)
    assert changed.versions[-1]["content"] == "text 23"


def test_long_versions_are_let_go_before_the_file_gets_too_large(store: BlockStore) -> None:
    one = make(store, content="a" * 450_000)
    for letter in "bcde":
        store.fragments.update(HERE, one, {"content": letter * 450_000})
    changed = store.fragments.read(HERE, one).value
    assert [version["content"][0] for version in changed.versions] == ["c", "d"]


def test_fragments_are_listed_by_their_order_which_can_be_set_at_once(store: BlockStore) -> None:
    first, second, third = (make(store, name, order=order) for name, order in (("c", 9), ("b", 5), ("a", 1)))
    assert listed(store) == ["a", "b", "c"]
    store.fragments.set_order(HERE, [first, second, third])
    assert listed(store) == ["c", "b", "a"]
    for ids, error in (([first, first], InvalidArgumentError), ([second, "pr-none"], NotFoundError)):
        with pytest.raises(error):
            store.fragments.set_order(HERE, ids)
    assert listed(store) == ["c", "b", "a"]


def test_tags_come_and_go_one_by_one(store: BlockStore) -> None:
    one = make(store, tags=["a"])
    assert store.fragments.add_tag(HERE, one, "b/../c").value.tags == ("a", "b/../c")
    assert store.fragments.add_tag(HERE, one, "a").value.tags == ("a", "b/../c")
    assert store.fragments.remove_tag(HERE, one, "a").value.tags == ("b/../c",)
    assert store.fragments.remove_tag(HERE, one, "a").value.tags == ("b/../c",)
    with pytest.raises(InvalidBlockDataError):
        store.fragments.add_tag(HERE, one, " ")


def test_only_what_is_archived_can_be_removed_for_good(store: BlockStore, data: Path) -> None:
    one = make(store)
    with pytest.raises(ConflictError):
        store.fragments.delete(HERE, one)
    archived = store.fragments.set_archived(HERE, one, True)
    assert store.fragments.list(HERE)[0].value.archived
    with pytest.raises(StaleRevisionError):
        store.fragments.delete(HERE, one, {"older"})
    store.fragments.delete(HERE, one, {archived.revision})
    assert not list((data / FOLDER).iterdir())
    with pytest.raises(NotFoundError):
        store.fragments.read(HERE, one)


def test_a_broken_fragment_costs_no_other(store: BlockStore, data: Path) -> None:
    make(store, "whole")
    (data / FOLDER / "pr-broken.json").write_text('{"id": "pr-broken", "type": "prose"}')
    (data / FOLDER / "notes.txt").write_text("not ours")
    (data / FOLDER / "pr-folder.json").mkdir()
    (data / FOLDER / "pr-linked.json").symlink_to("/etc/passwd")
    assert listed(store) == ["whole"]
    (report,) = store.take_reports()
    assert report.path == f"{FOLDER}/pr-broken.json"
    assert (data / FOLDER / "notes.txt").read_text() == "not ours"
    with pytest.raises(ConflictError):
        make(store, id="pr-folder")


def test_a_fragment_that_was_copied_by_hand_is_one_of_its_own(store: BlockStore, data: Path) -> None:
    one = make(store, "One", order=1)
    (data / FOLDER / "pr-copy.json").write_bytes((data / FOLDER / f"{one}.json").read_bytes())
    assert sorted(fragment.value.id for fragment in store.fragments.list(HERE)) == sorted([one, "pr-copy"])
    store.fragments.update(HERE, "pr-copy", {"name": "Two"})
    assert sorted(listed(store)) == ["One", "Two"]


def test_too_many_fragments_are_refused(store: BlockStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("blocks.store.fragment_files.MAX_FRAGMENTS", 2)
    make(store)
    make(store)
    with pytest.raises(ConflictError, match="2 fragments"):
        make(store)


def test_a_full_disk_is_reported_and_nothing_has_changed(
    store: BlockStore, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = make(store)

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr("blocks.store.files.os.fsync", full)
        with pytest.raises(DataFileError, match="No space left"):
            store.fragments.update(HERE, one, {"name": "Two"})
        with pytest.raises(DataFileError):
            store.stories.create({"name": "x", "id": "half"})
    assert listed(store) == ["One"]
    assert [story.value.id for story in store.stories.list()] == ["tale"]
    assert not list((data / ".blocks-unfinished").iterdir())
    store.fragments.update(HERE, one, {"name": "Two"})
    assert listed(store) == ["Two"]


WRITER = """
import sys
from datetime import datetime, UTC
from pathlib import Path
from blocks.store.block_store import BlockStore
from blocks.store.story_files import StoryPlace
store = BlockStore(Path(sys.argv[1]), lambda: datetime.now(UTC))
here, number = StoryPlace("tale"), 0
while True:
    number += 1
    store.fragments.update(here, "pr-victim", {"content": f"{number} " * 40_000})
    store.stories.create_branch("tale", {"name": "b", "id": f"b{number}"}) if number < 90 else None
    print(number, flush=True)
"""


@pytest.mark.slow
def test_a_writer_that_is_killed_leaves_every_file_whole_and_loses_nothing_it_has_told(
    store: BlockStore, data: Path
) -> None:
    make(store, id="pr-victim")
    command = [sys.executable, "-c", WRITER, str(data)]
    told = 0
    for pause in (0.02, 0.05, 0.09, 0.13):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            told = int(process.stdout.readline())
            time.sleep(pause)
            process.kill()
            told = max([told, *(int(line) for line in process.stdout.read().split())])
        again = opened(data)
        number = int(again.fragments.read(HERE, "pr-victim").value.content.split()[0])
        assert told <= number <= told + 1
        for branch in again.stories.branches("tale").value.branches:
            assert again.fragments.list(StoryPlace("tale", branch.id)), "a branch is copied whole"
        assert again.take_reports() == ()
        for branch in again.stories.branches("tale").value.branches[1:]:
            (data / "stories/tale/branches" / branch.id).rename(data.parent / f"{branch.id}-{pause}")
