"""Capabilities for the tests of the transport: tools with hooks, and presets that show and hide them.

Owns the hooks. The tools are ordinary adapters, injected as any app would inject its own.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import trio
from mcp_types import ImageContent

from actors.resolution import CapabilityEdit
from presets.adapters import ToolAdapter
from presets.app import App
from presets.context import FactValue
from presets.definition import DefaultState, PresetDefinition, Risk
from protocol.tool import JsonObject, ToolCall, ToolError, ToolOutcome, ToolRun

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
"""A PNG of one pixel, as base64."""

ECHO, SLOW, PROGRESS, IMAGE, CRASH, FAIL, BIG = (
    "space_trial_echo",
    "space_trial_slow",
    "space_trial_progress",
    "space_trial_image",
    "space_trial_crash",
    "space_trial_fail",
    "space_trial_big",
)
MOVE, CANVAS_ONLY, SCENE_ONLY, RISKY = (
    "space_trial_move",
    "space_trial_canvas_only",
    "space_trial_scene_only",
    "space_trial_risky",
)

_Body = Callable[[App, JsonObject, ToolCall], Awaitable[ToolOutcome]]


class Hooks:
    """What a test sees of the tools, and how it lets them go on."""

    def __init__(self) -> None:
        self.started = trio.Semaphore(0)
        """Counts up with each start of the slow tool."""
        self.cancelled = trio.Semaphore(0)
        """Counts up with each slow call that was cancelled."""
        self.go = trio.Event()
        """Lets every slow call, and the end of the progress tool, go on."""
        self.fed: trio.MemorySendChannel[None]
        self.fed, self._feed = trio.open_memory_channel[None](100)
        """Each item lets the progress tool report once."""

    async def slow(self, app: App, arguments: JsonObject, call: ToolCall) -> ToolOutcome:
        self.started.release()
        try:
            await self.go.wait()
        except trio.Cancelled:
            self.cancelled.release()
            raise
        return ToolOutcome.text("slow and steady")

    async def progress(self, app: App, arguments: JsonObject, call: ToolCall) -> ToolOutcome:
        self.started.release()
        for step in range(1, arguments["steps"] + 1):
            await self._feed.receive()
            await call.progress(step, arguments["steps"], f"step {step}")
        await self.go.wait()
        return ToolOutcome.text("all steps done")

    def capabilities(self) -> CapabilityEdit:
        """Adapters and presets. One more preset is off by default, one is for the scene alone."""
        return CapabilityEdit(
            add_adapters=(
                _adapter(ECHO, _echo, {"text": {"type": "string"}}, output={"text": {"type": "string"}}),
                _adapter(SLOW, self.slow),
                _adapter(PROGRESS, self.progress, {"steps": {"type": "integer"}}),
                _adapter(IMAGE, _image),
                _adapter(CRASH, _crash),
                _adapter(FAIL, _fail),
                _adapter(BIG, _big, {"bytes": {"type": "integer"}}),
                _adapter(MOVE, _move, {"surface": {"type": "string"}}),
                _adapter(CANVAS_ONLY, _nothing),
                _adapter(SCENE_ONLY, _nothing),
                _adapter(RISKY, _nothing),
            ),
            add_presets=(
                _preset("trial-tools", {"surface": "any"}, ECHO, SLOW, PROGRESS, IMAGE, CRASH, FAIL, BIG, MOVE),
                _preset("trial-canvas-tools", {"surface": "canvas"}, CANVAS_ONLY),
                _preset("trial-scene-tools", {"surface": "scene"}, SCENE_ONLY),
                _preset("trial-risky-tools", {"surface": "any"}, RISKY, default=DefaultState.OFF),
            ),
        )


async def _echo(app: App, arguments: JsonObject, call: ToolCall) -> ToolOutcome:
    return ToolOutcome.text(arguments["text"], {"text": arguments["text"]})


async def _image(app: App, arguments: JsonObject, call: ToolCall) -> ToolOutcome:
    return ToolOutcome((ImageContent(type="image", data=PIXEL, mime_type="image/png"),))


async def _crash(app: App, arguments: JsonObject, call: ToolCall) -> ToolOutcome:
    raise RuntimeError("a bug of the tool")


async def _fail(app: App, arguments: JsonObject, call: ToolCall) -> ToolOutcome:
    raise ToolError("there is no such thing; try another")


async def _big(app: App, arguments: JsonObject, call: ToolCall) -> ToolOutcome:
    return ToolOutcome.text("x" * arguments["bytes"])


async def _move(app: App, arguments: JsonObject, call: ToolCall) -> ToolOutcome:
    context = await app.patch_context({"surface": arguments["surface"]})
    return ToolOutcome.text(f"moved to {context.surface}")


async def _nothing(app: App, arguments: JsonObject, call: ToolCall) -> ToolOutcome:
    return ToolOutcome.text("done")


def _adapter(
    name: str, body: _Body, properties: dict[str, Any] | None = None, output: dict[str, Any] | None = None
) -> ToolAdapter:
    def make_run(app: App) -> ToolRun:
        async def run(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
            return await body(app, arguments, call)

        return run

    return ToolAdapter(
        id=_id(name),
        mcp_name=name,
        description=f"The tool {name} of the tests.",
        input_schema=_schema(properties or {}),
        output_schema=None if output is None else _schema(output),
        make_run=make_run,
    )


def _preset(
    name: str, context: dict[str, FactValue], *tools: str, default: DefaultState = DefaultState.AUTO
) -> PresetDefinition:
    return PresetDefinition(
        name=name,
        default_state=default,
        risk=Risk.NORMAL if default is DefaultState.AUTO else Risk.DESTRUCTIVE,
        contexts=(context,),
        tool_ids=tuple(map(_id, tools)),
    )


def _schema(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _id(name: str) -> str:
    return name.removeprefix("space_").replace("_", ".", 1)
