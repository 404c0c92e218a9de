"""The source of a unit: every file of its folder at one moment, frozen. Owns that value and its fingerprint.

What is loaded, tested and kept in a snapshot is this value, so nothing that changes on disk meanwhile gets in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from engine.units.manifest import UnitManifest

TESTS = "tests"
"""The folder whose files are run as tests and never loaded."""

HASH_PREFIX = "sha256:"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """One file, by its path within the unit, with slashes."""

    path: str
    size_bytes: int
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitSource:
    """A unit as it lies on disk. `files` are the contents by path, sorted."""

    name: str
    folder: Path
    manifest: UnitManifest
    files: Mapping[str, bytes] = field(repr=False)
    fingerprint: str
    """Equal for two sources from which the same would be loaded; tests do not count."""

    def listing(self) -> tuple[SourceFile, ...]:
        """Every file, sorted by path."""
        return listing_of(self.files)


def listing_of(files: Mapping[str, bytes]) -> tuple[SourceFile, ...]:
    """The files with their sizes and hashes, sorted by path."""
    return tuple(
        SourceFile(path=path, size_bytes=len(data), hash=hash_of(data)) for path, data in sorted(files.items())
    )


def hash_of(data: bytes) -> str:
    """The hash of a file's content, as tools give and take it."""
    return HASH_PREFIX + sha256(data).hexdigest()


def is_test(path: str) -> bool:
    """Whether the file at that path belongs to the tests."""
    name = path.rpartition("/")[2]
    return path.startswith(f"{TESTS}/") or (name.startswith("test_") and name.endswith(".py"))


def fingerprint_of(files: Mapping[str, bytes]) -> str:
    """See `UnitSource.fingerprint`."""
    digest = sha256()
    for part in _counted(files):
        # Lengths first, so that no content can be mistaken for the beginning of another file.
        digest.update(f"{len(part)}:".encode())
        digest.update(part)
    return digest.hexdigest()


def _counted(files: Mapping[str, bytes]) -> Iterable[bytes]:
    for path, data in sorted(files.items()):
        if not is_test(path):
            yield path.encode("utf-8", "surrogateescape")
            yield data
