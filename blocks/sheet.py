"""How lists of fragments read in a prompt: as full sheets, or as rows of a catalogue. Owns the hierarchy of headings.

`##` is the block, `###` the type, `####` one fragment in full; one blank line stands around every heading. Rows of a
catalogue are no headings. Where the model is to write, ids stay off the page; where it edits, each sheet has its id.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from blocks.fragment import Fragment

_TYPE_TITLES: Mapping[str, str] = {
    "guideline": "Guidelines",
    "knowledge": "Knowledge",
    "character": "Characters",
    "prose": "Prose",
    "summary": "Summaries",
    "marker": "Chapters",
    "image": "Images",
    "icon": "Icons",
}
"""The types in the order in which their groups come; those of plugins follow."""

_DESCRIBED = frozenset({"image", "icon"})
"""Types without a text of their own: their description is the substance."""


def one_line(text: str) -> str:
    """The text with every run of blanks and line breaks as one space."""
    return " ".join(text.split())


def paragraphs(*parts: str | None) -> str:
    """The parts that say something, with one blank line between them."""
    return "\n\n".join(part for part in parts if part)


def type_title(fragment_type: str) -> str:
    """The heading of a group of fragments of that type."""
    return _TYPE_TITLES.get(fragment_type, one_line(fragment_type).capitalize())


def full_sheet(fragment: Fragment, *, editing: bool = False) -> str:
    """One fragment in full: name and content, and for an image its description.

    `editing` is for agents that change fragments: then the heading has the id, and the description is there as well.
    """
    name = one_line(fragment.name)
    described = editing or fragment.type in _DESCRIBED
    return paragraphs(
        f"#### {name} ({fragment.id})" if editing else f"#### {name}",
        fragment.description if described else None,
        fragment.content,
    )


def catalog_row(fragment: Fragment) -> str:
    """One fragment in a line: ``` `id` | name | description ```."""
    return f"`{fragment.id}` | {one_line(fragment.name)} | {one_line(fragment.description)}"


def full_sheets(title: str, fragments: Iterable[Fragment], *, editing: bool = False) -> str:
    """A block of fragments in full, grouped by type; empty where there are none."""
    groups = [
        paragraphs(f"### {type_title(kind)}", *(full_sheet(one, editing=editing) for one in group))
        for kind, group in by_type(fragments).items()
    ]
    return paragraphs(f"## {title}", *groups) if groups else ""


def catalog(title: str, fragments: Iterable[Fragment], *, hint: str = "") -> str:
    """A block with a row for each fragment, grouped by type; empty where there are none. `hint` stands above them."""
    groups = [
        paragraphs(f"### {type_title(kind)}", "\n".join(map(catalog_row, group)))
        for kind, group in by_type(fragments).items()
    ]
    return paragraphs(f"## {title}", hint, *groups) if groups else ""


def by_type(fragments: Iterable[Fragment]) -> Mapping[str, Sequence[Fragment]]:
    """The fragments by type, the types in their usual order, each fragment once."""
    groups: dict[str, dict[str, Fragment]] = {}
    for one in fragments:
        groups.setdefault(one.type, {}).setdefault(one.id, one)
    order = list(_TYPE_TITLES)
    kinds = sorted(groups, key=lambda kind: order.index(kind) if kind in order else len(order))
    return {kind: tuple(groups[kind].values()) for kind in kinds}


def in_story_order(fragments: Iterable[Fragment], settings: Mapping[str, Any]) -> Sequence[Fragment]:
    """The fragments as the story's settings order them: as they come, unless the user has set an order of his own."""
    given = tuple(fragments)
    order: object = settings.get("fragmentOrder")
    if settings.get("contextOrderMode") != "advanced" or not isinstance(order, list | tuple):
        return given
    wanted = cast("Sequence[object]", order)
    positions = {fragment_id: index for index, fragment_id in reversed(tuple(enumerate(wanted)))}
    return sorted(given, key=lambda one: positions.get(one.id, len(wanted)))
