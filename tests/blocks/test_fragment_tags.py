"""Tags that stand for fragments."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blocks.fragment import Fragment, FragmentList
from blocks.fragment_tags import ContentTooLargeError, expand_fragment_tags
from tests.blocks.recorded import DECISIONS, cases


def prose(fragment_id: str, content: str) -> Fragment:
    return Fragment(id=fragment_id, type="prose", name="N", description="D", content=content)


async def expanded(text: str, *fragments: Fragment, depth: int = 0) -> str:
    return await expand_fragment_tags(text, FragmentList(fragments).fragment, depth=depth)


@cases("expand_fragment_tags", {"id with digits is not a tag": DECISIONS[10]})
async def test_recorded(case: dict[str, Any]):
    given = case["input"]
    fragments = [Fragment.from_json(raw) for raw in given["fragments"]]
    assert [one.to_json() for one in fragments] == given["fragments"]
    assert await expanded(given["content"], *fragments, depth=given["maxDepth"]) == case["expected"]["content"]


@pytest.mark.parametrize("fragment_id", ["kn-ab12cd", "kn-abcd", "know-abcdefghijkl", "kn-1234"])
async def test_every_valid_id_can_be_referenced(fragment_id: str):
    assert await expanded(f"<@{fragment_id}>", prose(fragment_id, "found")) == "found"


@pytest.mark.parametrize(
    "text", ["<@k-abcdef>", "<@knows-abcdef>", "<@KN-abcdef>", "<@kn-abc>", "<@kn-abcdef:long>", "<@../x>"]
)
async def test_what_is_no_tag_stays(text: str):
    assert await expanded(text) == text


async def test_patterns_and_tags_in_a_fragment_are_literal():
    one, other = prose("pr-aaaa", "$& \\1 <@pr-bbbb>"), prose("pr-bbbb", "B")
    assert await expanded("<@pr-aaaa> <@pr-bbbb> <@pr-aaaa>", one, other) == "$& \\1 <@pr-bbbb> B $& \\1 <@pr-bbbb>"


async def test_a_fragment_may_be_named_twice_side_by_side_but_not_in_itself():
    one, other = prose("pr-aaaa", "a<@pr-bbbb><@pr-bbbb>"), prose("pr-bbbb", "b<@pr-aaaa:short>")
    assert await expanded("<@pr-aaaa>", one, other, depth=3) == "a" + "b[circular fragment: pr-aaaa]" * 2


@given(st.lists(st.sampled_from(["<@pr-aaaa>", "<@pr-aaaa:short>", "<@pr-zzzz>", "x", "<@", ">", "$&"])), st.text())
async def test_a_text_is_expanded_piece_by_piece(pieces: list[str], content: str):
    stand_ins = {"<@pr-aaaa>": content, "<@pr-aaaa:short>": "N: D", "<@pr-zzzz>": "[unknown fragment: pr-zzzz]"}
    expected = "".join(stand_ins.get(piece, piece) for piece in pieces)
    assert await expanded("".join(pieces), prose("pr-aaaa", content)) == expected


@pytest.mark.parametrize("depth", [-1, 9])
async def test_a_depth_out_of_bounds_is_refused(depth: int):
    with pytest.raises(ValueError, match="depth must be 0 to 8"):
        await expanded("x", depth=depth)


async def test_tags_bring_in_a_bounded_amount_and_what_is_more_is_never_put_together():
    large = prose("pr-large", "x" * 500_000)
    assert len(await expanded("<@pr-large> <@pr-large>", large)) == 1_000_001
    with pytest.raises(ContentTooLargeError, match="bring in more than 1,048,576 characters, at <@pr-large>"):
        await expanded("<@pr-large> " * 1_000_000, large)
    doubling = [prose(f"pr-aaa{one}", f"<@pr-aaa{one + 1}>" * 50) for one in range(8)]
    with pytest.raises(ContentTooLargeError):
        await expanded("<@pr-aaa0>", *doubling, prose("pr-aaa8", "x" * 1000), depth=8)
