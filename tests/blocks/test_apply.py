"""Applying a config: the five steps, what a person wants of them, and that nothing else happens."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import pytest
import trio
from hypothesis import example, given
from hypothesis import strategies as st

from blocks.apply import Applied, Audience, apply_block_config
from blocks.block import ContextBlock
from blocks.change import Change
from blocks.compile import compile_blocks
from blocks.config import BlockConfig
from blocks.json_value import Json
from blocks.placement import Standing, placed_orders
from blocks.script import NoScripts, ScriptFailure, ScriptOther, ScriptOutcome, ScriptText, is_blank
from tests.blocks.configs import BLOCKS, CONFIGS, ORDERS
from tests.blocks.recorded import DECISIONS, blocks, blocks_json, cases, messages_json

DEFAULTS = blocks(
    [
        {"id": "instructions", "role": "system", "content": "Do.", "order": 100, "source": "builtin"},
        {"id": "story-info", "role": "user", "content": "Info.", "order": 100, "source": "builtin"},
        {"id": "prose", "role": "user", "content": "Prose.", "order": 500, "source": "builtin"},
        {"id": "author-input", "role": "user", "content": "Input.", "order": 600, "source": "builtin"},
    ]
)
SUMMARY = ContextBlock(id="summary", role="user", content="So far.", order=400, source="builtin")


class Scripts:
    """Gives what was agreed for a body, and remembers which bodies there were."""

    def __init__(self, outcomes: Mapping[str, ScriptOutcome]) -> None:
        self.outcomes = outcomes
        self.bodies: list[str] = []

    async def evaluate(self, body: str, context: Mapping[str, Json]) -> ScriptOutcome:
        self.bodies.append(body)
        return self.outcomes.get(body, ScriptText(f"{body} ran"))


def script(block_id: str, body: str, **more: Any) -> dict[str, Any]:
    definition = {"id": block_id, "name": "Probe", "role": "user", "order": 550, "type": "script"}
    return {**definition, "content": body, **more}


def applied(config: dict[str, Any], to: tuple[ContextBlock, ...] = DEFAULTS, **more: Any) -> Applied:
    evaluator = more.pop("evaluator", NoScripts("no scripts here"))

    async def run() -> Applied:
        return await apply_block_config(to, BlockConfig.from_json(config), {}, evaluator, **more)

    return trio.run(run)


def user_ids(result: Applied) -> list[str]:
    return [one.id for one in sorted(result.blocks, key=lambda one: one.order) if one.role == "user"]


@cases(
    "apply_block_config",
    {
        "unknown content mode is ignored": DECISIONS[3],
        "blockOrder positions are global across roles": DECISIONS[2],
        "blockOrder partial: unlisted blocks keep their own order and so sort after": DECISIONS[2],
        "blockOrder single custom id puts it first in its role group": DECISIONS[2],
        "random 3": DECISIONS[2],
        "random 9": DECISIONS[2],
    },
)
def test_recorded(case: dict[str, Any]):
    given = blocks(case["input"]["blocks"])
    result = applied(case["input"]["config"], given)
    assert blocks_json(result.blocks) == case["expected"]["blocks"]
    assert messages_json(compile_blocks(result.blocks)) == case["expected"]["messages"]
    assert blocks_json(given) == case["input"]["blocks"]


@given(BLOCKS, CONFIGS, st.sampled_from([ScriptText("x"), ScriptText(""), ScriptOther("5"), ScriptFailure("bad")]))
def test_applying_a_valid_config_never_fails_and_changes_nothing_that_was_given(
    given_blocks: list[ContextBlock], raw: dict[str, Any], outcome: ScriptOutcome
):
    config = BlockConfig.from_json(raw)
    before = (list(given_blocks), config.to_json())
    scripts = Scripts({one.content: outcome for one in config.custom_blocks})
    result = applied(raw, tuple(given_blocks), evaluator=scripts)
    assert result == applied(raw, tuple(given_blocks), evaluator=scripts)
    assert (given_blocks, config.to_json()) == before
    assert len(result.changes) == len(result.blocks)
    disabled = {key for key, override in config.overrides.items() if override.enabled is False}
    assert not disabled & {one.id for one in result.blocks}
    compile_blocks(result.blocks)


STANDINGS = st.lists(
    st.builds(Standing, st.sampled_from("abcdefgh"), st.sampled_from(["system", "user"]), ORDERS | st.integers(-3, 10)),
    unique_by=lambda one: one.id,
)


@example([Standing(one, "user", order) for order, one in enumerate("axby", -3)], ["b", "a"], 2)
@given(STANDINGS, st.permutations("abcdefgh"), st.integers(0, 8))
def test_listed_blocks_stand_as_listed_and_each_other_one_with_its_neighbours(
    standings: list[Standing], ids: list[str], count: int
):
    block_order = ids[:count]
    placed = dict(zip(standings, placed_orders(standings, block_order), strict=True))
    for role in ("system", "user"):
        by_default = sorted((one for one in standings if one.role == role), key=lambda one: one.order)
        now = sorted(by_default, key=placed.__getitem__)
        listed = [one for one in now if one.id in block_order]
        assert [one.id for one in listed] == [one for one in block_order if one in {each.id for each in now}]
        if not listed:
            assert now == by_default
            continue
        first, last = (
            by_default.index(min(listed, key=by_default.index)),
            by_default.index(max(listed, key=by_default.index)),
        )
        assert now[:first] == by_default[:first]
        assert now[len(now) - len(by_default[last + 1 :]) :] == by_default[last + 1 :]
        for before, after in itertools.pairwise(by_default[first:last]):
            if after not in listed:
                assert now.index(after) == now.index(before) + 1


def test_a_builtin_that_comes_after_a_drag_stands_behind_the_block_that_it_stands_behind_by_default():
    dragged = {"blockOrder": ["instructions", "prose", "author-input", "story-info"]}
    assert user_ids(applied(dragged)) == ["prose", "author-input", "story-info"]
    assert user_ids(applied(dragged, (*DEFAULTS, SUMMARY))) == ["prose", "author-input", "story-info", "summary"]
    restored = {"blockOrder": ["instructions", "story-info", "prose", "author-input"]}
    result = applied(restored, (*DEFAULTS, SUMMARY))
    assert user_ids(result) == ["story-info", "summary", "prose", "author-input"]
    assert Change("neighbour") in result.changes[-1]


def test_what_is_first_or_last_by_default_and_not_listed_stays_so():
    assert user_ids(applied({"blockOrder": ["author-input", "prose"]})) == ["story-info", "author-input", "prose"]
    assert user_ids(applied({"blockOrder": ["prose", "story-info"]})) == ["prose", "story-info", "author-input"]


def test_an_override_with_an_empty_text_blanks_a_block():
    result = applied({"overrides": {"prose": {"contentMode": "override", "customContent": ""}}})
    assert [one.content for one in result.blocks if one.id == "prose"] == [""]


def test_a_failed_script_leaves_its_message_to_people_and_a_bare_placeholder_to_the_model():
    config = {"customBlocks": [script("cb-aaaa", "bad"), script("cb-bbbb", "good")]}
    scripts = Scripts({"bad": ScriptFailure("key 123 is wrong")})
    preview = applied(config, (), evaluator=scripts)
    assert [one.content for one in preview.blocks] == ['[Script error in "Probe": key 123 is wrong]', "good ran"]
    run = applied(config, (), evaluator=scripts, audience=Audience.MODEL)
    assert [one.content for one in run.blocks] == ['[Script error in custom block "Probe"]', "good ran"]
    assert [(one.id, one.message) for one in run.script_errors] == [("cb-aaaa", "key 123 is wrong")]


def test_a_script_that_gives_no_text_leaves_no_block_and_the_report_says_why():
    config = {"customBlocks": [script("cb-aaaa", "number"), script("cb-bbbb", "blank")]}
    outcomes = {"number": ScriptOther("a number"), "blank": ScriptText(" \u2003\n")}
    result = applied(config, (), evaluator=Scripts(outcomes))
    assert result.blocks == ()
    assert [(one.id, one.reason, one.detail) for one in result.dropped] == [
        ("cb-aaaa", "script-no-text", "a script block must return a string, this one returned a number"),
        ("cb-bbbb", "script-blank", ""),
    ]


def test_a_disabled_script_is_not_evaluated_whichever_switch_disables_it():
    scripts = Scripts({})
    config = {
        "customBlocks": [script("cb-aaaa", "off", enabled=False), script("cb-bbbb", "off"), script("cb-cccc", "on")],
        "overrides": {"cb-bbbb": {"enabled": False}},
    }
    result = applied(config, (), evaluator=scripts)
    assert scripts.bodies == ["on"]
    assert [(one.id, one.reason) for one in result.dropped] == [
        ("cb-aaaa", "definition-disabled"),
        ("cb-bbbb", "override-disabled"),
    ]


def test_each_block_tells_what_made_it():
    config = {
        "customBlocks": [script("cb-aaaa", "x"), script("cb-bbbb", "text", type="simple")],
        "overrides": {"prose": {"contentMode": "append", "customContent": "!", "order": 7}},
        "blockOrder": ["prose", "author-input"],
    }
    result = applied(config, evaluator=Scripts({}), definition="generation.writer")
    made = {
        block.id: [(one.kind, one.detail) for one in changes]
        for block, changes in zip(result.blocks, result.changes, strict=True)
    }
    assert made == {
        "instructions": [("definition", "generation.writer")],
        "story-info": [("definition", "generation.writer"), ("neighbour", "")],
        "prose": [("definition", "generation.writer"), ("content", "append"), ("position", ""), ("order", "")],
        "author-input": [("definition", "generation.writer"), ("position", "")],
        "cb-aaaa": [("script", ""), ("neighbour", "")],
        "cb-bbbb": [("custom", ""), ("neighbour", "")],
    }


@pytest.mark.parametrize(
    ("text", "blank"), [("\ufeff\u00a0\u3000", True), ("\x85", False), ("\x1c", False), ("\u200b", False)]
)
def test_blank_is_what_javascript_trims_to_nothing(text: str, blank: bool):
    assert is_blank(text) is blank
