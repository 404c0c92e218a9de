"""A tool as MCP knows it: definition, call and outcome. Owns these values only; registering and calling are elsewhere.

Source: the MCP specification, server/tools; `ToolDefinition` is the document's tool definition with its sync metadata.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from mcp_types import ContentBlock, Icon, TextContent, ToolAnnotations

if TYPE_CHECKING:
    from protocol.input_request import InputRequired

JsonObject = Mapping[str, Any]


class ToolError(Exception):
    """Raised by the body of a tool that cannot do what was asked.

    The text reaches the model as a result with `isError`: it says what was wrong, where, and what would be right.
    """


class NotRunError(ToolError):
    """Raised instead where the tool was not run at all, since somebody or something was against it."""


class ToolCall(Protocol):
    """What the body of a tool is told about the call it serves, and what it may do besides answering."""

    @property
    def step_group(self) -> str | None:
        """What the changes that this call makes belong to, so that a whole program can be taken back at once."""
        ...

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Tell the client how far the work is. `done` must not fall. Without a progress token this does nothing."""
        ...


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a tool gives back. `structured` must match the tool's output schema and exists just where there is one.

    With `input_required` the call is not over: the client is to answer first, and the rest of the outcome is not looked
    at. Only calls that came without a session may end so; in a session a tool asks and waits. `not_run` says of a call
    that failed that it was refused; its client reads that in the text.
    """

    content: tuple[ContentBlock, ...]
    structured: JsonObject | None = None
    is_error: bool = False
    input_required: InputRequired | None = None
    not_run: bool = False

    @classmethod
    def text(cls, text: str, structured: JsonObject | None = None) -> ToolOutcome:
        """An outcome of one text item."""
        return cls((TextContent(type="text", text=text),), structured)

    @classmethod
    def error(cls, text: str) -> ToolOutcome:
        """A failed call; the text says why."""
        return cls((TextContent(type="text", text=text),), None, True)

    @classmethod
    def ask(cls, required: InputRequired) -> ToolOutcome:
        """No outcome yet: the client has to answer first, and to call again."""
        return cls((), input_required=required)


ToolRun = Callable[[JsonObject, ToolCall], Awaitable[ToolOutcome]]
"""The body of a tool: validated arguments in, outcome out. Raises `ToolError` for what it cannot do."""


class TaskSupport(StrEnum):
    """Whether calls of a tool may go on as tasks, which clients ask after."""

    FORBIDDEN = "forbidden"
    """Every call is answered when it is done."""

    OPTIONAL = "optional"
    """A call becomes a task where the client knows tasks, else it is answered when it is done."""

    REQUIRED = "required"
    """Clients that do not know tasks cannot call it."""


NO_LABELS: Mapping[str, str] = MappingProxyType({})
"""The labels of a tool about which nobody said anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinition:
    """One tool as it is registered. Schemas and labels must not be changed after registration.

    `owner` says who registered it and alone may take it away; `source` says what it was made from (a tool id). `labels`
    are for whoever decides who sees the tool: no client ever does, but two tools with other labels are not equal, since
    the same face may then be shown to others.
    """

    name: str
    description: str
    input_schema: JsonObject
    run: ToolRun
    owner: str
    source: str
    title: str | None = None
    output_schema: JsonObject | None = None
    annotations: ToolAnnotations | None = None
    labels: Mapping[str, str] = field(default_factory=lambda: NO_LABELS)
    task_support: TaskSupport = TaskSupport.FORBIDDEN
    icons: tuple[Icon, ...] = ()

    @property
    def reads_only(self) -> bool:
        """Whether it says of itself that it changes nothing."""
        return self.annotations is not None and self.annotations.read_only_hint is True

    @property
    def destroys(self) -> bool:
        """Whether it says of itself that it may destroy something."""
        return self.annotations is not None and self.annotations.destructive_hint is True

    @property
    def reaches_out(self) -> bool:
        """Whether it says of itself that it reaches beyond the engine."""
        return self.annotations is not None and self.annotations.open_world_hint is True
