"""The modules of units: loaded from memory under names of their own, and taken away without a trace.

Owns one finder among Python's, and the modules that came through it. Each load of a unit is a package of its own, whose
modules are made of the bytes that were read, whatever stands on disk by then; so nothing is cached beside the files.
"""

from __future__ import annotations

import importlib
import importlib.util
import linecache
import secrets
import sys
import threading
from collections.abc import Mapping, Sequence
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType

from engine.units.source import UnitSource

ENTRY = "unit"
"""The module of a unit that is loaded: `unit.py`."""

PREFIX = "space_units_"
"""What the names of the packages of units begin with, and no others."""


class UnitModules:
    """A finder for the packages of units. `install` and `remove` it once each; loading blocks, in any thread."""

    def __init__(self) -> None:
        # A name that no other finder of this process has, such as that of a second engine.
        self._root = f"{PREFIX}{secrets.token_hex(4)}_"
        self._lock = threading.Lock()
        self._sources: dict[str, UnitSource] = {}
        self._count = 0
        self._finder = _Finder(self._sources)

    def install(self) -> None:
        """Let Python ask this finder, after all others."""
        sys.meta_path.append(self._finder)

    def remove(self) -> None:
        """Take the finder and every module that came through it away."""
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
        for package in tuple(self._sources):
            self.purge(package)

    def add(self, source: UnitSource, package: str | None = None) -> str:
        """Make a package of that source, which nothing has imported yet, and give its name."""
        with self._lock:
            self._count += 1
            name = package or f"{self._root}{self._count}_{source.name.replace('-', '_')}"
            self._sources[name] = source
        return name

    def load(self, package: str, module: str = ENTRY) -> ModuleType:
        """Import a module of a package. Raises whatever its code raises, and `ModuleNotFoundError` where it is none."""
        return importlib.import_module(f"{package}.{module}")

    def purge(self, package: str) -> None:
        """Forget a package: none of its modules is found or kept by Python any more. Harmless the second time."""
        with self._lock:
            source = self._sources.pop(package, None)
        inside = f"{package}."
        for name in [name for name in tuple(sys.modules) if name == package or name.startswith(inside)]:
            sys.modules.pop(name, None)
        if source is not None:
            for path in source.files:
                linecache.cache.pop(str(source.folder / path), None)

    def loaded(self) -> tuple[str, ...]:
        """The names of the modules that Python keeps for this finder, sorted."""
        return tuple(sorted(name for name in tuple(sys.modules) if name.startswith(self._root)))


class _Finder(MetaPathFinder):
    def __init__(self, sources: Mapping[str, UnitSource]) -> None:
        self._sources = sources

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, inner = fullname.partition(".")
        source = self._sources.get(package)
        if source is None:
            return None
        stem = inner.replace(".", "/")
        for candidate in (f"{stem}.py", f"{stem}/__init__.py" if stem else "__init__.py"):
            if candidate in source.files:
                is_package = candidate.endswith("__init__.py")
                return _spec(fullname, source, candidate, is_package=is_package)
        # A folder is a package without any file of its own, and so is the unit.
        if not stem or any(name.startswith(f"{stem}/") for name in source.files):
            return _spec(fullname, source, None, is_package=True)
        return None


def _spec(fullname: str, source: UnitSource, path: str | None, *, is_package: bool) -> ModuleSpec:
    file = None if path is None else str(source.folder / path)
    text = b"" if path is None else source.files[path]
    spec = ModuleSpec(fullname, _Loader(text, file or f"<{source.name}>", is_package), origin=file)
    spec.has_location = file is not None
    if is_package:
        # Empty: Python's own finder must not look on the disk.
        spec.submodule_search_locations = []
    return spec


class _Loader(InspectLoader):
    def __init__(self, source: bytes, path: str, is_package: bool) -> None:
        self._source = source
        self._path = path
        self._is_package = is_package

    def get_source(self, fullname: str) -> str:
        return importlib.util.decode_source(self._source)

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self._source, self._path)

    def is_package(self, fullname: str) -> bool:
        return self._is_package

    def exec_module(self, module: ModuleType) -> None:
        exec(self.get_code(module.__name__), module.__dict__)  # noqa: S102 - this is what loading a unit is
