"""How prose reads in a prompt: as one manuscript, piece by piece with ids, or in short. Owns these modes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from blocks.fragment import Fragment
from blocks.sheet import one_line, paragraphs

PROSE_TITLE = "## Recent Prose"
PROSE_END = "## End of Recent Prose"

WHOLE_TEXT_UNITS = 600
"""UTF-16 units below which a piece without a summary stands in a list as it is."""

CUT_TEXT_UNITS = 500
"""UTF-16 units that are left of a longer one."""

SUMMARY_KEY = "summary"
"""Where in a fragment's `meta.librarian`, or in its `meta`, an analysis may have left a summary."""


def manuscript(prose: Sequence[Fragment]) -> str:
    """The pieces one after the other as a reader would see them; for who writes on. Empty without prose."""
    return paragraphs(PROSE_TITLE, *(one.content for one in prose), PROSE_END) if prose else ""


def identified_prose(prose: Sequence[Fragment]) -> str:
    """Each piece under its name and id; for who edits or analyses. Empty without prose."""
    return paragraphs(PROSE_TITLE, *(paragraphs(_heading(one), one.content) for one in prose)) if prose else ""


def prose_summaries(prose: Sequence[Fragment]) -> str:
    """Each piece under its name and id with its summary, or with its begin where there is none. Empty without prose."""
    return (
        paragraphs("## Prose Summaries", *(paragraphs(_heading(one), in_short(one)) for one in prose)) if prose else ""
    )


def utf16_units(text: str) -> int:
    """The length of a text as JavaScript counts it."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _heading(fragment: Fragment) -> str:
    return f"### {one_line(fragment.name)} ({fragment.id})"


def in_short(fragment: Fragment) -> str:
    """The piece's summary where an analysis has left one, else its text, cut where it is long."""
    for place in (fragment.meta.get("librarian"), fragment.meta):
        summary = cast("Mapping[str, object]", place).get(SUMMARY_KEY) if isinstance(place, Mapping) else None
        if isinstance(summary, str) and summary.strip():
            return summary
    text = fragment.content
    if utf16_units(text) < WHOLE_TEXT_UNITS:
        return text
    begin = text.encode("utf-16-le", "surrogatepass")[: CUT_TEXT_UNITS * 2].decode("utf-16-le", "ignore")
    return f"{begin.replace(chr(10), ' ')} … (cut; `{fragment.id}` has the whole text)"
