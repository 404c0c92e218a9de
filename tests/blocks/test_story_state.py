"""A story's fragments become a context: which count, in which order, and how much prose there is."""

from __future__ import annotations

from typing import Any

import pytest

from blocks.fragment import Fragment
from blocks.story import StoryMeta
from blocks.story_state import SYSTEM_PROMPT_TAG, recent_prose, story_context

STORY = StoryMeta(id="tale", name="A Tale", summary="Old summary.")


def fragment(fragment_id: str, kind: str = "prose", **members: Any) -> Fragment:
    return Fragment.from_json({"id": fragment_id, "type": kind, "name": fragment_id, **members})


def ids(fragments: tuple[Fragment, ...]) -> list[str]:
    return [one.id for one in fragments]


def prose(*texts: str) -> list[Fragment]:
    return [fragment(f"pr-{index:04}", content=text, order=index) for index, text in enumerate(texts)]


def test_fragments_come_by_type_sticky_ones_by_order_and_none_that_is_archived() -> None:
    context = story_context(
        STORY,
        [
            fragment("gl-bbbb", "guideline", sticky=True, order=1),
            fragment("gl-aaaa", "guideline", sticky=True, order=2),
            fragment("gl-gone", "guideline", sticky=True, archived=True),
            fragment("kn-bbbb", "knowledge", order=1),
            fragment("kn-aaaa", "knowledge", order=2),
            fragment("ch-mara", "character", tags=[SYSTEM_PROMPT_TAG]),
            fragment("ch-left", "character"),
        ],
        without={"ch-left"},
        author_input="Go on.",
    )
    assert ids(context.sticky_guidelines) == ["gl-bbbb", "gl-aaaa"]
    assert ids(context.knowledge_catalog) == ["kn-aaaa", "kn-bbbb"]
    assert ids(context.all_knowledge) == ["kn-bbbb", "kn-aaaa"]
    assert ids(context.system_prompt_fragments) == ids(context.all_characters) == ["ch-mara"]
    assert (context.author_input, context.story.summary) == ("Go on.", "Old summary.")


def test_summaries_that_are_fragments_take_the_place_of_the_storys_own() -> None:
    texts = [fragment("sm-bbbb", "summary", content=" two ", order=2), fragment("sm-aaaa", "summary", content="one\n")]
    assert story_context(STORY, [*texts, fragment("sm-cccc", "summary", content=" ")]).story.summary == "one\n\ntwo"


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        (None, [str(number) for number in range(2, 12)]),
        ({"type": "proseLimit", "value": 2}, ["10", "11"]),
        ({"type": "proseLimit", "value": 0}, [str(number) for number in range(12)]),
        ({"type": "maxCharacters", "value": 4}, ["10", "11"]),
        ({"type": "maxCharacters", "value": 0}, ["11"]),
        ({"type": "maxTokens", "value": 3}, ["9", "10", "11"]),
        ({"type": "maxTokens", "value": True}, [str(number) for number in range(2, 12)]),
        ({"type": "other", "value": 1}, [str(number) for number in range(2, 12)]),
        ("nonsense", [str(number) for number in range(2, 12)]),
    ],
)
def test_there_is_as_much_prose_as_the_settings_say(setting: Any, expected: list[str]) -> None:
    pieces = prose(*(str(number) for number in range(12)))
    assert [one.content for one in recent_prose(pieces, {"contextCompact": setting})] == expected


def test_only_prose_before_a_piece_is_taken_where_that_is_asked() -> None:
    assert ids(story_context(STORY, prose("a", "b", "c"), before="pr-0002").prose_fragments) == ["pr-0000", "pr-0001"]


def test_chapters_are_those_in_which_recent_prose_stands() -> None:
    settings = {"contextCompact": {"type": "proseLimit", "value": 1}}
    pieces = [
        fragment("mk-aaaa", "marker", content="First.", order=-1),
        *prose("a", "b"),
        fragment("mk-bbbb", "marker", content="Second. ", order=0.5),
    ]
    assert story_context(StoryMeta(name="x", settings=settings), pieces).chapter_summaries == ()
    with_chapters = StoryMeta(name="x", settings={**settings, "enableHierarchicalSummary": True})
    assert [one.summary for one in story_context(with_chapters, pieces).chapter_summaries] == ["Second."]
