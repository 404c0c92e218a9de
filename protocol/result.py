"""From the outcome of a tool to the `result` of a `tools/call`. Owns the rules of each revision for content.

Never cuts a text: opencode does that beyond 50 KiB or 2000 lines, and a tool that can say much pages its answer.
Source: MCP specification, server/tools ("Tool Result") and the change logs of the revisions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from mcp_types import AudioContent, ContentBlock, ResourceLink, TextContent

from protocol.jsonrpc import encodable, encode
from protocol.tool import NotRunError, ToolDefinition, ToolError, ToolOutcome
from protocol.tool_list import ToolEntry
from protocol.versions import REVISIONS, Revision


@dataclass(frozen=True, slots=True)
class WireResult:
    """A result as JSON, and what was wrong with the outcome it was made of.

    A `problem` is a bug of the tool, for the log: the client has got a result that says so, or one that is still right.
    """

    body: bytes
    is_error: bool
    problem: str | None = None


def wire_result(entry: ToolEntry, outcome: ToolOutcome, version: str) -> WireResult:
    """The result of a call as a served version takes it.

    It always holds some text. Content that the version does not know becomes a line of text. Structured content is
    checked against the output schema for every version, so that no client sees fewer bugs than another; where it does
    not match, the result is an error. Raises `KeyError` for a version that is not served, and nothing else.
    """
    problem = None if outcome.is_error else structure_problem(entry, outcome)
    if problem is not None and entry.face.result is not None:
        outcome = ToolOutcome.error(
            f"{entry.definition.name} ran, but its result is malformed; this is a bug of the tool, and the same call "
            f"would fail again. {problem}"
        )
    try:
        return WireResult(_encode(entry.definition, outcome, REVISIONS[version]), outcome.is_error, problem)
    except ValueError as error:
        problem = f"{entry.definition.name}: the outcome cannot be written as JSON: {error}"
        failed = ToolOutcome.error(
            f"{entry.definition.name} ran, but its result cannot be written as JSON; this is a bug of the tool"
        )
        return WireResult(_encode(entry.definition, failed, REVISIONS[version]), True, problem)


def error_result(text: str) -> bytes:
    """The result of a call that did not succeed, as JSON: the same for every version."""
    return encode({"content": [{"type": "text", "text": encodable(text)}], "isError": True})


def outcome_of_error(name: str, error: BaseException) -> ToolOutcome:
    """What a tool that raised leaves behind: the text of a `ToolError`; of anything else that it is a bug of ours."""
    if isinstance(error, ToolError):
        failed = ToolOutcome.error(str(error) or f"{name} could not do what was asked")
        return replace(failed, not_run=True) if isinstance(error, NotRunError) else failed
    return ToolOutcome.error(
        f"{name} failed inside the engine ({type(error).__name__}); this is a bug of the tool, its details are in the "
        "engine's log, and other arguments may avoid it"
    )


def structure_problem(entry: ToolEntry, outcome: ToolOutcome) -> str | None:
    """What is wrong with the structured content of a call that succeeded, or None. Any problem is a bug of the tool."""
    definition, schema = entry.definition, entry.face.result
    if schema is None:
        extra = outcome.structured is not None
        return f"{definition.name} gave structured content, but declares no outputSchema" if extra else None
    if outcome.structured is None:
        return f"{definition.name} declares an outputSchema, but gave no structured content"
    problems = schema.problems(outcome.structured)
    if not problems:
        return None
    return f"structured content does not match the outputSchema: {'; '.join(map(str, problems))}"


def _encode(definition: ToolDefinition, outcome: ToolOutcome, revision: Revision) -> bytes:
    result: dict[str, object] = {"content": _content(outcome, revision)}
    declared = definition.output_schema is not None and outcome.structured is not None
    if declared and revision.structured_content and not outcome.is_error:
        result["structuredContent"] = outcome.structured
    result["isError"] = outcome.is_error
    return encode(result)


def _content(outcome: ToolOutcome, revision: Revision) -> list[object]:
    content = [fit_block(block, revision) for block in outcome.content]
    if any(isinstance(block, TextContent) for block in content):
        return [_text_or_block(block) for block in content]
    # Some clients show text only, and some fail without any.
    if outcome.structured is not None:
        text = encode(outcome.structured).decode()
    else:
        kinds = ", ".join(block.type for block in content)
        text = f"The result is content of type {kinds}." if kinds else "Done; there is nothing to show."
    return [{"type": "text", "text": text}, *content]


def fit_block(block: ContentBlock, revision: Revision) -> ContentBlock:
    """The block itself where the revision knows its type, else a text that stands for it."""
    if isinstance(block, AudioContent) and not revision.audio:
        return _note(f"[audio, {block.mime_type}: protocol version {revision.version} cannot carry it]")
    if isinstance(block, ResourceLink) and not revision.resource_links:
        about = f" ({block.description})" if block.description else ""
        return _note(f"[resource {block.name}{about}: {block.uri}]")
    return block


def _note(text: str) -> TextContent:
    return TextContent(type="text", text=text)


def _text_or_block(block: ContentBlock) -> object:
    """Plain text leaves as a dictionary, which is written faster than the model."""
    if isinstance(block, TextContent) and block.annotations is None and block.meta is None:
        return {"type": "text", "text": encodable(block.text)}
    return block
