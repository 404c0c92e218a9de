"""Programs on trial: a client that sends them, tools that show in which order and at once they ran, and what is left.

Owns the tools and the sending. What a program should be told is for the tests to say.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import trio
from mcp_types import ImageContent, TextContent

from actors.context import EditCapabilities
from actors.resolution import CapabilityEdit
from presets.adapters import ToolAdapter
from presets.app import App
from presets.definition import DefaultState, PresetDefinition, Risk
from protocol.tool import JsonObject, ToolCall, ToolOutcome, ToolRun
from tests.transport.mcp_client import McpClient, call
from tests.transport.raw_http import RawConnection
from tests.transport.running_engine import RunningEngine, running_engine
from tests.transport.tools_on_trial import PIXEL

RUN_CODE = "space_run_code"
READ, WRITE, WAIT, PICTURE, WRONG, NOT_A_NUMBER = (
    "space_try_read",
    "space_try_write",
    "space_try_wait",
    "space_try_picture",
    "space_try_wrong",
    "space_try_not_a_number",
)
RECTANGLE = "tools.space_drawing_insert_shape({shape: 'rectangle', x: 0, y: 0, width: 10, height: 10})"
PATIENCE_SECONDS = 20.0
"""After which a test gives up waiting."""


@dataclass
class Trial:
    """What the tools of these tests did: begin and end of each call, and how many ran at once."""

    moments: list[str] = field(default_factory=list[str])
    running: int = 0
    peak: int = 0
    waiting: trio.Semaphore = field(default_factory=lambda: trio.Semaphore(0))
    """Counts up with each call that waits."""
    cancelled: trio.Semaphore = field(default_factory=lambda: trio.Semaphore(0))
    go: trio.Event = field(default_factory=trio.Event)

    async def pass_by(self, app: App, arguments: JsonObject, call: ToolCall) -> ToolOutcome:
        name = str(arguments["name"])
        self.moments.append(f"+{name}")
        self.running += 1
        self.peak = max(self.peak, self.running)
        await trio.sleep(float(arguments.get("seconds", 0.03)))
        self.running -= 1
        self.moments.append(f"-{name}")
        return ToolOutcome.text(name)

    async def wait(self, app: App, arguments: JsonObject, call: ToolCall) -> ToolOutcome:
        self.waiting.release()
        try:
            await self.go.wait()
        except trio.Cancelled:
            self.cancelled.release()
            raise
        return ToolOutcome.text("went on")

    def edit(self) -> CapabilityEdit:
        named = {"name": {"type": "string"}, "seconds": {"type": "number"}}
        number = {"n": {"type": "integer"}}
        adapters = (
            adapter(READ, self.pass_by, named, read_only=True),
            adapter(WRITE, self.pass_by, named),
            adapter(WAIT, self.wait, {}),
            adapter(PICTURE, picture, number),
            adapter(WRONG, wrong, {}, output=number),
            adapter(NOT_A_NUMBER, not_a_number, {}),
        )
        preset = PresetDefinition(
            name="try",
            default_state=DefaultState.AUTO,
            risk=Risk.NORMAL,
            contexts=({"surface": "any"},),
            tool_ids=tuple(each.id for each in adapters),
        )
        return CapabilityEdit(add_adapters=adapters, add_presets=(preset,))


async def picture(app: App, arguments: JsonObject, call: ToolCall) -> ToolOutcome:
    number = int(arguments["n"])
    # The first takes longest, so that the order of the ends is not that of the calls.
    await trio.sleep(0.05 / (number + 1))
    image = ImageContent(type="image", data=PIXEL, mime_type=f"image/x-{number}")
    return ToolOutcome((TextContent(type="text", text=f"picture {number}"), image))


async def wrong(app: App, arguments: JsonObject, call: ToolCall) -> ToolOutcome:
    return ToolOutcome.text("no number", {"n": "none"})


async def not_a_number(app: App, arguments: JsonObject, call: ToolCall) -> ToolOutcome:
    return ToolOutcome.text("nan", {"n": float("nan")})


def adapter(
    name: str,
    body: Any,
    properties: Mapping[str, Any],
    *,
    read_only: bool = False,
    output: Mapping[str, Any] | None = None,
) -> ToolAdapter:
    def make_run(app: App) -> ToolRun:
        async def run(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
            return await body(app, arguments, call)

        return run

    def schema(of: Mapping[str, Any]) -> dict[str, Any]:
        return {"type": "object", "properties": dict(of), "additionalProperties": False}

    return ToolAdapter(
        id=name.removeprefix("space_").replace("_", ".", 1),
        mcp_name=name,
        description=f"The tool {name} of the tests.",
        input_schema=schema(properties),
        output_schema=None if output is None else schema(output),
        make_run=make_run,
        read_only=read_only,
    )


class Coder:
    """A client of programs."""

    def __init__(self, engine: RunningEngine, client: McpClient) -> None:
        self.engine = engine
        self.client = client

    async def run(self, code: str, description: str = "try") -> dict[str, Any]:
        """The result of a program, whatever it is."""
        return await self.client.call(RUN_CODE, {"code": code, "description": description})

    async def text(self, code: str, description: str = "try") -> str:
        """The text of the result of a program that must succeed."""
        result = await self.run(code, description)
        assert not result.get("isError"), result
        return texts(result)[0]

    async def failure(self, code: str) -> str:
        """What a program that must fail is told."""
        result = await self.run(code)
        assert result["isError"] is True, result
        assert "structuredContent" not in result
        return texts(result)[0]

    async def begin(self, code: str, request_id: int = 7) -> RawConnection:
        """Send a program and leave its answer to the caller."""
        return await self.client.begin(call(RUN_CODE, {"code": code, "description": "try"}, request_id))


@asynccontextmanager
async def engine_on_trial(folder: Path, trial: Trial, *, force_sse: bool = False) -> AsyncGenerator[RunningEngine]:
    """An engine with all tools that are built in, those of other tests, and those of `trial`."""
    async with running_engine(folder, built_in=True, stream_after=60.0, force_sse=force_sse) as running:
        await running.space.context.ask(EditCapabilities(trial.edit()))
        yield running


def texts(result: Mapping[str, Any]) -> list[str]:
    return [block["text"] for block in result["content"] if block["type"] == "text"]


async def undo_count(engine: RunningEngine) -> int:
    return engine.space.world.status.value.undo_count


async def shapes(client: McpClient) -> int:
    return len((await client.call("space_drawing_inspect"))["structuredContent"]["objects"])


async def until_idle(engine: RunningEngine) -> None:
    """Wait until no program runs, and nothing is left of those that did but the spare runner."""
    runtime = engine.space.programs.runtime
    with trio.fail_after(PATIENCE_SECONDS):
        while (  # noqa: ASYNC110 - processes end without an event of ours
            engine.space.calls.running() or runtime.status().leases or len(runtime.status().runners) > 1
        ):
            await trio.sleep(0.005)
