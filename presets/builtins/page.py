"""A page of a long list, as tools give it: how one is asked for, and how much of it fits into an answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, TypeVar

from pydantic import Field

from presets.schema import ToolArguments, ToolResult

MAX_PAGE_ENTRIES = 200
"""Most entries of one page; their bytes usually end it earlier."""
MAX_OFFSET = 10_000_000
"""Beyond what any world holds; a larger number is a mistake."""

Offset = Annotated[int, Field(ge=0, le=MAX_OFFSET)]


class PageArguments(ToolArguments):
    """Base of the arguments of a tool that shows a list page by page, and says by `next` where the one after begins."""

    limit: Annotated[int, Field(ge=1, le=MAX_PAGE_ENTRIES)] = Field(50, description="Entries per page.")
    offset: Offset = Field(0, description="Entries to skip: the `next` of the page before.")


WrittenT = TypeVar("WrittenT", bound=ToolResult)


def within_budget(items: Iterable[WrittenT], budget: int) -> Iterator[WrittenT]:
    """The items until their JSON would be longer than so many bytes; always the first."""
    left = budget
    for number, item in enumerate(items):
        left -= len(item.model_dump_json(exclude_none=True).encode()) + 1
        if left < 0 and number:
            return
        yield item
