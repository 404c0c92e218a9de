"""Space with one trivial tool, added as any tool is: an adapter, and a preset that offers it everywhere.

Everything else is what `space serve` runs: store, engine, actors, app, guard, HTTP server.

    python -m benchmarks.servers.space_tool DATA_FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path

import trio

from actors.space import CapabilityEdit
from benchmarks import leash
from benchmarks.servers.serving import serve
from presets.adapters import typed_adapter
from presets.app import App
from presets.definition import DefaultState, PresetDefinition, Risk
from presets.schema import ToolArguments, ToolResult
from protocol.tool import ToolCall
from transport.logs import LogFormat, LogLevel, configure_logs


class EchoArguments(ToolArguments):
    """What to give back."""

    text: str


class EchoResult(ToolResult):
    """What was given."""

    text: str


async def _echo(app: App, arguments: EchoArguments, call: ToolCall) -> EchoResult:
    return EchoResult(text=arguments.text)


def trivial_tool() -> CapabilityEdit:
    """The tool and the preset that shows it."""
    adapter = typed_adapter(
        id="benchmark.echo",
        mcp_name="space_benchmark_echo",
        description="Give the text back.",
        arguments=EchoArguments,
        result=EchoResult,
        run=_echo,
    )
    preset = PresetDefinition(
        name="benchmark-tools",
        group="benchmark",
        default_state=DefaultState.AUTO,
        risk=Risk.NORMAL,
        contexts=({"surface": "any"},),
        tool_ids=(adapter.id,),
    )
    return CapabilityEdit(add_adapters=(adapter,), add_presets=(preset,))


if __name__ == "__main__":
    leash.hold()
    configure_logs(LogFormat.CONSOLE, LogLevel.INFO)
    trio.run(serve, Path(sys.argv[1]), (trivial_tool(),))
