"""The unit that `space unit new --proxy` writes: a server, and its tools in one preset that is off. Owns its words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from engine.errors import InvalidArgumentError
from engine.units.manifest import MANIFEST, check_unit_name, read_manifest
from space_unit.proxy_settings import PROXY, read_proxy_settings

_MANIFEST = """\
title = {title}
kind = "proxy"

[proxy]
{server}

# The first preset whose patterns fit has a tool. All are off until you turn them on, with `space preset on {name}`, or
# until they say default = "auto". See docs/units.md of Space.
#
# [[proxy.preset]]
# name = "{name}-read"
# tools = ["read_*", "list_*"]
# risk = "filesystem-read"
# default = "auto"
# contexts = [{{ surface = "canvas", activity = "graph" }}]

[[proxy.preset]]
name = "{name}"
tools = ["*"]
risk = "shell"
"""


def proxy_template_files(name: str, server: Sequence[str]) -> Mapping[str, bytes]:
    """The files of a new unit for a server: an address, or a command and its arguments.

    Raises `InvalidUnitError` for a name that is none and a server that cannot be one.
    """
    check_unit_name(name)
    if not server:
        raise InvalidArgumentError(
            f"which server? space unit new {name} --proxy http://127.0.0.1:9876/mcp, or its command after two dashes: "
            f"space unit new {name} --proxy -- npx -y some-server"
        )
    if len(server) == 1 and server[0].startswith(("http://", "https://")):
        said = f"url = {_quoted(server[0])}"
    else:
        said = f"command = [{', '.join(map(_quoted, server))}]"
    text = _MANIFEST.format(name=name, title=_quoted(name.replace("-", " ").capitalize()), server=said)
    manifest = read_manifest(text)
    assert manifest.kind == PROXY  # noqa: S101 - it is written above
    read_proxy_settings(name, manifest.settings)
    return {MANIFEST: text.encode()}


def _quoted(text: str) -> str:
    """A text of TOML; what JSON writes in ASCII is one."""
    return json.dumps(text).replace("\x7f", "\\u007f")
