"""Small presets, contexts and adapters for the tests of this folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from hypothesis import settings

from presets.adapters import ToolAdapter, ToolAdapterRegistry
from presets.app import App
from presets.context import ContextSnapshot, FactValue
from presets.definition import DefaultState, PresetDefinition, Risk
from protocol.tool import JsonObject, ToolCall, ToolDefinition, ToolOutcome

EXAMPLES = settings(max_examples=50, deadline=None)
"""For properties: enough examples to meet every rule, few enough for a fast test; a loaded machine fails none."""

DRAWING = ContextSnapshot(surface="canvas", activity="drawing", canvas_visible=True)
GRAPH = ContextSnapshot(surface="canvas", activity="graph", canvas_visible=True)
SCENE = ContextSnapshot(surface="scene", canvas_visible=False)

IN_DRAWING: Mapping[str, FactValue] = {"surface": "canvas", "activity": "drawing"}
ANYWHERE: Mapping[str, FactValue] = {"surface": "any"}


def preset(
    name: str,
    *tool_ids: str,
    contexts: Sequence[Mapping[str, FactValue]] = (ANYWHERE,),
    default_state: DefaultState = DefaultState.AUTO,
    risk: Risk = Risk.NORMAL,
    group: str | None = None,
    system_prompt: str | None = None,
) -> PresetDefinition:
    """A preset that is active everywhere and offers one tool of its own name, where nothing else is said."""
    return PresetDefinition(
        name=name,
        group=group,
        default_state=default_state,
        risk=risk,
        contexts=tuple(contexts),
        tool_ids=tool_ids or (f"{name}.tool",),
        system_prompt=system_prompt,
    )


def adapter(tool_id: str, mcp_name: str | None = None, *, description: str = "Does it.", **more: bool) -> ToolAdapter:
    """An adapter whose MCP name follows from its id, and whose body answers with that id."""

    def make_run(app: App):
        async def run(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
            return ToolOutcome.text(tool_id)

        return run

    return ToolAdapter(
        id=tool_id,
        mcp_name=mcp_name or "space_" + tool_id.replace(".", "_").replace("-", "_"),
        description=description,
        input_schema={"type": "object", "properties": {}},
        make_run=make_run,
        read_only=more.get("read_only", False),
        idempotent=more.get("idempotent", False),
        destroys=more.get("destroys"),
    )


def adapters(*made: ToolAdapter) -> ToolAdapterRegistry:
    """A registry of these adapters."""
    registry = ToolAdapterRegistry()
    for one in made:
        registry.register(one)
    return registry


def app() -> App:
    """An engine that nothing may be asked of: definitions are made here, never called."""
    return cast("App", object())


def tool(name: str, source: str = "a.tool", *, description: str = "Does it.", owner: str = "agent-presets"):
    """A tool definition with a body of its own."""

    async def run(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
        return ToolOutcome.text(source)

    return ToolDefinition(
        name=name, description=description, input_schema={"type": "object"}, run=run, owner=owner, source=source
    )
