"""What a tool of a unit returns has a limit, whichever way it is returned."""

from __future__ import annotations

import pytest
from mcp_types import ImageContent, TextContent

from protocol.tool import ToolError, ToolOutcome
from space_unit.outcome_size import MAX_OUTCOME_BYTES, bounded_outcome

HALF = MAX_OUTCOME_BYTES // 2 + 1


def text(characters: str) -> TextContent:
    return TextContent(type="text", text=characters)


def image(length: int) -> ImageContent:
    return ImageContent(type="image", data="A" * length, mime_type="image/png")


@pytest.mark.slow
@pytest.mark.parametrize(
    "outcome",
    [
        ToolOutcome((text("x" * HALF), text("y" * HALF))),
        ToolOutcome((text("é" * HALF),)),
        ToolOutcome((text("x" * HALF), image(HALF))),
        ToolOutcome((text("short"),), {"result": "x" * (MAX_OUTCOME_BYTES + 1)}),
    ],
    ids=["texts", "wide letters", "a picture", "structured"],
)
def test_too_much_is_refused_with_what_to_do(outcome: ToolOutcome) -> None:
    with pytest.raises(ToolError, match=r"tool 'all' returned \d+ bytes; at most 16777216 .* return a part"):
        bounded_outcome("all", outcome)


@pytest.mark.slow
def test_what_fits_is_passed_on_as_it_is() -> None:
    half = "x" * (HALF + 100)
    outcome = ToolOutcome((text(half),), {"result": half})
    assert bounded_outcome("all", outcome) is outcome
