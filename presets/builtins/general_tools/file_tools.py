"""The tools on the workspace folder. Owns how its content is described to a model, and how it is told to go on."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

from pydantic import Field

from engine.files import MAX_ENTRIES, MAX_WRITE_BYTES, FolderPage, TextPage
from engine.printed import MAX_RESULT_LINES
from engine.search import LEFT_OUT_FOLDERS, MAX_MATCHES, MAX_PATTERN_CHARACTERS, SearchResult
from engine.workspace_path import MAX_PATH_CHARACTERS
from presets.adapters import ToolAdapter, typed_adapter
from presets.app import App
from presets.schema import ToolArguments, ToolResult
from protocol.tool import ToolCall

Path = Annotated[str, Field(min_length=1, max_length=MAX_PATH_CHARACTERS)]

_PATH_HELP = "relative to the workspace folder, or absolute inside it. '..' and symbolic links are refused."
_DEFAULT_MATCHES = 200
"""As many as the tool always gave; a model asks for more where it wants them."""


class ReadFileArguments(ToolArguments):
    """Which lines of which file."""

    path: Path = Field(description=f"File, {_PATH_HELP}")
    offset: Annotated[int, Field(ge=1)] = Field(1, description="First line to read; lines count from 1.")
    limit: Annotated[int, Field(ge=1, le=MAX_RESULT_LINES)] = Field(MAX_RESULT_LINES, description="Most lines to read.")


class ReadFileResult(ToolResult):
    """Lines of a text file. Lines count from 1."""

    path: str
    text: str
    first_line: int
    line_count: int
    total_lines: int
    size_bytes: int = Field(description="Of the whole file.")
    next_offset: int | None = Field(None, description="The offset to go on with; left out at the end of the file.")
    note: str | None = Field(None, description="What is missing and how to go on; left out when nothing is missing.")


class ListFilesArguments(ToolArguments):
    """Which entries of which folder."""

    path: Path = Field(".", description=f"Folder, {_PATH_HELP}")
    offset: Annotated[int, Field(ge=0)] = Field(0, description="Entries to skip.")
    limit: Annotated[int, Field(ge=1, le=MAX_ENTRIES)] = Field(MAX_ENTRIES, description="Most entries to list.")


class FileEntryResult(ToolResult):
    """An entry of a folder."""

    name: str
    path: str = Field(description="As the other file tools take it.")
    kind: Literal["file", "folder", "link", "other"]
    size_bytes: int | None = Field(None, description="Of files only.")


class ListFilesResult(ToolResult):
    """Entries of a folder, in order of their names."""

    path: str
    entries: tuple[FileEntryResult, ...]
    total: int = Field(description="How many entries the folder has in all.")
    next_offset: int | None = Field(None, description="The offset to go on with; left out at the end.")
    note: str | None = Field(None, description="What is missing and how to go on; left out when nothing is missing.")


class SearchArguments(ToolArguments):
    """What to look for, and where."""

    pattern: str = Field(
        description="Regular expression of grep -E, matched within one line. Write [0-9] for a digit, not \\d.",
        min_length=1,
        max_length=MAX_PATTERN_CHARACTERS,
    )
    path: Path = Field(".", description=f"Folder or file to search, {_PATH_HELP}")
    include: Annotated[str, Field(min_length=1, max_length=100)] | None = Field(
        None, description="Only files whose name matches this glob, such as '*.py'."
    )
    limit: Annotated[int, Field(ge=1, le=MAX_MATCHES)] = Field(_DEFAULT_MATCHES, description="Most matches to give.")


class MatchResult(ToolResult):
    """A line that matches. Long lines are cut."""

    path: str
    line: int
    text: str


class SearchFilesResult(ToolResult):
    """The first matches, in order of path and line."""

    matches: tuple[MatchResult, ...]
    total: int = Field(description="How many lines match in all.")
    total_is_exact: bool = Field(description="False when there are even more: the search was ended at that many.")
    note: str | None = Field(None, description="What is missing and how to go on; left out when nothing is missing.")


class WriteFileArguments(ToolArguments):
    """Which file, and what it shall hold."""

    path: Path = Field(description=f"File, {_PATH_HELP} An existing file is replaced.")
    content: str = Field(description="The whole new content of the file.", max_length=MAX_WRITE_BYTES)
    create_folders: bool = Field(False, description="true makes folders on the way that are missing.")


class WriteFileResult(ToolResult):
    """The file as it is now."""

    path: str
    size_bytes: int
    created: bool = Field(description="Whether the file is new.")
    changed: bool = Field(description="False when the file held exactly that already.")


async def read_file(app: App, arguments: ReadFileArguments, call: ToolCall) -> ReadFileResult:
    """Body of `space_app_read_file`."""
    page = await app.in_thread(partial(app.files.read_text, arguments.path, arguments.offset, arguments.limit))
    return ReadFileResult(
        path=page.path,
        text=page.text,
        first_line=page.first_line,
        line_count=page.line_count,
        total_lines=page.total_lines,
        size_bytes=page.size_bytes,
        next_offset=page.next_offset,
        note=_reading_note(page),
    )


def _reading_note(page: TextPage) -> str | None:
    on = "" if page.next_offset is None else f" Go on with offset {page.next_offset}."
    if page.line_is_cut:
        return f"Line {page.first_line} is too long to be given whole; this is its beginning.{on}"
    if page.next_offset is None:
        return None
    return f"Lines {page.first_line} to {page.next_offset - 1} of {page.total_lines}.{on}"


async def list_files(app: App, arguments: ListFilesArguments, call: ToolCall) -> ListFilesResult:
    """Body of `space_app_list_files`."""
    page = await app.in_thread(partial(app.files.list, arguments.path, arguments.offset, arguments.limit))
    return ListFilesResult(
        path=page.path,
        entries=tuple(
            FileEntryResult.model_validate(
                {"name": entry.name, "path": entry.path, "kind": entry.kind, "size_bytes": entry.size_bytes}
            )
            for entry in page.entries
        ),
        total=page.total,
        next_offset=page.next_offset,
        note=_listing_note(page),
    )


def _listing_note(page: FolderPage) -> str | None:
    if page.next_offset is None:
        return None
    return f"Entries {page.offset + 1} to {page.next_offset} of {page.total}. Go on with offset {page.next_offset}."


async def search(app: App, arguments: SearchArguments, call: ToolCall) -> SearchFilesResult:
    """Body of `space_app_search`."""
    found = await app.in_thread(
        partial(app.files.search, arguments.pattern, arguments.path, arguments.include, arguments.limit)
    )
    return SearchFilesResult(
        matches=tuple(MatchResult(path=match.path, line=match.line, text=match.text) for match in found.matches),
        total=found.total,
        total_is_exact=found.total_is_exact,
        note=_search_note(found),
    )


def _search_note(found: SearchResult) -> str | None:
    shown = len(found.matches)
    if shown == found.total and found.total_is_exact:
        return None if shown else "No line matches."
    more = "" if found.total_is_exact else " or more"
    ended = found.ended_in
    where = (
        ""
        if ended is None
        else f" The search ended at line {ended.line} of {ended.path!r}, which is too long to be shown whole."
    )
    return f"{shown} of {found.total}{more} matches.{where} Narrow the search with path, include or pattern."


async def write_file(app: App, arguments: WriteFileArguments, call: ToolCall) -> WriteFileResult:
    """Body of `space_app_write_file`."""
    written = await app.in_thread(
        partial(app.files.write_text, arguments.path, arguments.content, create_folders=arguments.create_folders)
    )
    return WriteFileResult(
        path=written.path, size_bytes=written.size_bytes, created=written.created, changed=written.changed
    )


def adapters() -> tuple[ToolAdapter, ...]:
    """Every adapter of this topic."""
    return (
        typed_adapter(
            id="app.read-file",
            mcp_name="space_app_read_file",
            title="Read file",
            description="Read lines of a UTF-8 text file in the workspace folder. Long files come in pages.",
            arguments=ReadFileArguments,
            result=ReadFileResult,
            run=read_file,
            read_only=True,
        ),
        typed_adapter(
            id="app.list-files",
            mcp_name="space_app_list_files",
            title="List files",
            description="List a folder in the workspace folder, without what is in its folders.",
            arguments=ListFilesArguments,
            result=ListFilesResult,
            run=list_files,
            read_only=True,
        ),
        typed_adapter(
            id="app.search",
            mcp_name="space_app_search",
            title="Search files",
            description=(
                "Search the text files of the workspace folder by regular expression. "
                f"Folders named {', '.join(LEFT_OUT_FOLDERS)} are left out unless the search starts inside one."
            ),
            arguments=SearchArguments,
            result=SearchFilesResult,
            run=search,
            read_only=True,
        ),
        typed_adapter(
            id="app.write-file",
            mcp_name="space_app_write_file",
            title="Write file",
            description="Write a text file in the workspace folder, whole or not at all. An existing one is replaced.",
            arguments=WriteFileArguments,
            result=WriteFileResult,
            run=write_file,
            idempotent=True,
        ),
    )
