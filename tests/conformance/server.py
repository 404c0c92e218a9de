"""The fixture server of the MCP conformance suite: the product, with the suite's capabilities beside its own.

`python -m tests.conformance.server --port N` serves at `/mcp` until it is told to stop. Owns which presets there are;
everything goes through the API that any application with capabilities of its own has. The built-in capabilities stay,
so that the suite judges what they look like as well.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from actors.resolution import CapabilityEdit
from actors.space import built_in_capabilities
from presets.definition import DefaultState, PresetDefinition, Risk
from tests.conformance import jobs, prompts, questions, resources, tools
from transport.logs import LogLevel
from transport.serve import ServeOptions, run


def capabilities() -> CapabilityEdit:
    """All that the suite asks for. Two presets are there at times, so that their lists can change."""
    always = (*tools.adapters(), *questions.adapters(), *jobs.adapters())
    return CapabilityEdit(
        add_adapters=(*always, *tools.more_adapters()),
        add_resource_adapters=resources.adapters(),
        add_prompt_adapters=(*prompts.adapters(), *prompts.more_adapters()),
        add_presets=(
            PresetDefinition(
                name="conformance",
                default_state=DefaultState.AUTO,
                risk=Risk.NORMAL,
                contexts=({"surface": "any"},),
                tool_ids=tuple(adapter.id for adapter in always),
                resource_ids=tuple(adapter.id for adapter in resources.adapters()),
                prompt_ids=tuple(adapter.id for adapter in prompts.adapters()),
            ),
            PresetDefinition(
                name="conformance-more-tools",
                default_state=DefaultState.AUTO,
                risk=Risk.NORMAL,
                contexts=({tools.MORE_TOOLS: True},),
                tool_ids=tuple(adapter.id for adapter in tools.more_adapters()),
            ),
            PresetDefinition(
                name="conformance-more-prompts",
                default_state=DefaultState.AUTO,
                risk=Risk.NORMAL,
                contexts=({tools.MORE_PROMPTS: True},),
                prompt_ids=tuple(adapter.id for adapter in prompts.more_adapters()),
                tool_ids=(),
            ),
        ),
    )


def main() -> int:
    """Serve, with the data in a folder that goes when it is over."""
    parser = argparse.ArgumentParser(description="The fixture server of the MCP conformance suite.")
    parser.add_argument("--port", type=int, default=0, help="the port; 0 takes a free one")
    port: int = parser.parse_args().port
    with tempfile.TemporaryDirectory(prefix="space-conformance-") as folder:
        workspace = Path(folder) / "workspace"
        workspace.mkdir()
        # The names of the suite's tools begin as they like.
        options = ServeOptions(
            data=Path(folder) / "data",
            workspace=workspace,
            port=port,
            log_level=LogLevel.WARNING,
            tool_prefix=None,
        )
        return run(options, (built_in_capabilities(), capabilities()))


if __name__ == "__main__":
    sys.exit(main())
