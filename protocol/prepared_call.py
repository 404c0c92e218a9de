"""From a tool's name and arguments to a call that may run. Owns the check before a tool; runs nothing."""

from __future__ import annotations

from dataclasses import dataclass

from protocol.schema import Problem, closest, preview
from protocol.tool import JsonObject
from protocol.tool_list import ToolEntry, ToolList


@dataclass(frozen=True, slots=True)
class PreparedCall:
    """A call of a visible tool with arguments that match its schema. Run it as `entry.definition.run(arguments, …)`."""

    entry: ToolEntry
    arguments: JsonObject


@dataclass(frozen=True, slots=True)
class UnknownTool:
    """No visible tool has that name. `suggestion` is the visible name that comes nearest, where one is near."""

    name: str
    suggestion: str | None

    def __str__(self) -> str:
        hint = (
            "tools/list names those that exist now" if self.suggestion is None else f"did you mean {self.suggestion!r}?"
        )
        return f"Unknown tool {preview(self.name)}; {hint}"


@dataclass(frozen=True, slots=True)
class InvalidArguments:
    """The tool exists, but its arguments do not match its schema. The tool was not run."""

    name: str
    problems: tuple[Problem, ...]

    def __str__(self) -> str:
        return "\n".join(
            (f"Invalid arguments for {self.name}; it was not run:", *(f"- {text}" for text in self.problems))
        )


def prepare_call(
    tools: ToolList, name: str, arguments: JsonObject | None
) -> PreparedCall | UnknownTool | InvalidArguments:
    """Look the tool up and check its arguments; None stands for no arguments. Never raises."""
    entry = tools.get(name)
    if entry is None:
        return UnknownTool(name, closest(name, tools.names))
    given: JsonObject = {} if arguments is None else arguments
    problems = entry.face.arguments.problems(given)
    return InvalidArguments(name, problems) if problems else PreparedCall(entry, given)
