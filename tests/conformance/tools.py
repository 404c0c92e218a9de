"""The suite's tools that need nobody's answer: kinds of content, progress, log messages, schemas, lists that change."""

from __future__ import annotations

import trio
from mcp_types import AudioContent, EmbeddedResource, ImageContent, TextContent, TextResourceContents

from presets.adapters import ToolAdapter
from presets.app import App
from protocol.interaction import Interaction
from protocol.log_level import LogLevel
from protocol.tool import JsonObject, ToolError, ToolOutcome
from tests.conformance.adapting import PIXEL, tool

MORE_TOOLS, MORE_PROMPTS = "more_tools", "more_prompts"
"""Facts of the context under which one more preset is active."""

SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA="
"""A WAV without samples, as base64."""

STEP_SECONDS = 0.02
"""Between two messages of one call; the suite waits 0.5 s for the shortest of them."""

AWAY_SECONDS = 0.3
"""How long the tool that hangs up works on: longer than its client needs to notice, far less than it waits."""

CONTACT_SCHEMA: JsonObject = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
"""Every construct of JSON Schema 2020-12 that has to reach a client as it was written."""


def adapters() -> tuple[ToolAdapter, ...]:
    """The tools of this module."""
    return (
        tool("test_simple_text", _text, "Answers with a line of text."),
        tool("test_image_content", _image, "Answers with a picture."),
        tool("test_audio_content", _audio, "Answers with a sound."),
        tool("test_embedded_resource", _embedded, "Answers with a resource inside the result."),
        tool("test_multiple_content_types", _several, "Answers with text, a picture and a resource."),
        tool("test_error_handling", _failing, "Cannot do what it is asked, and says so."),
        tool("test_tool_with_progress", _progress, "Says three times how far it is."),
        tool("test_tool_with_logging", _logging, "Logs three messages."),
        tool("test_logging_tool", _logging, "Logs three messages, for clients that want them with one request."),
        tool("test_reconnection", _away, "Lets its client go, and answers when it has come back."),
        tool(
            "test_header_tool",
            _text,
            "Takes an argument that travels in a header as well.",
            properties={"region": {"type": "string", "x-mcp-header": "Region"}},
        ),
        tool("json_schema_2020_12_tool", _text, "Takes a contact, by phone or by mail.", schema=CONTACT_SCHEMA),
        tool("test_trigger_tool_change", _change_tools, "Makes the list of tools change."),
        tool("test_trigger_prompt_change", _change_prompts, "Makes the list of prompts change."),
    )


def more_adapters() -> tuple[ToolAdapter, ...]:
    """The tools that are there at times."""
    return (tool("test_tool_at_times", _text, "Is there while the context says so."),)


async def _text(app: App, arguments: JsonObject, call: Interaction) -> ToolOutcome:
    return ToolOutcome.text("This is a simple text response for testing.")


async def _image(app: App, arguments: JsonObject, call: Interaction) -> ToolOutcome:
    return ToolOutcome((_picture(),))


async def _audio(app: App, arguments: JsonObject, call: Interaction) -> ToolOutcome:
    return ToolOutcome((AudioContent(type="audio", data=SILENCE, mime_type="audio/wav"),))


async def _embedded(app: App, arguments: JsonObject, call: Interaction) -> ToolOutcome:
    return ToolOutcome((_resource(),))


async def _several(app: App, arguments: JsonObject, call: Interaction) -> ToolOutcome:
    return ToolOutcome((TextContent(type="text", text="Three kinds of content."), _picture(), _resource()))


async def _failing(app: App, arguments: JsonObject, call: Interaction) -> ToolOutcome:
    raise ToolError("This tool intentionally returns an error for testing.")


async def _progress(app: App, arguments: JsonObject, call: Interaction) -> ToolOutcome:
    for done in (0, 50, 100):
        await call.progress(done, 100, f"{done} of 100")
        await trio.sleep(STEP_SECONDS)
    return ToolOutcome.text("All of it is done.")


async def _logging(app: App, arguments: JsonObject, call: Interaction) -> ToolOutcome:
    for message in ("started", "working", "finished"):
        await call.log(LogLevel.INFO, message, "conformance")
        await trio.sleep(STEP_SECONDS)
    return ToolOutcome.text("Three messages were logged.")


async def _away(app: App, arguments: JsonObject, call: Interaction) -> ToolOutcome:
    await call.hang_up()
    await trio.sleep(AWAY_SECONDS)
    return ToolOutcome.text("Welcome back.")


async def _change_tools(app: App, arguments: JsonObject, call: Interaction) -> ToolOutcome:
    return await _turn(app, MORE_TOOLS)


async def _change_prompts(app: App, arguments: JsonObject, call: Interaction) -> ToolOutcome:
    return await _turn(app, MORE_PROMPTS)


async def _turn(app: App, fact: str) -> ToolOutcome:
    """Let a fact be true that was not, or the other way round: the list changes as it does for a user."""
    now = not (await app.get_context()).facts().get(fact)
    await app.patch_context({fact: now})
    return ToolOutcome.text(f"{fact} is {now} now.")


def _picture() -> ImageContent:
    return ImageContent(type="image", data=PIXEL, mime_type="image/png")


def _resource() -> EmbeddedResource:
    contents = TextResourceContents(uri="test://embedded-resource", mime_type="text/plain", text="A resource inside.")
    return EmbeddedResource(type="resource", resource=contents)
