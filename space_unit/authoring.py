"""The few words with which a unit says what it contributes. Owns the marks and values that they leave in a module.

Nothing here registers anything: what a module holds when it has been loaded is read by `space_unit.collecting`. So an
import has no effect beyond the module itself, and a function that is marked stays the function that it was.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, overload

from blocks.block import Role
from blocks.hooks import BeforeBlocks, BeforeContext, BeforeGeneration, HookName
from engine.errors import InvalidArgumentError
from presets.context import FactValue
from presets.definition import DefaultState, Risk

FunctionT = TypeVar("FunctionT", bound=Callable[..., Awaitable[Any]])
ContextHookT = TypeVar("ContextHookT", bound=BeforeContext)
BlocksHookT = TypeVar("BlocksHookT", bound=BeforeBlocks)
GenerationHookT = TypeVar("GenerationHookT", bound=BeforeGeneration)

TOOL_MARK = "__space_tool__"
HOOK_MARK = "__space_hook__"

ANYWHERE: tuple[Mapping[str, FactValue], ...] = ({"surface": "any"},)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolMark:
    """What `tool` was told about a function."""

    name: str | None = None
    title: str | None = None
    description: str | None = None
    read_only: bool = False
    idempotent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PresetSpec:
    """What `preset` was told."""

    name: str
    tools: tuple[Callable[..., Any], ...]
    contexts: tuple[Mapping[str, FactValue], ...]
    risk: Risk
    default: DefaultState
    prompt: str | None
    group: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockSpec:
    """What `prompt_block` was told."""

    id: str
    content: str | Callable[[], str | Awaitable[str]]
    role: Role
    order: float
    title: str | None


@dataclass(frozen=True, slots=True)
class FactsSpec:
    """What `context_facts` was told."""

    facts: Mapping[str, FactValue]


@overload
def tool(function: FunctionT, /) -> FunctionT: ...
@overload
def tool(
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    read_only: bool = False,
    idempotent: bool = False,
) -> Callable[[FunctionT], FunctionT]: ...
def tool(
    function: FunctionT | None = None,
    /,
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    read_only: bool = False,
    idempotent: bool = False,
) -> FunctionT | Callable[[FunctionT], FunctionT]:
    """Make a tool of an async function: `@tool`, or `@tool(read_only=True)`.

    Its parameters are the input schema (describe one with `Annotated[int, Field(description=...)]`), its return type is
    the output schema, its docstring the description, and its name the end of the tool's: `roll` of the unit `dice` is
    `space_dice_roll`. A parameter of type `Call` is no argument: it gets the call. Raise `ToolError` to tell the caller
    what was wrong. The function itself stays as it is, for tests and for other tools.
    """
    mark = ToolMark(name=name, title=title, description=description, read_only=read_only, idempotent=idempotent)

    def marked(given: FunctionT) -> FunctionT:
        setattr(given, TOOL_MARK, mark)
        return given

    return marked if function is None else marked(function)


def preset(
    name: str,
    *,
    tools: Sequence[Callable[..., Any]],
    contexts: Sequence[Mapping[str, FactValue]] = ANYWHERE,
    risk: Risk | str = Risk.NORMAL,
    default: DefaultState | str | None = None,
    prompt: str | None = None,
    group: str | None = None,
) -> PresetSpec:
    """A bundle of tools: in which contexts it is offered, how risky it is, and what it adds to the prompt.

    The name is that of the unit, or begins with it and a dash. Unless told otherwise a preset follows the context when
    its risk is normal, and is off until the user turns it on when it is not. `group` is the unit's name where none is
    given. Keep what this returns in a variable of `unit.py`, or the preset does not exist.
    """
    try:
        checked = Risk(risk)
        state = DefaultState(default) if default is not None else None
    except ValueError as error:
        risks, states = ", ".join(Risk), ", ".join(DefaultState)
        raise InvalidArgumentError(f"preset {name!r}: {error}; risk is one of {risks}, default of {states}") from None
    return PresetSpec(
        name=name,
        tools=tuple(tools),
        contexts=tuple(contexts),
        risk=checked,
        default=state or (DefaultState.AUTO if checked is Risk.NORMAL else DefaultState.OFF),
        prompt=prompt,
        group=group,
    )


def prompt_block(
    block_id: str,
    content: str | Callable[[], str | Awaitable[str]],
    *,
    role: Role = "system",
    order: float = 1000,
    title: str | None = None,
) -> BlockSpec:
    """A block of every prompt that is made of blocks. `content` is its text, or a function, async or not, that gives
    it; no text, no block.

    `order` places it among the others of its role, which stand at 100, 200 and so on. Keep it in a variable.
    """
    return BlockSpec(id=block_id, content=content, role=role, order=order, title=title)


def context_facts(**facts: FactValue) -> FactsSpec:
    """Facts of the context that hold while the unit is loaded, such as `weather="unknown"`, for presets to match.

    A tool changes one with `call.set_fact`. Keep what this returns in a variable.
    """
    return FactsSpec(facts)


def before_context(function: ContextHookT) -> ContextHookT:
    """Let this function change what blocks are made of: `(BlockContext) -> BlockContext`, async or not."""
    return _hook("before_context", function)


def before_blocks(function: BlocksHookT) -> BlocksHookT:
    """Let this function change the blocks of a prompt: `(tuple[Block, ...]) -> list[Block]`, async or not."""
    return _hook("before_blocks", function)


def before_generation(function: GenerationHookT) -> GenerationHookT:
    """Let this function change the final messages: `(tuple[Message, ...]) -> list[Message]`, async or not."""
    return _hook("before_generation", function)


HookT = TypeVar("HookT")


def _hook(name: HookName, function: HookT) -> HookT:
    setattr(function, HOOK_MARK, name)
    return function
