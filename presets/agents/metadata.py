"""How an agent is shown to people: names and descriptions by language, and its place in a list. Owns their reading.

Nothing here can make an agent unusable: what is missing or wrong is left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import cast

from presets.agents.definition import DEFAULT_LANGUAGE
from presets.agents.yaml_file import YamlFileError, read_yaml


def _no_texts() -> Mapping[str, str]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class AgentMetadata:
    """Names and descriptions by language, and the order: lower comes first, None comes last."""

    names: Mapping[str, str] = field(default_factory=_no_texts)
    descriptions: Mapping[str, str] = field(default_factory=_no_texts)
    order: float | None = None


def read_metadata(path: Path, *, inside: Path | None = None) -> AgentMetadata:
    """What the file says; of a file that is missing or broken, nothing. Unknown members are ignored. Never raises.

    `inside` is as of `read_yaml`.
    """
    try:
        raw = read_yaml(path, inside=inside)
    except YamlFileError:
        return AgentMetadata()
    if not isinstance(raw, dict):
        return AgentMetadata()
    members = cast("dict[object, object]", raw)
    return AgentMetadata(_texts(members.get("name")), _texts(members.get("description")), _order(members.get("order")))


def _texts(raw: object) -> Mapping[str, str]:
    """A text stands for itself in the default language; a mapping holds one for each."""
    given = cast("dict[object, object]", raw) if isinstance(raw, dict) else {DEFAULT_LANGUAGE: raw}
    return MappingProxyType(
        {
            language: text.strip()
            for language, text in given.items()
            if isinstance(language, str) and isinstance(text, str) and text.strip()
        }
    )


def _order(raw: object) -> float | None:
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        return None
    try:
        order = float(raw)
    except OverflowError:
        return None
    return order if math.isfinite(order) else None
