"""A fragment of a story: a piece of prose, a character, a guideline, a bit of knowledge. Owns its form.

Also what can look fragments up, so that nothing here has to know where they lie.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from types import MappingProxyType
from typing import Annotated, Literal, Protocol

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from blocks.json_value import FreeObject, JsonValue, Listed, Number, Text

FRAGMENT_ID_PATTERN = r"[a-z]{2,4}-[a-z0-9]{4,12}"
"""Two to four letters for the type, a dash, and 4 to 12 letters or digits: `ch-marazi`, `kn-ab12`."""

_FRAGMENT_ID = re.compile(FRAGMENT_ID_PATTERN)

Placement = Literal["system", "user"]
"""In which message a sticky fragment stands."""


def is_fragment_id(text: str) -> bool:
    """Whether a fragment can have that id."""
    return _FRAGMENT_ID.fullmatch(text) is not None


def _fragment_id(value: str) -> str:
    if not is_fragment_id(value):
        raise PydanticCustomError(
            "id_format", "must be 2 to 4 of a-z, a dash, and 4 to 12 of a-z and 0-9, such as 'ch-marazi'"
        )
    return value


def _nothing() -> FreeObject:
    return MappingProxyType({})


class Fragment(JsonValue):
    """A fragment as it is stored. `type` is prose, character, guideline, knowledge, image, icon, marker, summary, or a
    plugin's; `tags` and `refs` (ids) are free; `meta` and the entries of `versions` may hold anything.
    """

    id: Annotated[Text, AfterValidator(_fragment_id)]
    type: Text
    name: Text
    description: Text = ""
    content: Text = ""
    tags: Listed[Text] = ()
    refs: Listed[Text] = ()
    sticky: bool = False
    placement: Placement = "user"
    created_at: Text = ""
    updated_at: Text = ""
    order: Number = 0
    meta: FreeObject = Field(default_factory=_nothing)
    archived: bool = False
    version: int = 1
    versions: Listed[FreeObject] = ()


FragmentById = Callable[[str], Awaitable[Fragment | None]]
"""Gives the fragment of that id, archived ones too, or None."""


class FragmentLookup(Protocol):
    """The fragments of one story, as far as scripts and tags may look."""

    async def fragment(self, fragment_id: str) -> Fragment | None:
        """The fragment of that id, archived ones too, or None."""
        ...

    async def fragments(self) -> Sequence[Fragment]:
        """All that are not archived, sorted by id."""
        ...


class FragmentList:
    """The look-up over fragments that are at hand."""

    def __init__(self, fragments: Sequence[Fragment] = ()) -> None:
        self._by_id = {one.id: one for one in sorted(fragments, key=lambda one: one.id)}

    async def fragment(self, fragment_id: str) -> Fragment | None:
        """The fragment of that id, archived ones too, or None."""
        return self._by_id.get(fragment_id)

    async def fragments(self) -> Sequence[Fragment]:
        """All that are not archived, sorted by id."""
        return tuple(one for one in self._by_id.values() if not one.archived)
