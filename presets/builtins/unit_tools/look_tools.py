"""The tools that look at units: list, find, inspect, read a source, read the log. None of them changes anything."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from engine.errors import InvalidArgumentError
from engine.printed import MAX_RESULT_BYTES, MAX_RESULT_LINES, printed_size
from engine.units.log import MAX_LINES
from presets.adapters import ToolAdapter, typed_adapter
from presets.app import App
from presets.builtins.unit_tools.results import (
    FilePath,
    FileResult,
    UnitName,
    UnitResult,
    file_results,
    unit_result,
)
from presets.schema import ToolArguments, ToolResult
from protocol.tool import ToolCall

DEFAULT_CANDIDATES = 20
"""Units that a description may mean; more would be a list to read instead of an answer."""


class NoArguments(ToolArguments):
    """Nothing to say."""


class UnitListResult(ToolResult):
    """Every unit, sorted by name."""

    units: tuple[UnitResult, ...]


class ResolveArguments(ToolArguments):
    """What the unit is about."""

    description: str = Field(min_length=1, max_length=1000, description="What it does, in words.")
    limit: Annotated[int, Field(ge=0, le=200)] = Field(DEFAULT_CANDIDATES, description="Most candidates.")


class CandidateResult(ToolResult):
    """A unit that may be meant."""

    unit_id: str
    confidence: float = Field(description="Share of the words that were found, 0 to 1.")
    evidence: str


class ResolveResult(ToolResult):
    """The units that may be meant, the likeliest first."""

    candidates: tuple[CandidateResult, ...]


class UnitArguments(ToolArguments):
    """Which unit."""

    unit_id: UnitName


class InspectResult(UnitResult):
    """A unit from near."""

    folder: str
    report: str | None = Field(None, description="The problem with its traceback.")
    presets: tuple[str, ...]
    facts: tuple[str, ...]
    prompt_blocks: tuple[str, ...]
    hooks: tuple[str, ...]
    files: tuple[FileResult, ...]
    snapshots: tuple[str, ...] = Field(description="Of its files, the oldest first.")
    state_keys: tuple[str, ...] = Field(description="What it keeps in the active world.")


class ReadSourceArguments(UnitArguments):
    """Which file of which unit, and from which line on."""

    path: FilePath
    offset: Annotated[int, Field(ge=1)] = Field(1, description="First line.")
    limit: Annotated[int, Field(ge=1, le=MAX_RESULT_LINES)] = Field(MAX_RESULT_LINES, description="Most lines.")


class ReadSourceResult(ToolResult):
    """Lines of the file."""

    unit_id: str
    path: str
    text: str
    first_line: int
    total_lines: int
    hash: str = Field(description="Of the whole file.")
    next_offset: int | None = Field(None, description="Line to go on with; left out at the end.")


class ReadLogArguments(UnitArguments):
    """Which lines of the log."""

    lines: Annotated[int, Field(ge=1, le=MAX_LINES)] | None = Field(None, description="So many from the end.")
    offset: Annotated[int, Field(ge=1)] | None = Field(None, description="From this line on, instead.")
    limit: Annotated[int, Field(ge=1, le=MAX_LINES)] | None = Field(None, description="Most lines.")
    grep: str | None = Field(None, description="Only lines that hold this text.", max_length=200)


class LogLineResult(ToolResult):
    """One line."""

    line: int
    text: str


class ReadLogResult(ToolResult):
    """Lines of the log with their numbers."""

    lines: tuple[LogLineResult, ...]
    total_lines: int


async def list_units(app: App, arguments: NoArguments, call: ToolCall) -> UnitListResult:
    """Body of `space_unit_list`."""
    return UnitListResult(units=tuple(unit_result(row) for row in app.units.rows()))


async def resolve(app: App, arguments: ResolveArguments, call: ToolCall) -> ResolveResult:
    """Body of `space_unit_resolve`."""
    found = app.units.resolve(arguments.description, arguments.limit)
    return ResolveResult(
        candidates=tuple(
            CandidateResult(unit_id=one.unit, confidence=one.confidence, evidence=one.evidence) for one in found
        )
    )


async def inspect(app: App, arguments: UnitArguments, call: ToolCall) -> InspectResult:
    """Body of `space_unit_inspect`."""
    look = await app.units.look(arguments.unit_id)
    row = look.row
    return InspectResult(
        **unit_result(row).model_dump(),
        folder=row.folder,
        report=row.report,
        presets=row.presets,
        facts=row.facts,
        prompt_blocks=row.blocks,
        hooks=row.hooks,
        files=file_results(look.files),
        snapshots=look.snapshots,
        state_keys=look.state_keys,
    )


async def read_source(app: App, arguments: ReadSourceArguments, call: ToolCall) -> ReadSourceResult:
    """Body of `space_unit_read_source`."""
    read = await app.units.read_source(arguments.unit_id, arguments.path)
    lines = read.text.splitlines(keepends=True)
    if arguments.offset > max(1, len(lines)):
        raise InvalidArgumentError(
            f"offset {arguments.offset} is beyond the end: {read.path!r} has {len(lines)} lines."
        )
    taken: list[str] = []
    room = MAX_RESULT_BYTES
    for line in lines[arguments.offset - 1 : arguments.offset - 1 + arguments.limit]:
        room -= printed_size(line)
        if room < 0 and taken:
            break
        taken.append(line)
    after = arguments.offset + len(taken)
    return ReadSourceResult(
        unit_id=read.unit,
        path=read.path,
        text="".join(taken),
        first_line=arguments.offset,
        total_lines=len(lines),
        hash=read.hash,
        next_offset=after if after <= len(lines) else None,
    )


async def read_log(app: App, arguments: ReadLogArguments, call: ToolCall) -> ReadLogResult:
    """Body of `space_unit_read_log`."""
    page = await app.units.read_log(
        arguments.unit_id,
        last=arguments.lines,
        offset=arguments.offset,
        limit=arguments.limit,
        grep=arguments.grep,
    )
    return ReadLogResult(
        lines=tuple(LogLineResult(line=number, text=text) for number, text in page.lines), total_lines=page.total
    )


def adapters() -> tuple[ToolAdapter, ...]:
    """Every adapter of this topic."""
    return (
        typed_adapter(
            id="unit.list",
            mcp_name="space_unit_list",
            title="List units",
            description="List the units: what they offer, and which cannot be loaded and why.",
            arguments=NoArguments,
            result=UnitListResult,
            run=list_units,
            read_only=True,
        ),
        typed_adapter(
            id="unit.resolve",
            mcp_name="space_unit_resolve",
            title="Find unit",
            description="Find the unit that a description in words means.",
            arguments=ResolveArguments,
            result=ResolveResult,
            run=resolve,
            read_only=True,
        ),
        typed_adapter(
            id="unit.inspect",
            mcp_name="space_unit_inspect",
            title="Inspect unit",
            description="Look at one unit: its files with their hashes, what it contributes and keeps, its problem.",
            arguments=UnitArguments,
            result=InspectResult,
            run=inspect,
            read_only=True,
        ),
        typed_adapter(
            id="unit.read-source",
            mcp_name="space_unit_read_source",
            title="Read unit source",
            description="Read a file of a unit. Long files come in pages.",
            arguments=ReadSourceArguments,
            result=ReadSourceResult,
            run=read_source,
            read_only=True,
        ),
        typed_adapter(
            id="unit.read-log",
            mcp_name="space_unit_read_log",
            title="Read unit log",
            description=(
                "Read lines of a unit's log, the last ones unless told otherwise: loads, tracebacks, whole outputs of "
                "its tests, what its tools log."
            ),
            arguments=ReadLogArguments,
            result=ReadLogResult,
            run=read_log,
            read_only=True,
        ),
    )
