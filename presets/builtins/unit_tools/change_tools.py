"""The tools that change units: create, edit, patch, add a source, restore, snapshot, reload. What they write is loaded
and runs in the engine.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from engine.units.folder import MAX_SOURCE_BYTES
from engine.units.manifest import MANIFEST
from engine.units.patch import MAX_PATCH_CHARACTERS
from presets.adapters import ToolAdapter, typed_adapter
from presets.app import App
from presets.builtins.unit_tools.look_tools import UnitArguments
from presets.builtins.unit_tools.results import (
    FileHash,
    FilePath,
    FileResult,
    UnitName,
    UnitResult,
    file_results,
    unit_result,
)
from presets.schema import ToolArguments, ToolResult
from presets.unit_shop import ChangedUnit, UnitChange
from protocol.tool import ToolCall


class ChangedResult(ToolResult):
    """A change that stands."""

    unit: UnitResult
    files: tuple[FileResult, ...] = Field(description="The files that were written, as they are now.")
    deleted: tuple[str, ...]
    snapshot: str | None = Field(None, description="space_unit_restore with it takes the change back.")
    reloaded: bool = Field(description="false where only tests were changed, or nothing.")


class CreateArguments(ToolArguments):
    """A new unit."""

    unit_id: str = Field(description="Its name: small letters, digits and dashes, such as star-map.", max_length=100)
    source: str | None = Field(
        None, description="The content of unit.py. Left out, a small example is made.", max_length=MAX_SOURCE_BYTES
    )
    manifest: str | None = Field(None, description="The content of unit.toml.", max_length=10_000)
    tests: str | None = Field(None, description="The content of tests/test_unit.py.", max_length=MAX_SOURCE_BYTES)


class EditArguments(ToolArguments):
    """A whole file."""

    unit_id: UnitName
    path: FilePath
    source: str = Field(description="The whole new content.", max_length=MAX_SOURCE_BYTES)
    expected_hash: FileHash


class CreateSourceArguments(ToolArguments):
    """A file that is new."""

    unit_id: UnitName
    path: FilePath
    source: str = Field(description="Its content.", max_length=MAX_SOURCE_BYTES)


class PatchArguments(ToolArguments):
    """Either a patch, or a piece of one file and what takes its place."""

    unit_id: UnitName
    path: FilePath | None = Field(None, description="The file; needed with old and new.")
    patch: str | None = Field(
        None,
        description="Unified diff of one or more files (--- a/x, +++ b/x, @@ -3,2 +3,3 @@). Names lie within the unit.",
        max_length=MAX_PATCH_CHARACTERS,
    )
    old: str | None = Field(None, description="Text that stands exactly once in the file.", max_length=MAX_SOURCE_BYTES)
    new: str | None = Field(None, description="What takes its place.", max_length=MAX_SOURCE_BYTES)
    anywhere: bool = Field(
        False, description="true lets a hunk stand at another line than it says, where its lines occur only once."
    )
    expected_hash: FileHash


class RestoreArguments(ToolArguments):
    """Back to which snapshot."""

    unit_id: UnitName
    snapshot: str = Field(description="Its id, such as snapshot-3.", max_length=100)


class SnapshotResult(ToolResult):
    """The snapshot, and what the unit keeps in the active world."""

    unit_id: str
    snapshot: str
    taken_at: str
    files: tuple[str, ...]
    supported: bool = Field(description="Whether the unit has a state: always, since it lies in the world.")
    state: dict[str, Any] = Field(description="What it keeps in the active world, by key.")


class ReloadResult(ToolResult):
    """The unit as it runs now."""

    unit: UnitResult


async def create(app: App, arguments: CreateArguments, call: ToolCall) -> ChangedResult:
    """Body of `space_unit_create`."""
    files: dict[str, str] | None = None
    if arguments.source is not None:
        files = {MANIFEST: arguments.manifest or "", "unit.py": arguments.source}
        if arguments.tests is not None:
            files["tests/test_unit.py"] = arguments.tests
    return _changed(await app.units.create(arguments.unit_id, files))


async def edit(app: App, arguments: EditArguments, call: ToolCall) -> ChangedResult:
    """Body of `space_unit_edit`."""
    return _changed(
        await app.units.change(
            arguments.unit_id,
            UnitChange(
                reason=f"edit {arguments.path}",
                files={arguments.path: arguments.source},
                path=arguments.path,
                expected_hash=arguments.expected_hash,
                must_exist=True,
            ),
        )
    )


async def create_source(app: App, arguments: CreateSourceArguments, call: ToolCall) -> ChangedResult:
    """Body of `space_unit_create_source`."""
    return _changed(
        await app.units.change(
            arguments.unit_id,
            UnitChange(reason=f"create {arguments.path}", files={arguments.path: arguments.source}, must_be_new=True),
        )
    )


async def apply_patch(app: App, arguments: PatchArguments, call: ToolCall) -> ChangedResult:
    """Body of `space_unit_apply_patch`."""
    return _changed(
        await app.units.change(
            arguments.unit_id,
            UnitChange(
                reason="patch",
                path=arguments.path,
                patch=arguments.patch,
                old=arguments.old,
                new=arguments.new,
                anywhere=arguments.anywhere,
                expected_hash=arguments.expected_hash,
            ),
        )
    )


async def restore(app: App, arguments: RestoreArguments, call: ToolCall) -> ChangedResult:
    """Body of `space_unit_restore`."""
    return _changed(await app.units.restore(arguments.unit_id, arguments.snapshot))


async def snapshot(app: App, arguments: UnitArguments, call: ToolCall) -> SnapshotResult:
    """Body of `space_unit_snapshot`."""
    taken = await app.units.snapshot(arguments.unit_id)
    return SnapshotResult(
        unit_id=taken.snapshot.unit,
        snapshot=taken.snapshot.id,
        taken_at=taken.snapshot.taken_at,
        files=tuple(taken.snapshot.files),
        supported=True,
        state=dict(taken.state),
    )


async def reload(app: App, arguments: UnitArguments, call: ToolCall) -> ReloadResult:
    """Body of `space_unit_reload`."""
    return ReloadResult(unit=unit_result(await app.units.reload(arguments.unit_id)))


def _changed(changed: ChangedUnit) -> ChangedResult:
    return ChangedResult(
        unit=unit_result(changed.row),
        files=file_results(changed.files),
        deleted=changed.deleted,
        snapshot=changed.snapshot,
        reloaded=changed.reloaded,
    )


def adapters() -> tuple[ToolAdapter, ...]:
    """Every adapter of this topic."""
    return (
        typed_adapter(
            id="unit.create",
            mcp_name="space_unit_create",
            title="Create unit",
            description="Make a new unit and load it. When it does not load, nothing of it is left.",
            arguments=CreateArguments,
            result=ChangedResult,
            run=create,
        ),
        typed_adapter(
            id="unit.edit",
            mcp_name="space_unit_edit",
            title="Edit unit source",
            description=(
                "Replace the whole content of a file of a unit and load it again. When it does not load, the file is "
                "as it was, and the error says why."
            ),
            arguments=EditArguments,
            result=ChangedResult,
            run=edit,
            idempotent=True,
        ),
        typed_adapter(
            id="unit.apply-patch",
            mcp_name="space_unit_apply_patch",
            title="Patch unit",
            description=(
                "Change files of a unit by a unified diff, or one piece of a file by old and new, and load it again. "
                "All of it or nothing: a hunk that does not fit, or a unit that does not load, changes no file."
            ),
            arguments=PatchArguments,
            result=ChangedResult,
            run=apply_patch,
        ),
        typed_adapter(
            id="unit.create-source",
            mcp_name="space_unit_create_source",
            title="Create unit source",
            description="Add a file to a unit and load it again. A file that is there is never overwritten.",
            arguments=CreateSourceArguments,
            result=ChangedResult,
            run=create_source,
        ),
        typed_adapter(
            id="unit.restore",
            mcp_name="space_unit_restore",
            title="Restore unit",
            description="Let the files of a unit be those of a snapshot, and load it again. Each edit makes one.",
            arguments=RestoreArguments,
            result=ChangedResult,
            run=restore,
            idempotent=True,
        ),
        typed_adapter(
            id="unit.snapshot",
            mcp_name="space_unit_snapshot",
            title="Snapshot unit",
            description="Keep the files of a unit as they are now, and see what it keeps in the active world.",
            arguments=UnitArguments,
            result=SnapshotResult,
            run=snapshot,
            idempotent=True,
        ),
        typed_adapter(
            id="unit.reload",
            mcp_name="space_unit_reload",
            title="Reload unit",
            description="Load what lies on disk. When it does not load, what ran before runs on.",
            arguments=UnitArguments,
            result=ReloadResult,
            run=reload,
        ),
    )
