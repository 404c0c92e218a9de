"""How the fixture makes adapters out of bodies. Owns the form that they share; what they do is in their own modules."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from presets.adapters import ToolAdapter
from presets.app import App
from presets.interactions import InteractiveRun
from protocol.interaction import Interaction
from protocol.tool import JsonObject, TaskSupport, ToolOutcome

ToolBody = Callable[[App, JsonObject, Interaction], Awaitable[ToolOutcome]]
"""What a tool of the fixture does."""

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
"""A PNG of one pixel, as base64."""


def tool(
    name: str,
    body: ToolBody,
    description: str,
    *,
    properties: Mapping[str, Any] | None = None,
    required: tuple[str, ...] = (),
    schema: JsonObject | None = None,
    task_support: TaskSupport = TaskSupport.FORBIDDEN,
) -> ToolAdapter:
    """An adapter for a tool whose arguments are described by `properties`, or by a whole `schema`."""
    described: dict[str, Any] = {"type": "object", "properties": dict(properties or {})}
    if required:
        described["required"] = list(required)

    def make_run(app: App) -> InteractiveRun:
        async def run(arguments: JsonObject, call: Interaction) -> ToolOutcome:
            return await body(app, arguments, call)

        return run

    return ToolAdapter(
        id=f"conformance.{name}",
        mcp_name=name,
        description=description,
        input_schema=described if schema is None else schema,
        make_run=make_run,
        task_support=task_support,
    )
