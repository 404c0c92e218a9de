"""What a unit contributes that stands for an MCP server: the server's tools as adapters, in presets of its manifest.

Owns which tools are offered, how risky each is, and the words for what is not offered. Calls nothing. What a server
says of its tools can make them riskier than the manifest says, and never less risky.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from mcp_types import Tool

from engine.errors import EngineError
from presets.adapters import ToolAdapter
from presets.app import App
from presets.definition import PresetDefinition, Risk
from presets.interactions import InteractiveRun
from protocol.schema import SchemaError, compile_schema
from space_unit.contribution import MAX_TOOLS, Contribution, check_contribution, mcp_name_of, tool_id_of
from space_unit.proxy_names import proxy_names
from space_unit.proxy_schema import UnusableSchemaError, shown_schema
from space_unit.proxy_settings import ProxyPreset, ProxySettings

MAX_DESCRIPTION_CHARACTERS = 6000
"""Of one tool; a model reads all of them."""

MAX_NOTES = 30
"""Of one list; the rest is counted."""

_BELIEVED = frozenset({Risk.NORMAL, Risk.FILESYSTEM_READ})
"""Risks with which a server is believed that a tool only reads: its manifest says that it does no harm."""

CallServer = Callable[[str], InteractiveRun]
"""The body that calls the server's tool of that name."""


@dataclass(frozen=True, slots=True)
class ProxyPlan:
    """What is contributed, and what is not or otherwise than the server has it, in words."""

    contribution: Contribution
    notes: tuple[str, ...] = ()


def plan_proxy(unit: str, settings: ProxySettings, tools: Sequence[Tool], call: CallServer) -> ProxyPlan:
    """The contribution of a unit whose server lists these tools. Never raises for what a server lists."""
    notes: list[str] = []
    wanted = [tool for tool in tools if not _matches(tool.name, settings.leave_out)]
    names = proxy_names(unit, [tool.name for tool in wanted], settings.prefix)
    notes += names.refused
    presets = (*settings.preset, _REST.model_copy(update={"name": _rest_name(unit, settings)}))
    adapters: list[ToolAdapter] = []
    members: dict[str, list[str]] = {preset.name: [] for preset in presets}
    seen: set[str] = set()
    for tool in wanted:
        if tool.name in seen or tool.name not in names.short:
            continue
        seen.add(tool.name)
        if len(adapters) == MAX_TOOLS:
            notes.append(f"tool {tool.name[:80]!r} is not offered: at most {MAX_TOOLS} tools of a unit are")
            continue
        preset = next(preset for preset in presets if _matches(tool.name, preset.tools))
        adapter = _usable(unit, tool, names.short[tool.name], preset, call(tool.name), notes)
        if adapter is not None:
            adapters.append(adapter)
            members[preset.name].append(adapter.id)
    made: list[PresetDefinition] = []
    for preset in presets:
        if members[preset.name]:
            made.append(preset.definition(unit, tuple(members[preset.name])))
        elif preset in settings.preset:
            notes.append(f"preset {preset.name!r} has no tools: none of the server's is left for its patterns")
    return ProxyPlan(Contribution(adapters=tuple(adapters), presets=tuple(made)), _bounded(notes))


_REST = ProxyPreset(name="rest", tools=("*",))


def _rest_name(unit: str, settings: ProxySettings) -> str:
    """A name for the tools that no preset has."""
    taken = {preset.name for preset in settings.preset}
    return next(name for name in (unit, f"{unit}-other", f"{unit}-the-rest") if name not in taken)


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _usable(
    unit: str, tool: Tool, short: str, preset: ProxyPreset, body: InteractiveRun, notes: list[str]
) -> ToolAdapter | None:
    """The adapter of a tool, or None for one that cannot be offered; then a note says why."""
    if tool.execution is not None and tool.execution.task_support == "required":
        notes.append(f"tool {tool.name[:80]!r} is not offered: it can only be called as a task of MCP")
        return None
    try:
        adapter = _adapter(unit, tool, short, preset.risk, body, notes)
        check_contribution(unit, Contribution(adapters=(adapter,), presets=(preset.definition(unit, (adapter.id,)),)))
    except UnusableSchemaError as error:
        notes.append(f"tool {tool.name[:80]!r} is not offered: its inputSchema cannot be shown: {error}")
    except EngineError as error:
        notes.append(f"tool {tool.name[:80]!r} is not offered: {error}")
    else:
        return adapter
    return None


def _adapter(unit: str, tool: Tool, short: str, risk: Risk, body: InteractiveRun, notes: list[str]) -> ToolAdapter:
    arguments = shown_schema(tool.input_schema)
    notes += (f"tool {tool.name[:80]!r} is shown without {lost}, which its server checks" for lost in arguments.lost)
    mcp_name = mcp_name_of(unit, short)
    hints = tool.annotations
    title = (tool.title or (hints.title if hints else None) or "").strip()[:200] or None
    description = (tool.description or "").strip() or title or f"The tool {tool.name!r} of the MCP server {unit!r}."
    if len(description) > MAX_DESCRIPTION_CHARACTERS:
        description = f"{description[:MAX_DESCRIPTION_CHARACTERS]}…"
    believed = risk in _BELIEVED and hints is not None and not hints.destructive_hint
    # Where the manifest calls it harmless and its server does not, the user is asked before each call.
    feared = risk in _BELIEVED and hints is not None and bool(hints.destructive_hint) and not hints.read_only_hint
    read_only = believed and hints is not None and hints.read_only_hint is True
    return ToolAdapter(
        id=tool_id_of(unit, short),
        mcp_name=mcp_name,
        title=title,
        description=description,
        input_schema=arguments.schema,
        output_schema=_output_schema(tool, notes),
        make_run=_run_of(body),
        read_only=read_only,
        idempotent=believed and hints is not None and hints.idempotent_hint is True,
        destroys=True if feared else None,
    )


def _output_schema(tool: Tool, notes: list[str]) -> dict[str, object] | None:
    if tool.output_schema is None:
        return None
    try:
        shown = dict(shown_schema(tool.output_schema).schema)
        compile_schema(shown)
    except (UnusableSchemaError, SchemaError) as error:
        notes.append(f"tool {tool.name[:80]!r} is shown without its outputSchema: {error}")
        return None
    return shown


def _run_of(body: InteractiveRun) -> Callable[[App], InteractiveRun]:
    return lambda _: body


def _bounded(notes: Sequence[str]) -> tuple[str, ...]:
    if len(notes) <= MAX_NOTES:
        return tuple(notes)
    return (*notes[:MAX_NOTES], f"and {len(notes) - MAX_NOTES} more")
