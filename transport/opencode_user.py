"""Reads what a user's own opencode configuration says about models. Pure; owns the reading of JSON with comments.

Source: opencode as an MCP client, section 2; opencode's configuration schema.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

from transport.opencode import USER_KEYS

CONFIGURATION_FILES = ("config.json", "opencode.json", "opencode.jsonc")
"""In the order in which opencode merges them; a later one wins."""

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|,(?=(?:\s|//[^\n]*|/\*.*?\*/)*[}\]])', re.DOTALL)
_FILE = re.compile(r"\{file:(?![/~])([^}]+)\}")


def model_settings(texts: Iterable[str], folder: Path) -> dict[str, Any]:
    """The `USER_KEYS` of these configuration files, merged as opencode merges them.

    A reference `{file:…}` relative to their folder is made absolute, since it is going to stand elsewhere. Raises
    `ValueError` for a text that is not a JSON object, comments and trailing commas let through.
    """
    settings: dict[str, Any] = {}
    for text in texts:
        value = json.loads(_FILE.sub(lambda found: _absolute(found[1], folder), _without_comments(text)) or "{}")
        if not isinstance(value, dict):
            raise ValueError("a configuration of opencode is a JSON object")  # noqa: TRY004 - a text of the user's
        known = {key: item for key, item in cast("dict[str, Any]", value).items() if key in USER_KEYS}
        settings = _merged(settings, known)
    return settings


def _absolute(reference: str, folder: Path) -> str:
    escaped = json.dumps(str(folder / json.loads(f'"{reference}"')))
    return f"{{file:{escaped[1:-1]}}}"


def _without_comments(text: str) -> str:
    return _TOKEN.sub(lambda found: found[0] if found[0].startswith('"') else " ", text).strip()


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        both = isinstance(old, dict) and isinstance(value, dict)
        merged[key] = _merged(cast("dict[str, Any]", old), cast("dict[str, Any]", value)) if both else value
    return merged
