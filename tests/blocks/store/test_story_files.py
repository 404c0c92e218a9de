"""Stories and branches on disk: made whole, changed, archived; broken files and hostile ids lose nothing."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blocks.edits import set_block_order
from blocks.issue import InvalidBlockDataError
from blocks.store.block_store import BlockStore
from blocks.store.revision import StaleRevisionError
from blocks.store.story_files import StoryPlace
from engine.errors import ConflictError, EngineError, ForbiddenError, InvalidArgumentError, NotFoundError
from tests.blocks.store.conftest import HERE, NOW, opened

HOSTILE = [
    "..",
    ".",
    "",
    "../x",
    "a/b",
    "/etc",
    "a\0b",
    "a\\b",
    "A",
    "ä",
    "x" * 65,
    "x" * 5000,
    "-a",
    "a.json",
    "a\n",
    "%2e%2e",
    "\ud800",
]


def names(store: BlockStore, *, archived: bool = False) -> list[str]:
    return [one.value.id for one in store.stories.list(archived=archived)]


def test_a_story_is_made_read_and_changed_and_is_there_after_a_restart(store: BlockStore, data: Path) -> None:
    made = store.stories.create({"name": "物語", "description": "d", "settings": {"x": [1]}})
    assert made.value.id.startswith("story-")
    assert (made.value.created_at, made.value.settings["x"]) == (NOW.isoformat(), (1,))
    changed = store.stories.update(made.value.id, {"summary": "So far.", "coverImage": None}, {made.revision})
    assert (changed.value.name, changed.value.summary) == ("物語", "So far.")
    patched = store.stories.update_settings(made.value.id, {"y": True, "x": None})
    assert dict(patched.value.settings) == {"y": True}
    again = opened(data)
    assert again.stories.read(made.value.id) == patched
    assert names(again) == sorted(["tale", made.value.id])
    assert json.loads((data / "stories" / made.value.id / "meta.json").read_text())["settings"] == {"y": True}


@pytest.mark.parametrize(
    ("raw", "paths"),
    [
        ({}, [("name",)]),
        ([], [()]),
        ({"name": " "}, [("name",)]),
        ({"name": "x" * 201}, [("name",)]),
        ({"name": "a\nb"}, [("name",)]),
        ({"name": 7, "description": None}, [("description",), ("name",)]),
        ({"name": "x", "summary": "\ud800"}, [("summary",)]),
        ({"name": "x", "path": "/etc/passwd"}, [("path",)]),
        ({"name": "x", "settings": []}, [("settings",)]),
        ({"name": "x", "createdAt": "now"}, [("createdAt",)]),
    ],
)
def test_a_story_that_cannot_be_is_refused_with_the_paths(store: BlockStore, raw: Any, paths: list[Any]) -> None:
    with pytest.raises(InvalidBlockDataError) as refused:
        store.stories.create(raw)
    assert [issue.path for issue in refused.value.issues] == paths
    assert names(store) == ["tale"]


def test_a_change_on_a_stale_revision_is_refused(store: BlockStore) -> None:
    read = store.stories.read("tale")
    store.stories.update("tale", {"name": "Another"}, {read.revision})
    with pytest.raises(StaleRevisionError):
        store.stories.update("tale", {"name": "A third"}, {read.revision})
    with pytest.raises(StaleRevisionError):
        store.stories.archive("tale", {read.revision})
    assert store.stories.read("tale").value.name == "Another"


def test_an_archived_story_is_out_of_use_until_it_is_restored_whole(store: BlockStore) -> None:
    fragment = store.fragments.create(HERE, {"type": "prose", "name": "One"})
    store.stories.archive("tale")
    assert (names(store), names(store, archived=True)) == ([], ["tale"])
    with pytest.raises(NotFoundError, match="archive"):
        store.stories.read("tale")
    with pytest.raises(ConflictError):
        store.stories.create({"name": "x", "id": "tale"})
    store.stories.restore("tale")
    assert store.fragments.list(HERE) == (fragment,)
    with pytest.raises(NotFoundError):
        store.stories.restore("tale")


def test_a_branch_is_a_copy_that_goes_its_own_way(store: BlockStore, data: Path) -> None:
    fragment = store.fragments.create(HERE, {"type": "prose", "name": "One"}).value.id
    store.configs.edit(HERE, "generation.writer", partial(set_block_order, raw=["a"]))
    folder = data / "stories/tale/branches/main/agent-blocks"
    (folder / "x.json.broken-20260101T000000Z").write_text("?")
    made = store.stories.create_branch("tale", {"name": "What if", "id": "what-if"})
    assert (made.parent, [one.id for one in store.stories.branches("tale").value.branches]) == (
        "main",
        ["main", "what-if"],
    )
    there = StoryPlace("tale", "what-if")
    store.configs.edit(there, "generation.writer", partial(set_block_order, raw=["b"]))
    store.fragments.update(there, fragment, {"name": "Two"})
    assert store.configs.read(HERE, "generation.writer").value.block_order == ("a",)
    store.stories.switch_branch("tale", {"branchId": "what-if"})
    assert store.configs.read(HERE, "generation.writer").value.block_order == ("b",)
    assert store.fragments.read(StoryPlace("tale", "main"), fragment).value.name == "One"
    assert not list((data / "stories/tale/branches/what-if").rglob("*.broken-*"))
    assert store.stories.rename_branch("tale", "what-if", {"name": "So be it"}).name == "So be it"


def test_a_branch_that_cannot_be_is_refused(store: BlockStore) -> None:
    for raw in ({}, {"name": ""}, {"name": "x", "id": "../x"}, {"name": "x", "from": 1}, {"name": "x", "order": 1}):
        with pytest.raises(InvalidArgumentError):
            store.stories.create_branch("tale", raw)
    with pytest.raises(ConflictError):
        store.stories.create_branch("tale", {"name": "x", "id": "main"})
    with pytest.raises(NotFoundError):
        store.stories.create_branch("tale", {"name": "x", "from": "nope"})
    with pytest.raises(NotFoundError):
        store.stories.switch_branch("tale", {"branchId": "nope"})
    assert [one.id for one in store.stories.branches("tale").value.branches] == ["main"]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_id_leaves_the_data_folder(store: BlockStore, data: Path, hostile: str) -> None:
    before = sorted(data.parent.rglob("*"))
    place = StoryPlace("tale", hostile)
    for attempt in (
        lambda: store.stories.read(hostile),
        lambda: store.stories.update(hostile, {"name": "x"}),
        lambda: store.stories.archive(hostile),
        lambda: store.stories.restore(hostile),
        lambda: store.stories.create({"name": "x", "id": hostile}),
        lambda: store.stories.create_branch("tale", {"name": "x", "id": hostile}),
        lambda: store.stories.create_branch("tale", {"name": "x", "from": hostile}),
        lambda: store.stories.rename_branch("tale", hostile, {"name": "x"}),
        lambda: store.fragments.list(StoryPlace(hostile)),
        lambda: store.fragments.list(place),
        lambda: store.fragments.read(HERE, hostile),
        lambda: store.fragments.create(HERE, {"type": "prose", "name": "x", "id": hostile}),
        lambda: store.fragments.delete(HERE, hostile),
        lambda: store.configs.read(place, "generation.writer"),
    ):
        with pytest.raises(EngineError) as refused:
            attempt()
        assert isinstance(refused.value, NotFoundError | InvalidArgumentError), refused.value
    assert sorted(data.parent.rglob("*")) == before


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(text=st.text(min_size=1, max_size=200))
def test_whatever_a_name_holds_it_is_kept_or_refused_and_never_a_path(store: BlockStore, data: Path, text: str) -> None:
    try:
        made = store.stories.create({"name": text, "id": "named"})
    except InvalidBlockDataError:
        return
    try:
        assert store.stories.read("named").value.name == text
        assert sorted(path.name for path in (data / "stories" / "named").iterdir()) == ["branches.json", "meta.json"]
    finally:
        store.stories.archive(made.value.id)
        (data / "archived-stories" / "named").rename(data.parent / made.revision)


def test_a_story_whose_file_is_broken_keeps_its_fragments_and_goes_by_its_id(store: BlockStore, data: Path) -> None:
    fragment = store.fragments.create(HERE, {"type": "prose", "name": "One"})
    (data / "stories/tale/meta.json").write_text('{"name": 7}')
    (data / "stories/tale/branches.json").write_text("?")
    assert store.stories.read("tale").value.name == "tale"
    assert store.fragments.list(HERE) == (fragment,)
    assert [report.path for report in store.take_reports()] == ["stories/tale/meta.json", "stories/tale/branches.json"]
    assert store.stories.update("tale", {"name": "Named again"}).value.name == "Named again"


def test_a_link_among_the_stories_is_no_story(store: BlockStore, data: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (data / "stories" / "link").symlink_to(tmp_path / "elsewhere")
    assert names(store) == ["tale"]
    for attempt in (store.stories.read, store.stories.branches, store.stories.archive):
        with pytest.raises(ForbiddenError):
            attempt("link")
    with pytest.raises(ConflictError):
        store.stories.create({"name": "x", "id": "link"})
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_what_a_crash_left_unfinished_is_removed_at_the_next_start(store: BlockStore, data: Path) -> None:
    half = data / ".blocks-unfinished" / "0123456789abcdef"
    half.mkdir(parents=True)
    (half / "meta.json").write_text("{")
    again = opened(data)
    assert not (data / ".blocks-unfinished").exists()
    assert names(again) == ["tale"]


def test_too_many_stories_and_branches_are_refused(store: BlockStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("blocks.store.story_files.MAX_STORIES", 1)
    monkeypatch.setattr("blocks.store.story_files.MAX_BRANCHES", 1)
    with pytest.raises(ConflictError, match="archive one"):
        store.stories.create({"name": "One more"})
    with pytest.raises(ConflictError, match="the most"):
        store.stories.create_branch("tale", {"name": "One more"})
