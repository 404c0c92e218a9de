"""The opencode configuration that points at an engine, and the environment in which opencode reads nothing else.

Owns what is isolated from the user's opencode and what stays theirs. Pure: it writes no file and starts no process.
Source: opencode as an MCP client, sections 0 and 2; agent-presets, "Internal Unit Presets vs. External Unit MCP".
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

SERVER_NAME = "space"
"""The engine's name in opencode. A model sees each tool with this name and an underscore before it."""

CALL_TIMEOUT_MILLISECONDS = 300_000
"""For connecting, listing and each call. opencode's runtime drops a silent answer after the same five minutes."""

LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")
"""Named in NO_PROXY: opencode's runtime would otherwise send even these through a proxy of the environment."""

USER_KEYS = ("model", "small_model", "provider", "enabled_providers", "disabled_providers")
"""The keys of the user's own configuration that say which model answers and how it is reached."""

CONFIGURATION_FILE = Path("opencode", "opencode.json")
"""Below the folder that `XDG_CONFIG_HOME` names."""

PLUGIN_LOCK = {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}
"""With this as `package-lock.json` beside a `node_modules`, opencode does not install its plugin package there."""

ISOLATING = {
    "OPENCODE_DISABLE_PROJECT_CONFIG": "1",
    "OPENCODE_DISABLE_CLAUDE_CODE": "1",
    "OPENCODE_DISABLE_EXTERNAL_SKILLS": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_PURE": "1",
}
"""Keeps out what the project folder and the user's home would bring in: servers, tools, prompts, plugins.

What is not among them is meant: the default plugins log in to providers, and the list of models is fetched as ever.
"""

BYPASSING = (
    "OPENCODE_CONFIG",
    "OPENCODE_CONFIG_CONTENT",
    "OPENCODE_CONFIG_DIR",
    "OPENCODE_PERMISSION",
    "OPENCODE_EXPERIMENTAL",
    "OPENCODE_EXPERIMENTAL_CODE_MODE",
)
"""Variables that would merge other configuration in, or turn the tools into one tool of opencode's own."""


def opencode_configuration(
    mcp_url: str, *, token: str | None = None, user: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The content of `opencode.json`: the engine's tools and nothing else, with the model of the user.

    `user` is the user's own configuration; only `USER_KEYS` of it are taken. A token goes into a header, so whoever
    may read the file may use the engine.
    """
    entry: dict[str, Any] = {
        "type": "remote",
        "url": mcp_url,
        "enabled": True,
        # Without this a refusal would start a search for an authorization server.
        "oauth": False,
        "timeout": CALL_TIMEOUT_MILLISECONDS,
    }
    if token is not None:
        entry["headers"] = {"Authorization": f"Bearer {token}"}
    kept = {key: value for key, value in (user or {}).items() if key in USER_KEYS}
    return {
        "$schema": "https://opencode.ai/config.json",
        **kept,
        "autoupdate": False,
        "share": "disabled",
        "snapshot": False,
        "lsp": False,
        "formatter": False,
        "plugin": [],
        # The last rule that matches wins, so the denial of all of opencode's own tools stands first. "doom_loop" is
        # asked when one message repeats a call, as with several steps of undo; "invalid" only words an error.
        "permission": {"*": "deny", "doom_loop": "allow", "invalid": "allow", f"{SERVER_NAME}_*": "allow"},
        "mcp": {SERVER_NAME: entry},
    }


def opencode_environment(config_home: Path, inherited: Mapping[str, str]) -> dict[str, str | None]:
    """What to change of an inherited environment; None takes a variable away.

    The configuration is isolated. The user's data, state and cache stay, and with them their credentials, the model
    that they chose last, and their sessions; so do the API keys in their environment.
    """
    changes: dict[str, str | None] = {"XDG_CONFIG_HOME": str(config_home), **ISOLATING}
    changes.update({name: None for name in BYPASSING if name in inherited})
    # Both spellings are read, so what one of them says must not be hidden by the other.
    direct = _direct_hosts(inherited.get("NO_PROXY", ""), inherited.get("no_proxy", ""))
    changes["NO_PROXY"] = changes["no_proxy"] = direct
    return changes


def _direct_hosts(*lists: str) -> str:
    """The hosts of these lists and those of this machine, each once, as one list."""
    named = [host.strip() for hosts in lists for host in hosts.split(",") if host.strip()]
    return ",".join(dict.fromkeys([*named, *LOOPBACK_HOSTS]))
