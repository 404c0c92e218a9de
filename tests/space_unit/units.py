"""Units for tests, made of text, and sources of them without a disk."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from engine.units.manifest import read_manifest
from engine.units.source import UnitSource, fingerprint_of
from space_unit.collecting import Surroundings, collect
from space_unit.contribution import Contribution
from space_unit.modules import ENTRY, UnitModules

HEAD = """\
from __future__ import annotations
from typing import Annotated, Any, Literal, Optional
from pydantic import BaseModel, Field
from space_unit import *
"""

ROLL = (
    HEAD
    + '''
@tool
async def roll(sides: int = 6) -> int:
    """Roll a die."""
    return sides

tools = preset("dice", tools=[roll])
'''
)
"""A unit `dice` with one tool, `space_dice_roll`."""


def source_of(name: str = "dice", **files: str) -> UnitSource:
    """A source of these files; `unit_py` is `unit.py`."""
    contents = {path.replace("__", "/").replace("_py", ".py"): text.encode() for path, text in files.items()}
    contents.setdefault("unit.toml", b"")
    return UnitSource(
        name=name,
        folder=Path("/nowhere") / name,
        manifest=read_manifest(contents["unit.toml"].decode()),
        files=contents,
        fingerprint=fingerprint_of(contents),
    )


@contextmanager
def installed() -> Generator[UnitModules]:
    """A finder, for the block."""
    modules = UnitModules()
    modules.install()
    try:
        yield modules
    finally:
        modules.remove()


def contribution_of(code: str, name: str = "dice", log: list[str] | None = None) -> Contribution:
    """What a unit of this code contributes. Its modules are gone afterwards."""
    entries: list[str] = [] if log is None else log
    with installed() as modules:
        source = source_of(name, unit_py=code)
        module = modules.load(modules.add(source), ENTRY)
        return collect(source, vars(module), Surroundings(unit=name, in_use=nullcontext, log=entries.append))
