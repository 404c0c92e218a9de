"""How much one tool of a unit may return. Owns that limit and its words; it is that of an MCP server behind a proxy."""

from __future__ import annotations

from collections.abc import Iterable

from mcp_types import (
    AudioContent,
    BlobResourceContents,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    TextContent,
    TextResourceContents,
)

from protocol.jsonrpc import encode
from protocol.tool import ToolError, ToolOutcome

MAX_OUTCOME_BYTES = 16 * 1024 * 1024
"""Of one result, its pictures as base64. It is copied several times on its way, and no model reads that much."""


def bounded_outcome(tool: str, outcome: ToolOutcome) -> ToolOutcome:
    """The outcome as it is. Raises `ToolError` for one that is too large, with what the author can do."""
    size = sum(_sizes(outcome.content))
    if outcome.structured is not None and size <= MAX_OUTCOME_BYTES:
        size = max(size, len(encode(outcome.structured)))
    if size > MAX_OUTCOME_BYTES:
        raise ToolError(
            f"tool {tool!r} returned {size} bytes; at most {MAX_OUTCOME_BYTES} are passed on. What it does is "
            "done. Let it return a part, with an argument that says which, or write all to a file and return its path."
        )
    return outcome


def _sizes(content: Iterable[ContentBlock]) -> Iterable[int]:
    for block in content:
        match block:
            case TextContent():
                yield len(block.text.encode("utf-8", "surrogatepass"))
            case ImageContent() | AudioContent():
                yield len(block.data)
            case EmbeddedResource(resource=BlobResourceContents(blob=blob)):
                yield len(blob)
            case EmbeddedResource(resource=TextResourceContents(text=text)):
                yield len(text.encode("utf-8", "surrogatepass"))
            case _:
                yield 0
