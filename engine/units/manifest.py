"""`unit.toml`: what a unit says of itself before anything of it is loaded. Owns its form, and what units may be called.

The file may be empty. The kind of a unit decides who loads it; what stands in the table of that kind is the loader's.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, cast

from engine.errors import InvalidArgumentError

MANIFEST = "unit.toml"
"""The file that makes a folder a unit."""

PYTHON = "python"
"""The kind of a unit that says nothing about it."""

MAX_UNIT_NAME_CHARACTERS = 24
"""The names of a unit's tools begin with it, and a tool's name has at most 49 characters."""

MAX_DESCRIPTION_CHARACTERS = 500
"""A description is a line or two in a list."""

RESERVED_UNIT_NAMES = frozenset({"app", "drawing", "general", "graph", "scene", "space", "unit", "units"})
"""What Space's own groups are called, and the words after `space_` in the names of its own tools. Of a unit with such a
name nobody could tell what is Space's and what is not."""

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_KIND = re.compile(r"[a-z][a-z0-9-]{0,39}")
_MEMBERS = ("title", "description", "kind", "enabled")


class InvalidUnitError(InvalidArgumentError):
    """Raised for a folder that is no sound unit. The text says what is wrong with it, and where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitManifest:
    """What a unit says of itself. `settings` is the table of its kind (`[python]`), for its loader alone."""

    title: str | None = None
    description: str = ""
    kind: str = PYTHON
    enabled: bool = True
    settings: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


def check_unit_name(name: str) -> str:
    """The name, which is that of the unit's folder. Raises `InvalidUnitError` for what cannot be one and for what is
    Space's own, saying what would be one."""
    if not _NAME.fullmatch(name) or len(name) > MAX_UNIT_NAME_CHARACTERS:
        raise InvalidUnitError(
            f"{name[:80]!r} is no name of a unit: small letters, digits and single dashes between them, beginning with "
            f"a letter, at most {MAX_UNIT_NAME_CHARACTERS} characters, such as 'dice' or 'star-map'"
        )
    if name in RESERVED_UNIT_NAMES:
        raise InvalidUnitError(
            f"{name!r} is what Space calls something of its own, so no unit may; choose another name, such as "
            f"'my-{name}'"
        )
    return name


def read_manifest(text: str) -> UnitManifest:
    """The manifest of that TOML. Raises `InvalidUnitError`, naming the member and what it may be."""
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidUnitError(f"{MANIFEST} is not TOML: {error}") from error
    kind = _text(raw, "kind", 40) or PYTHON
    if not _KIND.fullmatch(kind):
        raise InvalidUnitError(f"{MANIFEST}: kind {kind!r} is no word of small letters, digits and dashes")
    for member in raw:
        if member not in (*_MEMBERS, kind):
            raise InvalidUnitError(
                f"{MANIFEST}: there is no member {member[:80]!r}, but {', '.join(_MEMBERS)} and the table [{kind}]"
            )
    settings = raw.get(kind, {})
    if not isinstance(settings, dict):
        raise InvalidUnitError(f"{MANIFEST}: {kind} must be a table, as in [{kind}]")
    enabled = raw.get("enabled", True)
    if not isinstance(enabled, bool):
        raise InvalidUnitError(f"{MANIFEST}: enabled must be true or false, not {enabled!r:.80}")
    return UnitManifest(
        title=_text(raw, "title", 100),
        description=_text(raw, "description", MAX_DESCRIPTION_CHARACTERS) or "",
        kind=kind,
        enabled=enabled,
        settings=MappingProxyType(cast("dict[str, Any]", settings)),
    )


def _text(raw: Mapping[str, Any], member: str, most: int) -> str | None:
    value = raw.get(member)
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > most:
        raise InvalidUnitError(f"{MANIFEST}: {member} must be a text of at most {most} characters, not {value!r:.80}")
    return value
