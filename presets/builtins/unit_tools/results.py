"""What the tools on units have in common: names of arguments, and the forms of units and files in results."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from engine.units.source import SourceFile
from engine.workspace_path import MAX_PATH_CHARACTERS
from presets.schema import ToolResult
from presets.unit_shop import UnitRow

UnitName = Annotated[str, Field(min_length=1, max_length=100, description="The unit, as space_unit_list names it.")]

FilePath = Annotated[
    str,
    Field(
        min_length=1, max_length=MAX_PATH_CHARACTERS, description="File within the unit, such as tests/test_unit.py."
    ),
]

FileHash = Annotated[
    str | None,
    Field(default=None, description="Refuse if the file has another hash by now; space_unit_read_source gives it."),
]


class UnitResult(ToolResult):
    """A unit at a glance."""

    unit_id: str
    kind: str
    state: str = Field(
        description="loaded; stale (what is on disk cannot be loaded, the version before it runs); broken; loading; "
        "disabled."
    )
    version: int = Field(description="Counts its loads.")
    title: str | None = None
    description: str | None = None
    problem: str | None = Field(None, description="Why what is on disk is not loaded.")
    tools: tuple[str, ...] = ()


class FileResult(ToolResult):
    """One file of a unit."""

    path: str
    size_bytes: int
    hash: str


def unit_result(row: UnitRow) -> UnitResult:
    """The unit in a result."""
    return UnitResult(
        unit_id=row.name,
        kind=row.kind,
        state=row.state.value,
        version=row.version,
        title=row.title,
        description=row.description or None,
        problem=row.problem,
        tools=row.tools,
    )


def file_results(files: tuple[SourceFile, ...]) -> tuple[FileResult, ...]:
    """The files in a result."""
    return tuple(FileResult(path=file.path, size_bytes=file.size_bytes, hash=file.hash) for file in files)
