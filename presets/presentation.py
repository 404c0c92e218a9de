"""The form in which tools reach a model, and the names that belong to it. Owns both, and who may not have the names.

What an agent may do is its capability catalogue; presentation only says how its model sees that. It is declared per
scope (`presets.scope`) and carried out by the projection (`presets.projection`).
Source: tool-presentation, "Decision".
"""

from __future__ import annotations

from enum import StrEnum

from protocol.reserved_names import ReservedNames


class Presentation(StrEnum):
    """How an agent's tools are shown to its model."""

    NATIVE = "native"
    """Each tool with its own schema."""
    CODE = "code"
    """Only `space_run_code`, which runs a program that calls the tools."""
    BOTH = "both"
    """Each tool, and `space_run_code` beside them."""

    @property
    def runs_programs(self) -> bool:
        """Whether it shows `space_run_code`, and so needs a code runtime."""
        return self is not Presentation.NATIVE


RUN_CODE_NAME = "space_run_code"
"""The MCP name of the tool that runs a program. It is no registration: the projection adds it where it is presented."""

_SHORT_RUN_CODE_NAME = "run_code"

DEFAULT_OPTION = "--presentation"
"""The option of `space serve` that sets the deployment's presentation."""

_PURPOSE = "the tool that runs a program in Code Mode, whether or not any agent presents it"

FIND_TOOLS_NAME = "space_find_tools"
"""The MCP name of the tool that finds tools, for clients that do not follow a changing list. No registration either."""

CALL_TOOL_NAME = "space_call_tool"
"""The MCP name of the tool that calls one by name; both come together."""

_PAIR_PURPOSE = "the pair that finds and calls tools by name, whether or not any agent has it"

RESERVED_NAMES = ReservedNames(
    {
        RUN_CODE_NAME: _PURPOSE,
        _SHORT_RUN_CODE_NAME: _PURPOSE,
        FIND_TOOLS_NAME: _PAIR_PURPOSE,
        CALL_TOOL_NAME: _PAIR_PURPOSE,
    }
)
"""Nobody may register these in any deployment, since any agent may present code, or have the pair, at any time.

`run_code` is among them although it lacks Space's prefix: a client puts the server's name before it, and that is
`space` in every configuration that Space writes.
"""


def presented_name(name: str) -> str | None:
    """The tool that this name is, or would be mistaken for, of those that presentation adds; None for any other."""
    kept = RESERVED_NAMES.reserved(name)
    return RUN_CODE_NAME if kept == _SHORT_RUN_CODE_NAME else kept
