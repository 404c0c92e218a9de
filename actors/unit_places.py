"""Where units lie on disk: which folders are units, and whose a changed path is. Owns those rules; reads no unit."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.units.manifest import MANIFEST, InvalidUnitError, check_unit_name

ENTRY = "unit.py"
"""What a folder has that was meant to be a unit, even where it lacks its manifest."""

MAX_UNITS = 200
"""Of one root; the rest of a folder with more is left alone."""


@dataclass(frozen=True, slots=True)
class UnitPlace:
    """A folder that is, or would be, a unit, and why it cannot be one."""

    path: Path
    problem: str | None = None


class UnitPlaces:
    """The units below some roots. A root that has a manifest is a unit itself. Every method but `units_at` blocks."""

    def __init__(self, roots: Sequence[Path]) -> None:
        self._roots = tuple(root.resolve() for root in roots)

    def names(self) -> tuple[str, ...]:
        """The names of all units, in the order of the roots."""
        return tuple(dict.fromkeys(name for root in self._roots for name, _ in _places(root)))

    def find(self, unit: str) -> UnitPlace | None:
        """Where the unit of that name lies, the first root first; None when there is none."""
        found = [place for root in self._roots for name, place in _places(root) if name == unit]
        if len(found) > 1:
            others = ", ".join(str(place.path) for place in found[1:])
            return UnitPlace(found[0].path, f"there are two units {unit!r}, here and at {others}; rename one of them")
        return found[0] if found else None

    def units_at(self, paths: Iterable[Path], known: Sequence[str]) -> set[str]:
        """The names of the units that these paths belong to. What is a root stands for every unit that is known."""
        found: set[str] = set()
        for path in paths:
            for root in self._roots:
                if path == root or path in root.parents:
                    found.update(known)
                    found.add(root.name)
                elif path.is_relative_to(root):
                    parts = path.relative_to(root).parts
                    if not any(part == "__pycache__" or part.startswith(".") for part in parts):
                        # Whether the root is a unit itself is not looked up here; both names are.
                        found.update((parts[0], root.name))
        return found


def _places(root: Path) -> list[tuple[str, UnitPlace]]:
    if _may_be_unit(root):
        return [(root.name, UnitPlace(root, _why_not(root)))]
    try:
        entries = sorted(os.scandir(root), key=lambda entry: entry.name)
    except OSError:
        return []
    found: list[tuple[str, UnitPlace]] = []
    for entry in entries:
        path = root / entry.name
        if entry.name.startswith(".") or not _may_be_unit(path):
            continue
        problem = _why_not(path)
        if entry.is_symlink():
            problem = "it is a symbolic link, and links are not followed; name its target with --units"
        if len(found) < MAX_UNITS:
            found.append((entry.name, UnitPlace(path, problem)))
    return found


def _may_be_unit(path: Path) -> bool:
    return (path / MANIFEST).is_file() or (path / ENTRY).is_file()


def _why_not(path: Path) -> str | None:
    try:
        check_unit_name(path.name)
    except InvalidUnitError as error:
        return str(error)
    if not (path / MANIFEST).is_file():
        return f"it has {ENTRY} and no {MANIFEST}, which makes a folder a unit; an empty one will do"
    return None
