"""What is kept of arguments and result of a call, for people to look at: whole where it is small, else shortened.

Owns the limits and the shortening. The time it takes is bounded whatever it is given, since it happens on the event
loop: no value is walked, and no text made, further than what may be kept of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from mcp_types import (
    AudioContent,
    BlobResourceContents,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)
from pydantic_core import to_json

from presets.json_preview import json_preview

WHOLE_CHARACTERS = 64 * 1024
"""Of arguments, and of all the texts of a result, that are kept whole, about."""

CUT_CHARACTERS = 4_000
"""What is kept of arguments that are longer: what fits a screen."""

PICTURE_CHARACTERS = 512 * 1024
"""Of all the pictures and sounds of a result that are kept, as base64: a picture of usual size."""

_DEEPEST = 100
"""Levels of arrays and objects that are kept whole. Bodies have 64 at most, and recursion stays far from its limit."""

_OVERHEAD = 4
"""Characters that a value has beside its text, about."""

_NUMBER = 8
"""Characters of what is no text, about."""


class KeptJson(NamedTuple):
    """A value as JSON in UTF-8, or, where `is_cut`, a look at it that is JSON as well."""

    text: bytes
    is_cut: bool


class KeptContent(NamedTuple):
    """The content of a result, shortened where `is_cut`, and how many characters it has."""

    blocks: tuple[ContentBlock, ...]
    characters: int
    is_cut: bool


NOTHING = KeptContent((), 0, is_cut=False)
"""The content of a call that has none."""


def keep_json(value: object) -> KeptJson:
    """What is kept of a JSON value. What turns out to be none is written as text."""
    if _left(value, WHOLE_CHARACTERS, _DEEPEST) < 0:
        return KeptJson(json_preview(value, CUT_CHARACTERS).encode("utf-8", "replace"), is_cut=True)
    try:
        return KeptJson(to_json(value, inf_nan_mode="null"), is_cut=False)
    except ValueError:
        # A half character, which programs can send, or a mapping that is no dictionary.
        return KeptJson(json.dumps(value, default=_plain).encode(), is_cut=False)


def keep_content(blocks: tuple[ContentBlock, ...], structured: object = None) -> KeptContent:
    """What is kept of the content of a result. Without any it is `structured`, as text."""
    if len(blocks) == 1:
        # Nearly every result.
        (only,) = blocks
        if isinstance(only, TextContent) and len(only.text) <= WHOLE_CHARACTERS:
            return KeptContent(blocks, len(only.text), is_cut=False)
    if not blocks:
        if structured is None:
            return NOTHING
        kept = keep_json(structured)
        text = kept.text.decode()
        return KeptContent((_text(text),), len(text), kept.is_cut)
    return _shortened(blocks, WHOLE_CHARACTERS, PICTURE_CHARACTERS)


def shorten_content(kept: KeptContent, characters: int) -> KeptContent:
    """The same with at most so many characters of text, and without pictures."""
    return _shortened(kept.blocks, characters, 0, was_cut=kept.is_cut)


def _left(value: object, left: int, levels: int) -> int:
    """How many of `left` characters are left after the value, about; negative, at once, where they are too few."""
    kind = type(value)
    if kind is str:
        return left - len(cast("str", value)) - _OVERHEAD
    # Asked this way round, since an abstract class takes ten times as long to say no.
    if kind is int or kind is float or kind is bool or value is None:
        return left - _NUMBER
    if kind is dict or isinstance(value, Mapping):
        members = cast("Mapping[str, object]", value)
        left = left - _OVERHEAD if levels else -1
        for key, member in members.items():
            if left < 0:
                return left
            left = _left(member, left - len(key) - _OVERHEAD, levels - 1)
        return left
    if isinstance(value, list | tuple):
        left = left - _OVERHEAD if levels else -1
        for entry in cast("Sequence[object]", value):
            if left < 0:
                return left
            left = _left(entry, left, levels - 1)
        return left
    return left - _NUMBER


def _shortened(blocks: tuple[ContentBlock, ...], texts: int, pictures: int, *, was_cut: bool = False) -> KeptContent:
    kept: list[ContentBlock] = []
    characters, is_cut = 0, was_cut
    for block in blocks:
        length, is_text = _size(block)
        room = texts if is_text else pictures
        if length > room:
            block, is_cut = _cut(block, room), True
            length, is_text = _size(block)
        if is_text:
            texts = max(0, texts - length)
        else:
            pictures -= length
        characters += length
        kept.append(block)
        if texts == 0 and len(kept) < len(blocks):
            kept.append(_text(f"[{len(blocks) - len(kept)} more items]"))
            return KeptContent(tuple(kept), characters, is_cut=True)
    return KeptContent(tuple(kept), characters, is_cut)


def _size(block: ContentBlock) -> tuple[int, bool]:
    """Characters of a block, about, and whether they are text."""
    match block:
        case TextContent():
            return len(block.text) + _OVERHEAD, True
        case ImageContent() | AudioContent():
            return len(block.data), False
        case EmbeddedResource(resource=TextResourceContents() as resource):
            return len(resource.text) + len(str(resource.uri)), True
        case EmbeddedResource(resource=resource):
            return len(resource.blob) if isinstance(resource, BlobResourceContents) else 0, False
        case ResourceLink():
            return len(str(block.uri)) + len(block.description or ""), True


def _cut(block: ContentBlock, room: int) -> TextContent:
    match block:
        case TextContent():
            return _text(f"{block.text[:room]}… ({len(block.text) - room} more characters)")
        case ImageContent() | AudioContent():
            return _text(f"[{block.type}, {block.mime_type}, {len(block.data)} characters as base64: not kept]")
        case _:
            return _text(f"[{block.type}: not kept]")


def _text(text: str) -> TextContent:
    return TextContent(type="text", text=text)


def _plain(value: object) -> object:
    return dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else str(value)
