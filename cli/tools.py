"""`space tools` and `space explain`: every tool that there is, and why it is offered now or not."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from pydantic import ValidationError

from cli.answers import ExplainedTool, Explanation, Tools
from cli.client import segment
from cli.console import print_facts, print_json, print_table, say
from cli.failure import RefusedError
from cli.options import DEFAULT_URL, AgentOption, JsonOption, TokenOption, UrlOption, agent_query, engine_at

MAX_DESCRIPTION_CHARACTERS = 1_000
"""Of a description that is printed. Those of single tools are shorter; that of `space_run_code` holds a whole SDK."""


def tools(
    shown: Annotated[bool, typer.Option("--shown", help="Only those that clients see now.")] = False,
    agent: AgentOption = None,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """List every tool, with whether it is offered now."""
    with engine_at(url, token, as_json=as_json) as engine:
        answer = engine.ask(Tools, "GET", "/api/tools", query=agent_query(agent))
    if as_json:
        print_json(_only_shown(answer.raw) if shown else answer.raw)
        return
    rows = [
        (tool.mcp_name or tool.tool_id or tool.tool, tool.state, tool.preset, tool.risk)
        for tool in answer.value.tools
        if not shown or tool.state == "shown"
    ]
    print_table(None, ("tool", "state", "preset", "risk"), rows)


def explain(
    tool: Annotated[str, typer.Argument(help="The tool's MCP name, or its id.")],
    agent: AgentOption = None,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say why a tool is offered now, or why not and what would offer it."""
    with engine_at(url, token, as_json=as_json) as engine:
        try:
            answer = engine.ask(ExplainedTool, "GET", f"/api/tools/{segment(tool)}", query=agent_query(agent))
        except RefusedError as refusal:
            raise _with_reason(refusal) from None
    if as_json:
        print_json(answer.raw)
    else:
        _print(answer.value)


def _print(tool: ExplainedTool) -> None:
    say(tool.reason)
    if tool.remedy is not None and tool.remedy.command not in tool.reason:
        say(f"Try: {tool.remedy.command}")
    print_facts(
        "Tool",
        [
            ("name", tool.mcp_name),
            ("id", tool.tool_id),
            ("state", tool.state),
            ("risk", tool.risk),
            ("presets", ", ".join(tool.presets)),
            ("owners", ", ".join(tool.owners)),
            ("shown in", " or ".join(_context(pattern) for pattern in tool.shown_in)),
            ("description", _beginning(tool.definition.description) if tool.definition else None),
        ],
    )


def _beginning(description: str | None) -> str | None:
    """The description, or the beginning of one that is a text of its own, as that of the tool that runs programs."""
    if description is None or len(description) <= MAX_DESCRIPTION_CHARACTERS:
        return description
    return f"{description[:MAX_DESCRIPTION_CHARACTERS].rstrip()}… (--json prints all {len(description)} characters)"


def _context(pattern: dict[str, Any]) -> str:
    return ", ".join(f"{field}={value}" for field, value in pattern.items()) or "every context"


def _with_reason(refusal: RefusedError) -> RefusedError:
    """The same refusal, in the words of the explanation that an unknown tool comes with."""
    try:
        explanation = Explanation.model_validate(refusal.members)
    except ValidationError:
        return refusal
    return RefusedError(explanation.reason, refusal.hint, refusal.members)


def _only_shown(raw: dict[str, Any]) -> dict[str, Any]:
    return {**raw, "tools": [tool for tool in raw["tools"] if tool["state"] == "shown"]}
