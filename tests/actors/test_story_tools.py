"""The tools of story agents: what they answer, how much, and that nothing a model asks for ends a run."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import trio

from actors.blocks import BlocksActor, UseBlocks
from actors.story_tools import MOST_ANSWER_CHARACTERS, MOST_FINDINGS, MOST_ROWS, StoryTools, ToolAnswer
from blocks.context import ToolOffer
from blocks.store.block_store import BlockStore
from blocks.store.story_files import StoryPlace
from blocks.story_agents.roster import STORY_AGENTS

PLACE = StoryPlace("tale")

ALL = tuple({offer.name: offer for agent in STORY_AGENTS for offer in agent.available_tools}.values())


@pytest.fixture
async def blocks(tmp_path: Path) -> AsyncGenerator[BlocksActor]:
    """A blocks actor with a story of three fragments."""

    def fill(store: BlockStore) -> None:
        store.stories.create({"id": "tale", "name": "A Tale"})
        for fragment_id, kind, content in (
            ("ch-mara", "character", "Mara keeps the light."),
            ("kn-light", "knowledge", "The light burns oil. The oil is old."),
            ("kn-gone", "knowledge", "Gone."),
        ):
            made = {"id": fragment_id, "type": kind, "name": fragment_id.upper(), "content": content}
            store.fragments.create(PLACE, made)
        store.fragments.set_archived(PLACE, "kn-gone", True)

    actor = BlocksActor(tmp_path, lambda: datetime.now(UTC))
    with trio.fail_after(20):
        async with trio.open_nursery() as nursery:
            await nursery.start(actor.run)
            await actor.ask(UseBlocks(fill))
            yield actor
            nursery.cancel_scope.cancel()


@pytest.fixture
def tools(blocks: BlocksActor) -> StoryTools:
    return StoryTools(blocks, PLACE)


async def call(tools: StoryTools, name: str, **arguments: Any) -> ToolAnswer:
    return await tools.call(name, json.dumps(arguments), [offer.name for offer in ALL])


async def said(tools: StoryTools, name: str, **arguments: Any) -> str:
    answer = await call(tools, name, **arguments)
    assert not answer.is_error, answer.text
    return answer.text


def test_every_tool_that_an_agent_has_can_be_run_and_others_are_left_out() -> None:
    assert StoryTools.that_there_are(ALL) == ALL
    assert StoryTools.that_there_are((ToolOffer("dance", "dances"),)) == ()
    for tool in StoryTools.for_chat(ALL):
        assert tool.parameters["type"] == "object"
        assert tool.parameters["additionalProperties"] is False


async def test_fragments_are_read_listed_and_found_without_those_in_the_archive(tools: StoryTools) -> None:
    assert await said(tools, "readFragments", ids=["ch-mara", "kn-gone", "ch-mara"]) == (
        "#### CH-MARA (ch-mara)\n\nMara keeps the light.\n\nThere is no fragment 'kn-gone'."
    )
    assert tools.read_ids == ("ch-mara",)
    listed = await said(tools, "listFragments")
    assert [line.partition(" ")[0] for line in listed.splitlines()] == ["`ch-mara`", "`kn-light`"]
    assert (await said(tools, "listFragments", type="character")).count("\n") == 0
    assert await said(tools, "listFragments", type="none") == "There are none."
    found = await said(tools, "searchFragments", query="the OIL is")
    assert "`kn-light`" in found
    assert "… The light burns oil. The oil is old. …" in found
    assert await said(tools, "searchFragments", query="whale") == "Nothing has these words."
    assert await said(tools, "listFragmentTypes") == "- character: 1\n- knowledge: 1"


async def test_a_passage_is_replaced_only_where_it_stands_once(tools: StoryTools) -> None:
    none = await call(tools, "editFragment", id="kn-light", oldText="whale", newText="x")
    twice = await call(tools, "editFragment", id="kn-light", oldText="oil", newText="x")
    assert (none.is_error, "stands 0 times" in none.text, "read the fragment" in none.text) == (True, True, True)
    assert (twice.is_error, "stands 2 times" in twice.text, "more of the text" in twice.text) == (True, True, True)
    await said(tools, "editFragment", id="kn-light", oldText="The oil is old.", newText="\\1 $& new")
    assert "The light burns oil. \\1 $& new" in await said(tools, "readFragments", ids=["kn-light"])


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("readFragments", "{nope", "no JSON; it was not run"),
        ("readFragments", "[" * 100_000, "no JSON"),
        ("readFragments", "[]", "must be a JSON object"),
        ("readFragments", "", "ids"),
        ("readFragments", '{"ids": []}', "ids"),
        ("readFragments", json.dumps({"ids": ["x"] * 11}), "ids"),
        ("updateFragment", '{"id": "../../meta", "content": "x"}', "there is no fragment"),
        ("updateFragment", '{"id": "ch-mara", "archived": true}', "archived"),
        ("createFragment", '{"type": "No Type", "name": "x", "content": "x"}', "type"),
        ("createFragment", '{"type": "character", "name": "\\ud800", "content": "x"}', "surrogates"),
        ("deleteFragment", '{"id": "ch-nobody"}', "there is no fragment"),
        ("dance", "{}", "there is no tool 'dance'"),
    ],
)
async def test_what_a_model_asks_for_wrongly_is_an_answer(
    tools: StoryTools, name: str, arguments: str, words: str
) -> None:
    answer = await tools.call(name, arguments, [offer.name for offer in ALL])
    assert answer.is_error
    assert words in answer.text
    assert len(answer.text) < 1000


async def test_a_tool_that_the_run_does_not_offer_is_not_run(tools: StoryTools) -> None:
    answer = await tools.call("deleteFragment", '{"id": "ch-mara"}', ["readFragments"])
    assert answer == ToolAnswer(
        "there is no tool 'deleteFragment' in this run; there are: readFragments", is_error=True
    )
    assert "Mara" in await said(tools, "readFragments", ids=["ch-mara"])


async def test_answers_are_bounded(tools: StoryTools, blocks: BlocksActor) -> None:
    def fill(store: BlockStore) -> None:
        for number in range(MOST_ROWS + 3):
            made = {"type": "image", "name": f"N{number}", "content": "x" * 1000}
            store.fragments.create(
                PLACE, {**made, **({"id": "im-long", "content": "y" * 90_000} if not number else {})}
            )

    await blocks.ask(UseBlocks(fill))
    assert (await said(tools, "listFragments")).endswith("… and 5 more; search for what you need")
    long = await said(tools, "readFragments", ids=["im-long"])
    assert (len(long) < MOST_ANSWER_CHARACTERS + 100, "characters more)" in long) == (True, True)


async def test_what_is_reported_is_collected(tools: StoryTools) -> None:
    await said(tools, "updateSummary", summary="First.")
    await said(tools, "updateSummary", summary="It rains.")
    await said(tools, "suggestDirections", directions=[{"title": "A", "description": "B"}])
    await said(tools, "suggestDirections", directions=[{"title": "C", "description": "D"}])
    assert tools.findings == {
        "summary": "It rains.",
        "directions": [{"title": "A", "description": "B"}, {"title": "C", "description": "D"}],
    }
    assert (await call(tools, "reportMentions", mentions=[{"id": 7}])).is_error
    for _ in range(MOST_FINDINGS):
        await call(tools, "updateSummary", summary="Again.")
    assert "which is the most; come to an end" in (await call(tools, "updateSummary", summary="Again.")).text
