"""The names under which a server's tools are offered. Owns how a foreign name becomes one of the house's.

A name keeps letters, digits and `_`; all else becomes `_`, so that programs can say `tools.<name>`. The same tools have
the same names, in whatever order a server lists them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from protocol.tool_registry import TOOL_NAME_CHARS
from space_unit.contribution import mcp_name_of

_DIGEST_CHARACTERS = 4
"""Of a name that is too long: enough to tell some hundred tools apart, and stable."""

_OTHER = re.compile(r"[^A-Za-z0-9_]+")


@dataclass(frozen=True, slots=True)
class ProxyNames:
    """The last part of each tool's name, by the name that the server has for it, and what was refused, in words."""

    short: Mapping[str, str]
    refused: tuple[str, ...] = ()


def proxy_names(unit: str, names: Sequence[str], prefix: str = "") -> ProxyNames:
    """Names for these tools of a unit. Of several that would have the same one, one has it; the rest are refused."""
    short: dict[str, str] = {}
    taken: dict[str, str] = {}
    refused: list[str] = []
    # Those that need no change go first, so that no other tool can take their place.
    for name in sorted(dict.fromkeys(names), key=lambda name: (_short(unit, name, prefix) != name, name)):
        own = _short(unit, name, prefix)
        if not own:
            refused.append(f"tool {name[:80]!r} is not offered: its name has no letter or digit")
            continue
        other = taken.setdefault(own.lower(), name)
        if other != name:
            refused.append(
                f"tool {name[:80]!r} is not offered: its name here would be {mcp_name_of(unit, own)!r}, which "
                f"{other[:80]!r} has"
            )
            continue
        short[name] = own
    return ProxyNames(short, tuple(refused))


def _short(unit: str, name: str, prefix: str) -> str:
    own = _OTHER.sub("_", name.removeprefix(prefix) or name).strip("_")
    room = TOOL_NAME_CHARS - len(mcp_name_of(unit, ""))
    if len(own) <= room:
        return own
    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARACTERS]
    return f"{own[: room - _DIGEST_CHARACTERS - 1].rstrip('_')}_{digest}"
