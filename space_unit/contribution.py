"""What a unit contributes, as one frozen value, whoever made it. Owns the value and the checks that hold for any kind.

A loader of another kind (a unit that is no Python) makes the same value, and everything else treats it alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from pydantic import ValidationError

from blocks.hooks import BeforeBlocks, BeforeContext, BeforeGeneration
from engine.errors import EngineError, InvalidArgumentError
from presets.adapters import MCP_NAME_PREFIX, ToolAdapter
from presets.context import ContextSnapshot, FactValue
from presets.definition import PresetDefinition
from presets.presentation import RESERVED_NAMES
from protocol.tool import ToolCall, ToolDefinition, ToolOutcome
from protocol.tool_registry import ToolRegistry, ToolRegistryError

MAX_TOOLS = 200
"""Of one unit. Models choose badly among more, and clients cut the list."""

MAX_PRESETS = 50
"""Of one unit."""

_ENGINE_FACTS = frozenset({"surface", "canvas_visible", "activity", "world_id", "selection_kind", "mode"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """Everything of one unit. `facts` hold in the context while it is loaded; hooks get a prompt on its way."""

    adapters: tuple[ToolAdapter, ...] = ()
    presets: tuple[PresetDefinition, ...] = ()
    facts: Mapping[str, FactValue] = field(default_factory=lambda: MappingProxyType({}))
    block_ids: tuple[str, ...] = ()
    """The blocks that `before_blocks` adds, for people."""
    before_context: BeforeContext | None = None
    before_blocks: BeforeBlocks | None = None
    before_generation: BeforeGeneration | None = None

    @property
    def hooks(self) -> tuple[str, ...]:
        """The names of the hooks that there are."""
        named = {
            "before_context": self.before_context,
            "before_blocks": self.before_blocks,
            "before_generation": self.before_generation,
        }
        return tuple(name for name, hook in named.items() if hook is not None)


EMPTY = Contribution()
"""Of a unit that contributes nothing."""


def tool_id_of(unit: str, tool: str) -> str:
    """The id of a unit's tool adapter."""
    return f"unit.{unit}.{tool}"


def mcp_name_of(unit: str, tool: str) -> str:
    """The name under which a unit's tool reaches a model."""
    return f"{MCP_NAME_PREFIX}{unit.replace('-', '_')}_{tool}"


def check_contribution(unit: str, made: Contribution) -> None:
    """Raise `InvalidArgumentError` for what could not be shown in any context, however the unit was loaded.

    So a unit that is loaded can never be the reason for which a later change of the context is refused.
    """
    if len(made.adapters) > MAX_TOOLS or len(made.presets) > MAX_PRESETS:
        raise InvalidArgumentError(
            f"unit {unit!r} has {len(made.adapters)} tools and {len(made.presets)} presets; "
            f"at most {MAX_TOOLS} and {MAX_PRESETS} are taken"
        )
    registry = ToolRegistry(MCP_NAME_PREFIX, reserved=RESERVED_NAMES)
    own = {adapter.id for adapter in made.adapters}
    names: dict[str, str] = {}
    for adapter in made.adapters:
        if not adapter.id.startswith(f"unit.{unit}."):
            raise InvalidArgumentError(f"tool {adapter.id!r} must have an id such as {tool_id_of(unit, 'roll')!r}")
        other = names.setdefault(adapter.mcp_name, adapter.id)
        if other != adapter.id or len(own) < len(made.adapters):
            raise InvalidArgumentError(f"unit {unit!r} has two tools {adapter.mcp_name!r}; each has a name of its own")
        try:
            registry.register(_face(adapter), now=0.0)
        except ToolRegistryError as error:
            raise InvalidArgumentError(f"tool {adapter.mcp_name!r} cannot be offered: {error}") from error
    _check_presets(unit, made, own)
    _check_facts(unit, made.facts)


def _check_presets(unit: str, made: Contribution, own: set[str]) -> None:
    listed: dict[str, str] = {}
    names: set[str] = set()
    for preset in made.presets:
        if preset.name != unit and not preset.name.startswith(f"{unit}-"):
            raise InvalidArgumentError(
                f"preset {preset.name!r} must be named {unit!r}, or begin with {unit + '-'!r}: names are unique"
            )
        if preset.name in names:
            raise InvalidArgumentError(f"unit {unit!r} has two presets {preset.name!r}; names of presets are unique")
        names.add(preset.name)
        for tool_id in preset.tool_ids:
            if tool_id not in own:
                raise InvalidArgumentError(
                    f"preset {preset.name!r} lists tool {tool_id!r}, which is none of unit {unit!r}"
                )
            if tool_id in listed:
                raise InvalidArgumentError(
                    f"tool {tool_id!r} is in preset {listed[tool_id]!r} and in {preset.name!r}; it belongs into one"
                )
            listed[tool_id] = preset.name
    for adapter in made.adapters:
        if adapter.id not in listed:
            raise InvalidArgumentError(
                f"tool {adapter.mcp_name!r} is in no preset, so it would never be offered; "
                f"list it in one: {unit.replace('-', '_')} = preset({unit!r}, tools=[...])"
            )


def _check_facts(unit: str, facts: Mapping[str, FactValue]) -> None:
    taken = sorted(_ENGINE_FACTS & facts.keys())
    if taken:
        raise InvalidArgumentError(f"unit {unit!r} declares fact {taken[0]!r}, which is the engine's own")
    try:
        ContextSnapshot.model_validate({"surface": "canvas", "canvas_visible": True, **facts})
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        said = fault["msg"].removeprefix("Value error, ")
        raise InvalidArgumentError(f"the facts of unit {unit!r} are not valid: {said}") from error


def _face(adapter: ToolAdapter) -> ToolDefinition:
    async def run(arguments: Mapping[str, object], call: ToolCall) -> ToolOutcome:
        raise EngineError("this tool is only looked at")

    return ToolDefinition(
        name=adapter.mcp_name,
        description=adapter.description,
        input_schema=adapter.input_schema,
        output_schema=adapter.output_schema,
        run=run,
        owner="units",
        source=adapter.id,
        title=adapter.title,
    )
