"""Configurations on disk: the recorded cases, revisions, broken files, and what is too large."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from blocks.config import EMPTY_CONFIG, AgentBlockConfig
from blocks.edits import (
    add_custom_block,
    delete_custom_block,
    patch_config,
    set_block_order,
    set_disabled_tools,
    update_custom_block,
)
from blocks.issue import InvalidBlockDataError
from blocks.store.block_store import BlockStore
from blocks.store.config_files import Edit, Place
from blocks.store.limits import MAX_CUSTOM_BLOCKS
from blocks.store.revision import StaleRevisionError
from engine.errors import ConflictError, ForbiddenError, InvalidArgumentError, NotFoundError
from tests.blocks.recorded import cases
from tests.blocks.store.conftest import HERE

AGENT = "generation.writer"
FILE = f"stories/tale/branches/main/agent-blocks/{AGENT}.json"

LEFT_OUT = {
    "corrupt JSON reads as empty and is left alone": "decision 4: it is set aside",
    "empty file reads as empty": "decision 4: it is set aside",
    "wrong top-level type reads as empty": "decision 4: it is set aside",
    "add appends to customBlocks and blockOrder": "decision 1: an empty blockOrder stays empty",
    "update changes only the first of two duplicates": "decision 1: an empty blockOrder stays empty",
}


def block(block_id: str = "cb-one1", **members: Any) -> dict[str, Any]:
    return {"id": block_id, "name": "N", "role": "user", "type": "simple", "content": "c", **members}


def run(store: BlockStore, op: dict[str, Any], agent: str = AGENT) -> Any:
    """What one recorded operation gives."""
    both = {name: op[name] for name in ("overrides", "blockOrder") if name in op}
    steps: dict[str, Callable[[], Edit]] = {
        "save": lambda: lambda _: AgentBlockConfig.from_json(op["config"]),
        "addCustom": lambda: partial(add_custom_block, raw=op["block"]),
        "updateCustom": lambda: partial(update_custom_block, block_id=op["blockId"], raw=op["updates"]),
        "deleteCustom": lambda: partial(delete_custom_block, block_id=op["blockId"]),
        "updateOverrides": lambda: partial(patch_config, raw=both),
        "updateDisabledTools": lambda: partial(set_disabled_tools, raw=op["disabledTools"]),
    }
    if op["op"] == "get":
        return store.configs.read(HERE, agent).value.to_json()
    try:
        changed = store.configs.edit(HERE, agent, steps[op["op"]]()).value
    except NotFoundError:
        return None
    return "saved" if op["op"] == "save" else changed.to_json()


@cases("config_store", LEFT_OUT)
def test_a_recorded_sequence_of_operations_gives_what_was_recorded(store: BlockStore, data: Path, case: Any) -> None:
    file, initial = data / FILE, case["input"]["initialFile"]
    if initial is not None:
        file.parent.mkdir(parents=True)
        file.write_text(initial if isinstance(initial, str) else json.dumps(initial))
    assert [run(store, op) for op in case["input"]["ops"]] == case["expected"]["results"]
    found = json.loads(file.read_text()) if file.exists() else None
    assert found == case["expected"]["file"]
    assert not list(data.rglob("*.tmp"))
    unfinished = data / ".blocks-unfinished"
    assert not unfinished.exists() or not list(unfinished.iterdir())


def test_a_custom_block_that_is_added_leaves_an_empty_order_empty(store: BlockStore) -> None:
    added = run(store, {"op": "addCustom", "block": block()})
    assert [one["id"] for one in added["customBlocks"]] == ["cb-one1"]
    assert added["blockOrder"] == []


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"{not json", "no JSON"),
        (b"", "no JSON"),
        (b"[]", "the value"),
        (b'{"overrides": {"a": {"order": NaN}}}', "NaN"),
        (b'{"overrides": {"prose": {"enabled": null}}}', "overrides.prose.enabled"),
        (b"\xff\xfe", "no UTF-8"),
        (b"[" * 100_000, "no JSON"),
        (b'{"blockOrder": ["' + b"x" * (4 * 1024 * 1024) + b'"]}', "more than"),
        (b'{"customBlocks": ' + b"9" * 5000 + b"}", "no JSON"),
    ],
)
def test_a_broken_file_is_set_aside_and_reported_and_never_written_over(
    store: BlockStore, data: Path, content: bytes, reason: str
) -> None:
    file = data / FILE
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    run(store, {"op": "updateDisabledTools", "disabledTools": ["x"]})
    (report,) = store.take_reports()
    assert (report.path, reason in report.reason) == (FILE, True), report
    assert report.kept_as == f"{FILE}.broken-20260102T030405Z"
    assert (data / report.kept_as).read_bytes() == content
    assert json.loads(file.read_text())["disabledTools"] == ["x"]
    file.write_bytes(b"broken again, in the same second")
    assert store.configs.read(HERE, AGENT).value == EMPTY_CONFIG
    assert store.take_reports()[0].kept_as == f"{FILE}.broken-20260102T030405Z-2"
    assert store.take_reports() == ()


def test_reading_makes_no_file(store: BlockStore, data: Path) -> None:
    before = sorted(data.rglob("*"))
    assert store.configs.read(HERE, AGENT).value == EMPTY_CONFIG
    assert store.configs.read(None, "standard").value == EMPTY_CONFIG
    assert sorted(data.rglob("*")) == before


def test_a_change_on_a_stale_revision_is_refused_and_says_which_one_holds(store: BlockStore) -> None:
    read = store.configs.read(HERE, AGENT)
    first = store.configs.edit(HERE, AGENT, partial(set_block_order, raw=["a"]), {read.revision})
    assert first.revision != read.revision
    for base in ({read.revision}, set[str]()):
        with pytest.raises(StaleRevisionError) as stale:
            store.configs.edit(HERE, AGENT, partial(set_block_order, raw=["b"]), base)
        assert stale.value.revision == first.revision
    assert store.configs.read(HERE, AGENT) == first
    for base in ({first.revision, "another"}, {"*"}, None):
        store.configs.edit(HERE, AGENT, partial(set_block_order, raw=["a"]), base)
    with pytest.raises(StaleRevisionError):
        store.configs.reset(HERE, AGENT, {read.revision})
    assert store.configs.reset(HERE, AGENT, {first.revision}).revision == read.revision


def test_a_refused_change_leaves_the_file_untouched(store: BlockStore, data: Path) -> None:
    run(store, {"op": "updateDisabledTools", "disabledTools": ["x"]})
    before = (data / FILE).read_bytes()
    with pytest.raises(InvalidBlockDataError) as refused:
        run(store, {"op": "updateOverrides", "overrides": {"prose": {"enabled": None, "order": "7"}}})
    assert [issue.path for issue in refused.value.issues] == [("overrides", "prose", "order")]
    assert (data / FILE).read_bytes() == before


def test_a_file_that_is_changed_by_hand_is_read_again(store: BlockStore, data: Path) -> None:
    run(store, {"op": "updateDisabledTools", "disabledTools": ["x"]})
    revision = store.configs.read(HERE, AGENT).revision
    (data / FILE).write_text('{"disabledTools": ["by hand"]}')
    read = store.configs.read(HERE, AGENT)
    assert (read.value.disabled_tools, read.revision != revision) == (("by hand",), True)


@pytest.mark.parametrize("place", [HERE, None])
@pytest.mark.parametrize("agent", ["../../../escape", "a/b", "", ".", "..", "A", "a\0b", "x" * 101, "a\n", "ä", "-"])
def test_no_agent_name_leaves_the_folder(store: BlockStore, data: Path, place: Place, agent: str) -> None:
    before = sorted(data.parent.rglob("*"))
    with pytest.raises(NotFoundError):
        store.configs.read(place, agent)
    with pytest.raises(NotFoundError):
        store.configs.edit(place, agent, partial(set_block_order, raw=["a"]))
    with pytest.raises(NotFoundError):
        store.configs.replace_all(place, {"ok": EMPTY_CONFIG, agent: EMPTY_CONFIG})
    assert sorted(data.parent.rglob("*")) == before


def test_links_are_not_followed_and_stay(store: BlockStore, data: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text('{"disabledTools": ["secret"]}')
    (data / FILE).parent.mkdir(parents=True)
    (data / FILE).symlink_to(outside)
    with pytest.raises(ForbiddenError):
        store.configs.read(HERE, AGENT)
    with pytest.raises(ForbiddenError):
        store.configs.edit(HERE, AGENT, partial(set_block_order, raw=["a"]))
    assert outside.read_text() == '{"disabledTools": ["secret"]}'
    assert (data / FILE).is_symlink()
    (tmp_path / "elsewhere").mkdir()
    (data / "agent-blocks").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ForbiddenError):
        store.configs.edit(None, "standard", partial(set_block_order, raw=["a"]))
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_the_configs_of_space_agents_lie_in_no_story(store: BlockStore, data: Path) -> None:
    store.configs.edit(None, "standard", partial(set_block_order, raw=["a"]))
    assert (data / "agent-blocks" / "standard.json").is_file()
    assert store.configs.read(HERE, "standard").value == EMPTY_CONFIG


def test_a_config_that_has_become_too_large_is_refused(store: BlockStore) -> None:
    many = [block(f"cb-{number:04}") for number in range(MAX_CUSTOM_BLOCKS + 1)]
    with pytest.raises(ConflictError, match="at most 100"):
        store.configs.replace_all(HERE, {AGENT: AgentBlockConfig.from_json({"customBlocks": many})})
    long = AgentBlockConfig.from_json({"customBlocks": [block(content="x" * 1_100_000)]})
    with pytest.raises(InvalidArgumentError, match="bytes"):
        store.configs.replace_all(HERE, {"librarian.chat": EMPTY_CONFIG, AGENT: long})
    assert store.configs.read(HERE, AGENT).value == EMPTY_CONFIG


def test_the_configuration_of_an_agent_that_is_no_more_is_kept_beside_and_comes_back_to_nobody(
    store: BlockStore, data: Path
):
    store.configs.edit(None, "mine", partial(set_block_order, raw=["tools"]))
    kept = store.configs.set_aside(None, "mine")
    assert kept == "archived-agent-blocks/mine.20260102T030405Z.json"
    assert json.loads((data / kept).read_text())["blockOrder"] == ["tools"]
    assert store.configs.read(None, "mine").value == EMPTY_CONFIG
    assert store.configs.set_aside(None, "mine") is None
    store.configs.edit(None, "mine", partial(set_block_order, raw=["world"]))
    assert store.configs.set_aside(None, "mine") == "archived-agent-blocks/mine.20260102T030405Z-2.json"


def test_a_copy_of_an_agent_has_its_configuration_and_not_what_one_of_its_id_has_left(store: BlockStore, data: Path):
    store.configs.edit(None, "mine", partial(set_block_order, raw=["tools"]))
    store.configs.edit(None, "theirs", partial(set_block_order, raw=["old"]))
    store.configs.take_along("mine", "theirs")
    assert store.configs.read(None, "theirs").value.block_order == ("tools",)
    store.configs.take_along("nothing-changed", "theirs")
    assert store.configs.read(None, "theirs").value == EMPTY_CONFIG
    assert len(list((data / "archived-agent-blocks").iterdir())) == 2
