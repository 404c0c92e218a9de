"""Where the MCP server of a unit is: a command with its environment, or an address with its headers, ready to be used.

Owns what of the engine's environment a server gets, and what is said of one that cannot be reached.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from actors.app import SECRET_VARIABLES
from engine.units.source import UnitSource
from space_unit.proxy_settings import ProxySettings, with_environment

INHERITED = frozenset(
    {
        "HOME",
        "LANG",
        "LANGUAGE",
        "LOGNAME",
        "NODE_EXTRA_CA_CERTS",
        "PATH",
        "SHELL",
        "SSL_CERT_DIR",
        "SSL_CERT_FILE",
        "TERM",
        "TMPDIR",
        "TZ",
        "USER",
        "XDG_CACHE_HOME",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "XDG_RUNTIME_DIR",
        "XDG_STATE_HOME",
    }
)
"""What a server finds of the engine's environment, together with `LC_…`: it is somebody else's program, and the rest
may hold keys. A unit passes on more by name."""


class ProxyServerError(Exception):
    """Raised for a server that cannot be started, reached or talked with. The text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyTarget:
    """The server. Either `arguments` or `url` is there. `secrets` are what must not be seen in a log."""

    folder: Path
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)


def proxy_target(source: UnitSource, settings: ProxySettings, environment: Mapping[str, str]) -> ProxyTarget:
    """Where that unit's server is, as seen from an engine with this environment. Raises `InvalidUnitError`."""
    if settings.url is not None:
        headers, secrets = with_environment("headers", settings.headers, environment, SECRET_VARIABLES)
        return ProxyTarget(folder=source.folder, url=settings.url, headers=headers, secrets=secrets)
    own, secrets = with_environment("env", settings.env, environment, SECRET_VARIABLES)
    inherited = {name: value for name, value in environment.items() if name in INHERITED or name.startswith("LC_")}
    return ProxyTarget(
        folder=source.folder / (settings.cwd or ""),
        arguments=settings.command or (),
        environment={**inherited, **own},
        secrets=secrets,
    )
