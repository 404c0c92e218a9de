"""URI templates of the simplest kind: literal text with `{names}` in it. Owns matching and filling in.

A value is one segment of a uri: it is never empty and has no `/`, `?` or `#` but in its percent-encoded form. Matching
takes each value as short as it can be, and never goes back, so its cost is that of reading the uri once.
Source: RFC 6570, level 1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote_to_bytes

_EXPRESSION = re.compile(r"\{([^{}]*)\}")
_NAME = re.compile(r"[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*")
_NOT_IN_A_VALUE = re.compile(r"[/?#\s]|%(?![0-9A-Fa-f]{2})")


@dataclass(frozen=True, slots=True)
class UriTemplate:
    """One template. `literals` stand around the `names`, so there is one more of them."""

    text: str
    names: tuple[str, ...]
    literals: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> UriTemplate:
        """Read a template. Raises `ValueError`, saying what is wrong, for one of a higher level or with no name."""
        pieces = _EXPRESSION.split(text)
        literals, names = tuple(pieces[::2]), tuple(pieces[1::2])
        if not names:
            raise ValueError(f"template {text!r} has no {{name}}; a uri without one is a resource, not a template")
        for name in names:
            if _NAME.fullmatch(name) is None:
                raise ValueError(f"template {text!r}: {{{name}}} is not served; only plain {{names}} are")
        if len(set(names)) != len(names):
            raise ValueError(f"template {text!r} has a name twice")
        if any("{" in literal or "}" in literal for literal in literals):
            raise ValueError(f"template {text!r} has a brace that belongs to no {{name}}")
        if not literals[0] or any(not literal for literal in literals[1:-1]):
            raise ValueError(f"template {text!r} must begin with text, and have text between its names")
        return cls(text, names, literals)

    def match(self, uri: str) -> Mapping[str, str] | None:
        """The values of the names in a uri, decoded; None for a uri that this template cannot have made."""
        if not uri.startswith(self.literals[0]):
            return None
        values: dict[str, str] = {}
        position = len(self.literals[0])
        for name, literal in zip(self.names[:-1], self.literals[1:-1], strict=True):
            end = uri.find(literal, position)
            if end < 0 or not _take(values, name, uri[position:end]):
                return None
            position = end + len(literal)
        end = len(uri) - len(self.literals[-1])
        if end < position or not uri.endswith(self.literals[-1]):
            return None
        return values if _take(values, self.names[-1], uri[position:end]) else None

    def fill(self, values: Mapping[str, str]) -> str:
        """The uri with these values. Raises `KeyError` for a name without one."""
        filled = [self.literals[0]]
        for name, literal in zip(self.names, self.literals[1:], strict=True):
            filled += (quote(values[name], safe="-._~"), literal)
        return "".join(filled)


def _take(values: dict[str, str], name: str, raw: str) -> bool:
    if not raw or _NOT_IN_A_VALUE.search(raw) is not None:
        return False
    try:
        values[name] = unquote_to_bytes(raw).decode()
    except UnicodeError:
        return False
    return True
