"""The nine story agents and their default blocks."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blocks.agents import AgentBlockDefinition, AgentBlockRegistry, UnknownAgentError, is_agent_name
from blocks.compile import compile_blocks
from blocks.compile_agent_context import default_blocks
from blocks.config import AgentBlockConfig
from blocks.context import AgentBlockContext
from blocks.manipulation import find_block
from blocks.story_agents.roster import STORY_AGENTS, story_agents
from engine.errors import InvalidArgumentError
from tests.blocks.recorded import CASES
from tests.blocks.stories import DICE, EMPTY, FIRST, FULL, READ, SECOND

NAMES = [
    "generation.writer",
    "generation.prewriter",
    "librarian.analyze",
    "librarian.chat",
    "librarian.refine",
    "librarian.optimize-character",
    "librarian.prose-transform",
    "character-chat.chat",
    "directions.suggest",
]


def content(agent_name: str, block_id: str, context: AgentBlockContext = FULL, *config: str) -> str | None:
    disabled = AgentBlockConfig.from_json({"disabledTools": list(config)})
    blocks = default_blocks(story_agents().require(agent_name), context, (READ, DICE), disabled)
    found = find_block(blocks, block_id)
    return found and found.content


def test_the_nine_are_registered_in_their_order():
    assert list(story_agents()) == NAMES
    with pytest.raises(UnknownAgentError, match=r"there is no agent 'nope'; there are: generation\.writer"):
        story_agents().require("nope")


def test_registering_again_replaces_in_place():
    registry = story_agents()
    registry.register(replace(STORY_AGENTS[0], display_name="Other"))
    assert list(registry) == NAMES
    assert registry.list()[0].display_name == "Other"


@pytest.mark.parametrize("name", ["", ".", "a..b", "../x", "A.b", "a/b", "a\n", "-a", "a.b.", "a" * 101])
def test_a_name_that_could_leave_its_folder_or_means_nothing_is_refused(name: str):
    assert not is_agent_name(name)
    with pytest.raises(InvalidArgumentError):
        replace(STORY_AGENTS[0], agent_name=name)


def recorded_previews() -> dict[str, list[list[str]]]:
    cases = json.loads((CASES / "agent_blocks_api.json").read_text())["cases"]
    (case,) = (case for case in cases if case["name"] == "preview of every registered agent answers 200")
    asked = [request["path"].split("/")[-2] for request in case["input"]["requests"]]
    answers = [[message["markers"] for message in one["body"]["messages"]] for one in case["expected"]["responses"]]
    return dict(zip(asked, answers, strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_a_preview_of_a_story_without_anything_has_the_recorded_blocks(name: str):
    definition = story_agents().require(name)
    tools = definition.available_tools
    messages = compile_blocks(default_blocks(definition, definition.stand_ins(EMPTY), tools))
    markers = [re.findall(r"^\[@block=.*\]$", message.content, re.MULTILINE) for message in messages]
    assert markers == recorded_previews()[name]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "generation.writer",
            "s100 instructions, s200 tools, s300 system-fragments, u100 story-info, u200 user-fragments, "
            "u308 fragment-recent, u330 fragment-catalog, u400 summary, u410 chapter-summaries, u500 prose-recent, "
            "u600 author-input",
        ),
        ("generation.prewriter", "s100 instructions, u100 full-context, u200 planning-request"),
        (
            "librarian.analyze",
            "s100 instructions, s200 system-fragments, u100 story-summary, u200 characters, "
            "u300 knowledge, u400 new-prose",
        ),
        (
            "librarian.chat",
            "s100 instructions, s200 system-fragments, u100 story-info, u200 prose-summaries, u300 fragment-pinned, "
            "u400 fragment-catalog",
        ),
        ("librarian.refine", "s100 instructions, u100 story-info, u200 prose, u300 fragment-pinned, u400 target"),
        (
            "librarian.optimize-character",
            "s100 instructions, u100 story-info, u200 prose, u300 fragment-pinned, u350 all-characters, u400 target",
        ),
        (
            "librarian.prose-transform",
            "s100 instructions, u100 operation, u200 story-summary, u300 source, u400 selection",
        ),
        ("character-chat.chat", "s100 character, s200 persona, s300 story-context"),
        (
            "directions.suggest",
            "s100 instructions, s200 system-fragments, u100 story-summary, u200 characters, u300 recent-prose",
        ),
    ],
)
def test_a_full_story_gives_every_block_with_its_role_and_order(name: str, expected: str):
    definition = story_agents().require(name)
    blocks = default_blocks(definition, definition.stand_ins(FULL), (READ,))
    blocks = sorted(blocks, key=lambda one: (one.role, one.order))
    assert ", ".join(f"{one.role[0]}{one.order} {one.id}" for one in blocks) == expected
    assert {one.source for one in blocks} == {"builtin"}
    assert {one.name for one in blocks} == {None}


@pytest.mark.parametrize("name", NAMES)
def test_headings_have_one_blank_line_around_them_and_go_down_a_level_at_a_time(name: str):
    definition = story_agents().require(name)
    for block in default_blocks(definition, definition.stand_ins(FULL), (READ,)):
        lines = block.content.split("\n")
        assert "\n\n\n" not in block.content
        assert block.content == block.content.strip()
        level = 1
        for number, line in enumerate(lines):
            if heading := re.match(r"(#+) ", line):
                assert number == 0 or lines[number - 1] == ""
                assert number + 1 == len(lines) or lines[number + 1] == ""
                assert 2 <= len(heading[1]) <= min(4, level + 1)
                level = len(heading[1])


def test_the_writer_reads_a_manuscript_without_ids():
    assert content("generation.writer", "prose-recent") == (
        "## Recent Prose\n\nThe gulls left first.\n\nThen the tide went out.\n\n## End of Recent Prose"
    )
    assert content("generation.writer", "user-fragments") == (
        "## Story Notes\n\n### Guidelines\n\n#### Tone\n\nAll of Tone.\n\n### Characters\n\n#### Mara\n\nAll of Mara."
    )


def test_who_edits_reads_names_and_ids():
    assert content("librarian.refine", "prose") == (
        "## Recent Prose\n\n### One (pr-aaaa)\n\nThe gulls left first.\n\n### Two (pr-bbbb)\n\nThen the tide went out."
    )
    assert "#### Mara (ch-mara)\n\nabout Mara\n\nAll of Mara." in (content("librarian.analyze", "characters") or "")


def test_what_the_writer_used_last_is_there_in_full_and_the_rest_as_rows():
    assert content("generation.writer", "fragment-recent") == (
        "## Fragments in Recent Use\n\n### Characters\n\n#### Oren\n\nAll of Oren."
    )
    rows = content("generation.writer", "fragment-catalog") or ""
    assert rows.endswith("### Knowledge\n\n`kn-road` | Salt Road | about Salt Road")
    assert "Oren" not in rows


def test_the_tools_text_names_the_tools_that_the_run_offers_and_no_other():
    text = content("generation.writer", "tools") or ""
    assert text.endswith("- `getFragment`: one fragment\n[@plugin=dice]\n- `roll`: a number")
    assert "getFragment" not in (content("generation.writer", "tools", FULL, "getFragment") or "")
    assert content("generation.writer", "tools", FULL, "getFragment", "roll") is None
    assert "`roll`" in (content("librarian.chat", "instructions") or "")
    assert "`roll`" not in (content("librarian.chat", "instructions", FULL, "roll") or "")


def test_the_writer_with_a_brief_has_the_brief_instead_of_the_story():
    briefed = replace(FULL, writing_brief="## Writing Brief\n\nThey talk.\n")
    blocks = default_blocks(story_agents().require("generation.writer"), briefed, (READ,))
    assert [(one.id, one.order) for one in blocks] == [
        ("instructions", 100),
        ("tools", 200),
        ("prose-recent", 100),
        ("writing-brief", 200),
    ]
    assert blocks[-1].content == "## Writing Brief\n\nThey talk."


def test_a_story_with_an_order_of_its_own_has_its_fragments_in_it():
    settings = {"contextOrderMode": "advanced", "fragmentOrder": ["ch-two2", "ch-mara"]}
    two = FULL.sticky_characters[0].model_copy(update={"id": "ch-two2", "name": "Two"})
    context = replace(
        FULL,
        story=FULL.story.model_copy(update={"settings": settings}),
        sticky_characters=(*FULL.sticky_characters, two),
    )
    text = content("generation.writer", "user-fragments", context) or ""
    assert text.index("#### Two") < text.index("#### Mara")


def test_a_long_piece_without_a_summary_is_cut_and_one_with_a_summary_is_not():
    long = FIRST.model_copy(update={"content": "a\n" * 400})
    told = SECOND.model_copy(update={"content": "b" * 900, "meta": {"librarian": {"summary": "In short."}}})
    text = content("librarian.chat", "prose-summaries", replace(FULL, prose_fragments=(long, told))) or ""
    assert "a " * 250 + " … (cut; `pr-aaaa` has the whole text)" in text
    assert text.endswith("### Two (pr-bbbb)\n\nIn short.")


@given(st.text(), st.text(), st.sampled_from(STORY_AGENTS))
def test_any_text_makes_blocks(name: str, text: str, definition: AgentBlockDefinition):
    fragment = FULL.sticky_characters[0].model_copy(update={"name": name, "description": text, "content": text})
    context = replace(
        FULL,
        story=FULL.story.model_copy(update={"name": name, "description": text}),
        all_characters=(fragment,),
        sticky_characters=(fragment,),
        character_catalog=(fragment,),
        prose_fragments=(fragment,),
        author_input=text,
    )
    compile_blocks(default_blocks(definition, definition.stand_ins(context), (READ,)))


def test_an_empty_registry_has_no_agents():
    assert len(AgentBlockRegistry()) == 0
