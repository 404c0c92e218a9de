"""The suite's prompts, as adapters."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from mcp_types import EmbeddedResource, ImageContent, PromptMessage, TextResourceContents

from presets.app import App
from presets.prompt_adapters import PromptAdapter, text_message
from protocol.completion import Completer, CompletionOutcome
from protocol.input_request import ElicitForm
from protocol.interaction import Interaction
from protocol.prompt import PromptArgument, PromptOutcome, PromptRun
from protocol.session import Audience
from tests.conformance.adapting import PIXEL

_Body = Callable[[Mapping[str, str], Interaction], Awaitable[PromptOutcome]]

_CONTEXT = {"properties": {"context": {"type": "string"}}, "required": ["context"]}

_CITIES = ("paris", "park city", "parma", "prague")


def adapters() -> tuple[PromptAdapter, ...]:
    """The prompts of the suite."""
    return (
        _prompt("test_simple_prompt", _simple, "A prompt without arguments."),
        _prompt(
            "test_prompt_with_arguments",
            _with_arguments,
            "A prompt that says its arguments.",
            _argument("arg1", "The first argument."),
            _argument("arg2", "The second argument."),
            completers={"arg1": _complete_city},
        ),
        _prompt(
            "test_prompt_with_embedded_resource",
            _with_resource,
            "A prompt with a resource inside.",
            _argument("resourceUri", "The uri that the resource is to have."),
        ),
        _prompt("test_prompt_with_image", _with_image, "A prompt with a picture."),
        _prompt("test_input_required_result_prompt", _asking, "A prompt that asks what it is about."),
    )


def more_adapters() -> tuple[PromptAdapter, ...]:
    """The prompts that are there at times."""
    return (_prompt("test_prompt_at_times", _simple, "Is there while the context says so."),)


def _prompt(
    name: str,
    body: _Body,
    description: str,
    *arguments: PromptArgument,
    completers: Mapping[str, Completer] | None = None,
) -> PromptAdapter:
    def make_run(app: App, audience: Audience) -> PromptRun:
        return body

    return PromptAdapter(
        id=f"conformance.{name}",
        name=name,
        make_run=make_run,
        description=description,
        arguments=arguments,
        make_completers=lambda app: completers or {},
    )


def _argument(name: str, description: str) -> PromptArgument:
    return PromptArgument(name=name, description=description, required=True)


async def _complete_city(typed: str, filled_in: Mapping[str, str]) -> CompletionOutcome:
    return CompletionOutcome(tuple(city for city in _CITIES if city.startswith(typed)))


async def _simple(arguments: Mapping[str, str], call: Interaction) -> PromptOutcome:
    return PromptOutcome((text_message("This is a simple prompt for testing."),))


async def _with_arguments(arguments: Mapping[str, str], call: Interaction) -> PromptOutcome:
    said = f"Prompt with arguments: arg1='{arguments['arg1']}', arg2='{arguments['arg2']}'"
    return PromptOutcome((text_message(said),))


async def _with_resource(arguments: Mapping[str, str], call: Interaction) -> PromptOutcome:
    contents = TextResourceContents(uri=arguments["resourceUri"], mime_type="text/plain", text="A resource inside.")
    embedded = PromptMessage(role="user", content=EmbeddedResource(type="resource", resource=contents))
    return PromptOutcome((embedded, text_message("Look at the resource above.")))


async def _with_image(arguments: Mapping[str, str], call: Interaction) -> PromptOutcome:
    picture = PromptMessage(role="user", content=ImageContent(type="image", data=PIXEL, mime_type="image/png"))
    return PromptOutcome((picture, text_message("Look at the picture above.")))


async def _asking(arguments: Mapping[str, str], call: Interaction) -> PromptOutcome:
    given = (await call.ask({"user_context": ElicitForm("What is it about?", _CONTEXT)}))["user_context"]
    return PromptOutcome((text_message(f"It is about this: {given}"),))
