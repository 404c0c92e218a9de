"""A prompt as MCP knows it: messages that a user can ask for by name. Owns these values, and the check of arguments.

Source: MCP specification, server/prompts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import cast

from mcp_types import Icon, PromptMessage

from protocol.completion import Completer
from protocol.input_request import InputRequired
from protocol.interaction import Interaction
from protocol.jsonrpc import json_type
from protocol.schema import closest, preview
from protocol.tool import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptArgument:
    """One argument of a prompt, always a text."""

    name: str
    description: str | None = None
    required: bool = False
    title: str | None = None
    completer: Completer | None = None


@dataclass(frozen=True, slots=True)
class PromptOutcome:
    """What a prompt gives: messages, and what they are for.

    With `input_required` there are none yet: the client is to answer first. Only without a session.
    """

    messages: tuple[PromptMessage, ...]
    description: str | None = None
    input_required: InputRequired | None = None


PromptRun = Callable[[Mapping[str, str], Interaction], Awaitable[PromptOutcome]]
"""The body of a prompt: checked arguments in, messages out. Raises `ToolError` for what it cannot do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptDefinition:
    """One prompt as it is registered. `owner` and `source` as those of a tool."""

    name: str
    run: PromptRun
    owner: str
    source: str
    title: str | None = None
    description: str | None = None
    arguments: tuple[PromptArgument, ...] = ()
    icons: tuple[Icon, ...] = ()

    @property
    def key(self) -> str:
        """The name."""
        return self.name

    def argument(self, name: str) -> PromptArgument | None:
        """The argument of that name, or None."""
        return next((argument for argument in self.arguments if argument.name == name), None)


@dataclass(frozen=True, slots=True)
class PreparedPrompt:
    """A prompt with arguments that it takes. Run it as `definition.run(arguments, interaction)`."""

    definition: PromptDefinition
    arguments: Mapping[str, str]


def prepare_prompt(definition: PromptDefinition, arguments: JsonObject) -> PreparedPrompt | str:
    """A prompt with its arguments; or what is wrong with them, as a sentence."""
    names = [argument.name for argument in definition.arguments]
    for name, value in cast("Mapping[str, object]", arguments).items():
        if name not in names:
            meant = closest(name, names)
            hint = f"did you mean {preview(meant)}?" if meant else f"it takes {', '.join(names) or 'none'}"
            return f"prompt {preview(definition.name)} has no argument {preview(name)}; {hint}"
        if not isinstance(value, str):
            return f"argument {preview(name)} must be a string, not {json_type(value)}"
    needed = (argument.name for argument in definition.arguments if argument.required)
    missing = [name for name in needed if name not in arguments]
    if missing:
        return f"prompt {preview(definition.name)} needs the argument {', '.join(map(preview, missing))}"
    return PreparedPrompt(definition, cast("Mapping[str, str]", arguments))
