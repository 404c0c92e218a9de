"""Tools for the tests of the SDK."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from presets.builtins import drawing, general, graph, scene
from presets.sdk.tool import SdkTool


def tool(
    name: str = "space_find",
    properties: Mapping[str, Any] | None = None,
    *,
    description: str = "Find things.",
    required: tuple[str, ...] = (),
    output: Mapping[str, Any] | None = None,
    read_only: bool = False,
    destructive: bool = False,
) -> SdkTool:
    """A tool with these arguments."""
    return SdkTool(
        name=name,
        description=description,
        input_schema={"type": "object", "properties": dict(properties or {}), "required": list(required)},
        output_schema=output,
        read_only=read_only,
        destructive=destructive,
    )


def built_in_tools() -> list[SdkTool]:
    """All tools that Space brings along."""
    return [
        SdkTool(
            name=adapter.mcp_name,
            title=adapter.title,
            description=adapter.description,
            input_schema=adapter.input_schema,
            output_schema=adapter.output_schema,
            read_only=adapter.read_only,
        )
        for group in (drawing, graph, scene, general)
        for adapter in group.adapters()
    ]
