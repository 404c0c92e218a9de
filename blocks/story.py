"""What is known of a story as a whole. Owns the form of it; its fragments are values of their own."""

from __future__ import annotations

from types import MappingProxyType

from pydantic import Field

from blocks.json_value import FreeObject, JsonValue, Text


def _nothing() -> FreeObject:
    return MappingProxyType({})


class StoryMeta(JsonValue):
    """Name, description, summary and settings. The settings are kept as they are: whoever uses one checks it."""

    id: Text = ""
    name: Text
    description: Text = ""
    cover_image: Text | None = None
    summary: Text = ""
    created_at: Text = ""
    updated_at: Text = ""
    settings: FreeObject = Field(default_factory=_nothing)
