"""What a loaded module contributes: its marks and values become adapters, presets, facts and hooks. Owns that reading.

Order is that of the module's names, so the same file always gives the same lists.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import trio
from mcp_types import TextContent

from blocks.block import ContextBlock, ContextMessage
from blocks.context import AgentBlockContext
from engine.errors import EngineError, InvalidArgumentError
from engine.units.source import UnitSource
from presets.adapters import ToolAdapter
from presets.app import App
from presets.context import FactValue
from presets.definition import PresetDefinition
from protocol.interaction import InputNeededError, MalformedAnswerError
from protocol.jsonrpc import encode
from protocol.tool import JsonObject, NotRunError, ToolCall, ToolError, ToolOutcome, ToolRun
from space_unit.authoring import HOOK_MARK, TOOL_MARK, BlockSpec, FactsSpec, PresetSpec, ToolMark
from space_unit.border import Done, attempt
from space_unit.call import Call
from space_unit.contribution import Contribution, check_contribution, mcp_name_of, tool_id_of
from space_unit.hook_threads import HookThreads
from space_unit.outcome_size import bounded_outcome
from space_unit.plain_fact import plain_fact
from space_unit.signature import Signature, signature_of
from space_unit.tracebacks import in_one_line, own_traceback, words_of

HOOK_SECONDS = 5.0
"""How long a prompt waits for one hook, which has a person or a model waiting behind it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a unit's code runs in. `in_use` is held while a call or a hook runs; `log` writes into the unit's log."""

    unit: str
    in_use: Callable[[], AbstractContextManager[None]]
    log: Callable[[str], None]


def collect(source: UnitSource, module: Mapping[str, Any], around: Surroundings) -> Contribution:
    """The contribution of a module with these names. Raises `InvalidArgumentError` for what cannot be one."""
    facts: dict[str, FactValue] = {}
    for spec in _values(module, FactsSpec):
        for name, given in spec.facts.items():
            value = plain_fact(given)
            if facts.setdefault(name, value) != value:
                raise InvalidArgumentError(f"fact {name!r} is declared twice; say it once")
    tools: dict[Callable[..., Any], ToolAdapter] = {}
    for function in _marked(module, TOOL_MARK):
        tools[function] = _adapter(function, around, tuple(facts))
    blocks = tuple(_values(module, BlockSpec))
    made = Contribution(
        adapters=tuple(tools.values()),
        presets=tuple(_preset(source.name, spec, tools) for spec in _values(module, PresetSpec)),
        facts=facts,
        block_ids=tuple(block.id for block in blocks),
        **_hooks(source.name, module, blocks, around),
    )
    check_contribution(source.name, made)
    return made


def _marked(module: Mapping[str, Any], mark: str) -> list[Callable[..., Any]]:
    """The functions with that mark, once each, in the order in which the module names them."""
    found = [value for value in module.values() if inspect.isroutine(value) and hasattr(value, mark)]
    return list(dict.fromkeys(cast("list[Callable[..., Any]]", found)))


def _values(module: Mapping[str, Any], kind: type[Any]) -> Iterable[Any]:
    seen: set[int] = set()
    for value in module.values():
        if isinstance(value, kind) and id(value) not in seen:
            seen.add(id(value))
            yield value


def _adapter(function: Callable[..., Any], around: Surroundings, facts: Sequence[str]) -> ToolAdapter:
    mark: ToolMark = getattr(function, TOOL_MARK)
    name = mark.name or function.__name__
    description = mark.description or inspect.getdoc(function)
    if not description:
        raise InvalidArgumentError(f"tool {name!r} needs a docstring: it is what a model reads about the tool")
    signature = signature_of(function)
    return ToolAdapter(
        id=tool_id_of(around.unit, name),
        mcp_name=mcp_name_of(around.unit, name),
        title=mark.title,
        description=description,
        input_schema=signature.input_schema,
        output_schema=signature.output_schema,
        make_run=_run_of(name, function, signature, around, facts),
        read_only=mark.read_only,
        idempotent=mark.idempotent,
    )


def _run_of(
    name: str, function: Callable[..., Any], signature: Signature, around: Surroundings, facts: Sequence[str]
) -> Callable[[App], ToolRun]:
    def make_run(app: App) -> ToolRun:
        async def run(raw: JsonObject, call: ToolCall) -> ToolOutcome:
            own = Call(around.unit, app.bound(step_group=call.step_group), call, around.log, facts)

            async def body() -> ToolOutcome:
                made = _outcome(await function(**signature.arguments(raw, own)), signature)
                return bounded_outcome(name, made)

            with around.in_use():
                end = await attempt(body)
            if isinstance(end, Done):
                return end.value
            raise _told(name, end.error, around)

        return run

    return make_run


def _told(name: str, error: BaseException, around: Surroundings) -> Exception:
    """What the caller of a tool is told of an error in it."""
    match error:
        case InputNeededError() | MalformedAnswerError():
            return error
        case NotRunError():
            return NotRunError(words_of(error))
        case ToolError() | EngineError():
            return ToolError(words_of(error))
        case _:
            # A bug of the unit is told to the caller, and the log has the traceback.
            around.log(f"tool {name} failed\n{own_traceback(error)}")
            return ToolError(
                f"tool {name!r} of unit {around.unit!r} failed: {in_one_line(error)}; its log has the traceback"
            )


def _outcome(made: Any, signature: Signature) -> ToolOutcome:
    if isinstance(made, ToolOutcome):
        return made
    structured = signature.structured(made)
    if structured is None:
        return ToolOutcome.text("done")
    return ToolOutcome((TextContent(type="text", text=encode(structured).decode("utf-8")),), structured)


def _preset(unit: str, spec: PresetSpec, tools: Mapping[Callable[..., Any], ToolAdapter]) -> PresetDefinition:
    ids: list[str] = []
    for function in spec.tools:
        adapter = tools.get(function)
        if adapter is None:
            raise InvalidArgumentError(
                f"preset {spec.name!r} lists {getattr(function, '__name__', function)!r}, which is no tool of unit.py; "
                "mark it with @tool, and import it there where it stands in another file"
            )
        ids.append(adapter.id)
    return PresetDefinition(
        name=spec.name,
        group=spec.group or unit,
        default_state=spec.default,
        risk=spec.risk,
        contexts=tuple({fact: plain_fact(value) for fact, value in each.items()} for each in spec.contexts),
        tool_ids=tuple(ids),
        system_prompt=spec.prompt,
    )


def _hooks(unit: str, module: Mapping[str, Any], blocks: tuple[BlockSpec, ...], around: Surroundings) -> dict[str, Any]:
    found: dict[str, list[Callable[[Any], Any]]] = {}
    threads = HookThreads(unit)
    if blocks:
        _check_blocks(unit, blocks)

        async def add_blocks(given: Sequence[ContextBlock]) -> Sequence[ContextBlock]:
            texts = [(spec, await _text_of(spec, threads)) for spec in blocks]
            return (*given, *(_block(unit, spec, text) for spec, text in texts if text))

        found["before_blocks"] = [add_blocks]
    for function in _marked(module, HOOK_MARK):
        found.setdefault(getattr(function, HOOK_MARK), []).append(function)
    return {name: _chained(name, functions, around, threads) for name, functions in found.items()}


def _check_blocks(unit: str, blocks: tuple[BlockSpec, ...]) -> None:
    ids = [block.id for block in blocks]
    for block in blocks:
        if ids.count(block.id) > 1:
            raise InvalidArgumentError(f"prompt block {block.id!r} is there twice; ids are unique")
        _block(unit, block, "")


def _block(unit: str, block: BlockSpec, text: str) -> ContextBlock:
    return ContextBlock(
        id=f"{unit}.{block.id}", role=block.role, content=text, order=block.order, source=unit, name=block.title
    )


async def _text_of(block: BlockSpec, threads: HookThreads) -> str:
    text: object = block.content if isinstance(block.content, str) else await _called(block.content, threads)
    if not isinstance(text, str):
        raise TypeError(f"prompt block {block.id!r} must be a text, not {text!r:.80}")
    return text


async def _called(function: Callable[..., Any], threads: HookThreads, *arguments: Any) -> Any:
    """Call a function of the unit: in the event loop where it is async, else in a thread, which it may hold up."""
    if inspect.iscoroutinefunction(function):
        return await function(*arguments)
    made = await threads.run(partial(function, *arguments))
    return await made if inspect.isawaitable(made) else made


def _chained(
    name: str, functions: Sequence[Callable[[Any], Any]], around: Surroundings, threads: HookThreads
) -> Callable[[Any], Any]:
    """One hook of several. What one of them breaks is left out, and the log says so: a prompt is made all the same."""

    async def hook(value: Any) -> Any:
        for function in functions:

            async def body(function: Callable[[Any], Any] = function, given: Any = value) -> Any:
                return _checked(name, await _called(function, threads, given))

            with around.in_use(), trio.move_on_after(HOOK_SECONDS) as limit:
                end = await attempt(body)
                if isinstance(end, Done):
                    value = cast("Any", end.value)
                else:
                    around.log(f"{name} failed; the prompt was made without it\n{own_traceback(end.error)}")
            if limit.cancelled_caught:
                around.log(f"{name} took more than {HOOK_SECONDS:g} s; the prompt was made without it")
        return value

    return hook


def _checked(name: str, made: Any) -> Any:
    """What a hook returned. Raises `TypeError` for what it must not return."""
    if name == "before_context":
        if not isinstance(made, AgentBlockContext):
            raise TypeError(f"{name} must return a BlockContext, not {made!r:.80}")
        return made  # pyright: ignore[reportUnknownVariableType] - narrowed from Any
    kind = ContextBlock if name == "before_blocks" else ContextMessage
    if not isinstance(made, list | tuple):
        raise TypeError(f"{name} must return a list, not {made!r:.80}")
    members = tuple(cast("Sequence[object]", made))
    for member in members:
        if not isinstance(member, kind):
            raise TypeError(f"{name} must return a list of {kind.__name__}; one of it is {member!r:.80}")
    return members
