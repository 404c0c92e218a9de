"""What a change asked for means for the files of a unit: patches applied, pieces replaced, hashes compared. In memory.

Raises before anything is written; the words are for whoever wrote the change.
"""

from __future__ import annotations

from engine.errors import ConflictError, InvalidArgumentError, NotFoundError
from engine.units.folder import UnitFolder, bytes_of
from engine.units.manifest import MANIFEST
from engine.units.patch import PatchError, apply_patches, parse_patch, replace_once
from engine.units.source import hash_of
from presets.unit_shop import UnitChange


class StaleSourceError(ConflictError):
    """Raised when a change names the hash of a file, and the file has another by now."""


def planned_changes(folder: UnitFolder, change: UnitChange) -> dict[str, bytes | None]:
    """The new content of each file that the change touches, None where one is deleted. Writes nothing.

    Raises `EngineError`: `PatchError`, `StaleSourceError`, `ConflictError`, `NotFoundError`, and as `UnitFolder` does.
    """
    _check_mode(change)
    if change.path is not None:
        _check_hash(folder, folder.checked(change.path), change.expected_hash)
    if change.files is not None:
        planned = {folder.checked(path): bytes_of(path, text) for path, text in change.files.items()}
        for path in planned:
            if change.must_be_new and folder.exists(path):
                raise ConflictError(f"{path!r} already exists in unit {folder.name!r}; edit it, or choose another path")
            if change.must_exist and not folder.exists(path):
                raise NotFoundError(f"{path!r} was not found in unit {folder.name!r}; create it instead")
        return {**planned}
    if change.patch is not None:
        return _patched(folder, change.patch, change)
    path = folder.checked(change.path or "")
    return {path: bytes_of(path, replace_once(path, folder.text(path), change.old or "", change.new or ""))}


def _patched(folder: UnitFolder, text: str, change: UnitChange) -> dict[str, bytes | None]:
    own = None if change.path is None else folder.checked(change.path)
    patches = parse_patch(text, own)
    files: dict[str, str] = {}
    for patch in patches:
        path = folder.checked(patch.path)
        if path != patch.path:
            raise PatchError(f"the patch spells {path!r} as {patch.path!r}")
        if own is not None and path != own:
            raise PatchError(f"the patch changes {path!r}, and path says {own!r}; leave path out for several files")
        if patch.action == "delete" and path == MANIFEST:
            raise PatchError(f"{MANIFEST} makes the folder a unit, and cannot be deleted")
        if folder.exists(path):
            files[path] = folder.text(path)
    made = apply_patches(files, patches, anywhere=change.anywhere)
    return {path: None if text is None else bytes_of(path, text) for path, text in made.items()}


def _check_mode(change: UnitChange) -> None:
    exact = change.old is not None or change.new is not None
    if change.files is not None:
        return
    if change.patch is not None and exact:
        raise InvalidArgumentError("give either patch, or old and new, not both")
    if change.patch is None and (change.old is None or change.new is None or change.path is None):
        raise InvalidArgumentError("a change requires either patch, or old and new together with path")


def _check_hash(folder: UnitFolder, path: str, expected: str | None) -> None:
    if expected is None:
        return
    present = hash_of(folder.bytes(path))
    if present != expected:
        raise StaleSourceError(
            f"{path!r} has the hash {present}, and the change expects {expected[:80]}: it has changed since it was "
            "read; read it again"
        )
