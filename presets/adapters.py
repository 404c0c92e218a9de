"""Tool adapters: a stable capability id, and how it becomes an MCP tool. Owns the adapter and the registry of adapters.

Presets name ids; an adapter holds the name, the schemas and the body. Bodies get the `App` at call time, so no closure
outlives what it works on. Source: agent-presets, "Tool Adapters".
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from mcp_types import ContentBlock, Icon, ImageContent, TextContent

from engine.errors import EngineError, InvalidArgumentError, NotFoundError
from presets.app import App
from presets.interactions import InteractiveRun
from presets.presentation import RESERVED_NAMES
from presets.schema import ToolArguments, ToolResult, WriteArguments, schema_of
from protocol.interaction import Interaction
from protocol.tool import JsonObject, TaskSupport, ToolError, ToolOutcome

MCP_NAME_PREFIX = "space_"
"""Every name that reaches an agent begins with it, so that Space's tools never meet another server's. A deployment of
another make may say otherwise (`SpaceOptions.tool_prefix`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAdapter:
    """How one capability becomes an MCP tool.

    `id` is internal and dotted (`drawing.insert-shape`); `mcp_name` is external and stable. `make_run` takes the
    running engine and gives the body, which may ask only for what a `ToolCall` has, or talk with its client as an
    `Interaction`. `read_only` and `idempotent` become annotations, together with the preset's risk; `destroys` says
    whether a call may lose what undo does not bring back, where that is not as the risk says. `task_support` says
    whether a call may go on as a task; its body then says when, with `Interaction.become_task`.
    """

    id: str
    mcp_name: str
    description: str
    input_schema: JsonObject
    make_run: Callable[[App], InteractiveRun]
    output_schema: JsonObject | None = None
    title: str | None = None
    read_only: bool = False
    idempotent: bool = False
    destroys: bool | None = None
    task_support: TaskSupport = TaskSupport.FORBIDDEN
    icons: tuple[Icon, ...] = ()


@dataclass(frozen=True, slots=True)
class WithImages:
    """A typed result together with images for the model's eyes."""

    result: ToolResult
    images: tuple[ImageContent, ...]


ArgumentsT = TypeVar("ArgumentsT", bound=ToolArguments)


def typed_adapter(
    *,
    id: str,  # noqa: A002 - the document's word
    mcp_name: str,
    description: str,
    arguments: type[ArgumentsT],
    result: type[ToolResult],
    run: Callable[[App, ArgumentsT, Interaction], Awaitable[ToolResult | WithImages]],
    title: str | None = None,
    read_only: bool = False,
    idempotent: bool = False,
    destroys: bool | None = None,
    task_support: TaskSupport = TaskSupport.FORBIDDEN,
) -> ToolAdapter:
    """An adapter whose schemas come from two pydantic models and whose body works with their values.

    The outcome is the result as structured content and, for clients that show text only, as JSON text before the
    images. An `EngineError` of the body becomes a `ToolError` with its text.
    """

    def make_run(app: App) -> InteractiveRun:
        async def body(raw: JsonObject, call: Interaction) -> ToolOutcome:
            try:
                given = arguments.model_validate(raw)
                base = given.base_revision if isinstance(given, WriteArguments) else None
                made = await run(app.bound(base_revision=base, step_group=call.step_group), given, call)
            except EngineError as error:
                raise ToolError(str(error)) from error
            images: tuple[ContentBlock, ...] = ()
            if isinstance(made, WithImages):
                images, made = made.images, made.result
            text = TextContent(type="text", text=made.model_dump_json(exclude_none=True))
            return ToolOutcome((text, *images), made.model_dump(mode="json", exclude_none=True))

        return body

    return ToolAdapter(
        id=id,
        mcp_name=mcp_name,
        description=description,
        input_schema=schema_of(arguments),
        output_schema=schema_of(result, of_result=True),
        make_run=make_run,
        title=title,
        read_only=read_only,
        idempotent=idempotent,
        destroys=destroys,
        task_support=task_support,
    )


class ToolAdapterRegistry:
    """The adapters by id, in order of registration. Never calls one. Names begin with `prefix`, where there is one."""

    def __init__(self, prefix: str | None = MCP_NAME_PREFIX) -> None:
        self.prefix = prefix
        self._adapters: dict[str, ToolAdapter] = {}
        self._ids_by_name: dict[str, dict[str, None]] = {}

    def register(self, adapter: ToolAdapter) -> None:
        """Add an adapter.

        Raises `InvalidArgumentError` for an empty id, a name that is reserved (in every deployment, whoever presents
        what), a name without the prefix, or an id that is taken.
        """
        if not adapter.id:
            raise InvalidArgumentError("a tool adapter needs an id, such as 'drawing.insert-shape'")
        if refusal := RESERVED_NAMES.refusal(adapter.mcp_name):
            raise InvalidArgumentError(f"tool adapter {adapter.id!r}, MCP name {adapter.mcp_name!r}: {refusal}")
        if self.prefix is not None and not adapter.mcp_name.startswith(self.prefix):
            raise InvalidArgumentError(
                f"tool adapter {adapter.id!r}: MCP name {adapter.mcp_name!r} must begin with {self.prefix!r}"
            )
        if adapter.id in self._adapters:
            raise InvalidArgumentError(f"tool adapter {adapter.id!r} is already registered")
        self._adapters[adapter.id] = adapter
        self._ids_by_name.setdefault(adapter.mcp_name, {})[adapter.id] = None

    def unregister(self, tool_id: str) -> ToolAdapter:
        """Take an adapter away and return it. Raises `NotFoundError` for an unknown id."""
        adapter = self._adapters.pop(tool_id, None)
        if adapter is None:
            raise NotFoundError(f"tool adapter {tool_id!r} is not registered")
        ids = self._ids_by_name[adapter.mcp_name]
        del ids[tool_id]
        if not ids:
            del self._ids_by_name[adapter.mcp_name]
        return adapter

    def get(self, tool_id: str) -> ToolAdapter | None:
        """The adapter of that id, or None."""
        return self._adapters.get(tool_id)

    def named(self, mcp_name: str) -> tuple[ToolAdapter, ...]:
        """The adapters with that MCP name, in order of registration. Several may share one; one may be offered."""
        return tuple(self._adapters[tool_id] for tool_id in self._ids_by_name.get(mcp_name, ()))

    def __iter__(self) -> Iterator[ToolAdapter]:
        return iter(self._adapters.values())

    def __len__(self) -> int:
        return len(self._adapters)
