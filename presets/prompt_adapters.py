"""Prompt adapters: a stable id, and how it becomes messages that a user asks for by name. Owns the adapter alone.

Presets name the ids, as they do those of tools. What a preset adds to the prompt of its agents is offered as a prompt
too, without any adapter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from mcp_types import Icon, PromptMessage, TextContent

from engine.errors import EngineError, InvalidArgumentError, NotFoundError
from presets.adapter_registry import AdapterRegistry
from presets.app import App
from presets.tool_labels import UNLABELLED, ToolLabels
from protocol.completion import Completer
from protocol.interaction import Interaction
from protocol.prompt import PromptArgument, PromptDefinition, PromptOutcome, PromptRun
from protocol.session import EVERYBODY, Audience
from protocol.tool import ToolError

MakePromptRun = Callable[[App, Audience], PromptRun]
"""Gives the body for whoever asks."""

PRESET_PROMPT_PREFIX = "space_preset_"
"""What stands before a preset's name in the name of its prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedPrompt(PromptDefinition):
    """A prompt of a preset. `bind` gives the body for an audience."""

    labels: ToolLabels = UNLABELLED
    bind: Callable[[Audience], PromptRun] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptAdapter:
    """How one id becomes a prompt. `make_completers` gives what suggests values, by argument."""

    id: str
    name: str
    make_run: MakePromptRun
    title: str | None = None
    description: str | None = None
    arguments: tuple[PromptArgument, ...] = ()
    icons: tuple[Icon, ...] = ()
    make_completers: Callable[[App], Mapping[str, Completer]] | None = None

    def check(self) -> None:
        """Raise `InvalidArgumentError` for a prompt without a name, or with arguments that share one."""
        if not self.name.strip():
            raise InvalidArgumentError(f"prompt adapter {self.id!r} needs a name that is not empty")
        names = [argument.name for argument in self.arguments]
        if len(set(names)) != len(names) or not all(names):
            raise InvalidArgumentError(f"prompt adapter {self.id!r}: its arguments must have names that differ")

    def make(self, app: App, labels: ToolLabels, owner: str) -> OfferedPrompt:
        """The definition, with the id as its source. Raises `InvalidArgumentError` for a completer of none."""
        completers: Mapping[str, Completer] = {} if self.make_completers is None else self.make_completers(app)
        unknown = sorted(set(completers) - {argument.name for argument in self.arguments})
        if unknown:
            raise InvalidArgumentError(f"prompt adapter {self.id!r} has no argument {unknown[0]!r} to complete")

        def bind(audience: Audience) -> PromptRun:
            return _guarded(self.make_run(app, audience))

        return OfferedPrompt(
            name=self.name,
            run=bind(EVERYBODY),
            owner=owner,
            source=self.id,
            title=self.title,
            description=self.description,
            arguments=tuple(
                replace(argument, completer=completers.get(argument.name, argument.completer))
                for argument in self.arguments
            ),
            icons=self.icons,
            labels=labels,
            bind=bind,
        )


def prompt_adapters() -> AdapterRegistry[PromptAdapter]:
    """An empty registry of prompt adapters."""
    return AdapterRegistry("prompt")


def prompt_for(definition: PromptDefinition, audience: Audience) -> PromptDefinition:
    """The same prompt with a body for that audience."""
    if isinstance(definition, OfferedPrompt) and definition.bind is not None:
        return replace(definition, run=definition.bind(audience))
    return definition


def preset_prompt(preset: str, text: str, labels: ToolLabels, owner: str) -> OfferedPrompt:
    """What a preset says to its agents, for a user to give to another one."""

    async def run(arguments: Mapping[str, str], call: Interaction) -> PromptOutcome:
        return PromptOutcome((text_message(text),))

    return OfferedPrompt(
        name=f"{PRESET_PROMPT_PREFIX}{preset}",
        run=run,
        owner=owner,
        source=f"preset:{preset}",
        title=f"Preset {preset}",
        description=f"What the preset {preset} tells an agent that has its tools.",
        labels=labels,
    )


def text_message(text: str, role: str = "user") -> PromptMessage:
    """One message of text. There are two roles; whatever the assistant did not say, somebody told it."""
    return PromptMessage(
        role="assistant" if role == "assistant" else "user", content=TextContent(type="text", text=text)
    )


def _guarded(run: PromptRun) -> PromptRun:
    """A body whose refusals are those that callers know."""

    async def guarded(arguments: Mapping[str, str], call: Interaction) -> PromptOutcome:
        try:
            return await run(arguments, call)
        except (InvalidArgumentError, NotFoundError):
            # What was asked with is at fault, which the runner of a request tells apart.
            raise
        except EngineError as error:
            raise ToolError(str(error)) from error

    return guarded
