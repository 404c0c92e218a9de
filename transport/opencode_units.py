"""The opencode configuration for a server on which units are developed, and the folder that it lies in for a while.

Owns what opencode is denied there: everything that is its own. The folder is private, made anew each time, and gone
when the server ends, or when the next one starts where it was killed; the user's own configuration is never written.
Source: remote-mcp, "External Unit MCP Server"; opencode as an MCP client, section 2.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from engine.units.folder_lock import FolderLock
from transport.opencode import CONFIGURATION_FILE, PLUGIN_LOCK, SERVER_NAME, opencode_configuration

UNIT_SERVER_NAME = "space-unit-dev"
"""The server's name in opencode. A model sees `space-unit-dev_space_unit_list` and the like."""

NATIVE_PERMISSIONS = (
    "read",
    "write",
    "edit",
    "apply_patch",
    "grep",
    "glob",
    "list",
    "bash",
    "task",
    "external_directory",
    "todowrite",
    "todoread",
    "webfetch",
    "websearch",
    "codesearch",
    "lsp",
    "skill",
    "question",
    "plan_enter",
    "plan_exit",
    "execute",
)
"""What opencode asks leave for. Denying `*` covers them; they are named for versions and people that look for names."""

FOLDER_PREFIX = "space-unit-server-"


def unit_server_configuration(
    mcp_url: str, *, token: str | None = None, user: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The content of `opencode.json`: this server's tools and nothing else, with the model of the user.

    `token` and `user` as of `opencode_configuration`.
    """
    common = opencode_configuration(mcp_url, token=token, user=user)
    permission = {
        "*": "deny",
        **dict.fromkeys(NATIVE_PERMISSIONS, "deny"),
        # Not tools: one is asked when a message repeats a call, the other words the answer to a call that is broken.
        "doom_loop": "allow",
        "invalid": "allow",
        f"{UNIT_SERVER_NAME}_space_unit_*": "allow",
    }
    return {**common, "permission": permission, "mcp": {UNIT_SERVER_NAME: common["mcp"][SERVER_NAME]}}


class OpencodeFolder:
    """A temporary folder for `XDG_CONFIG_HOME`. Whoever made it calls `remove`.

    It may hold keys of providers, so it lies where a logout empties everything, if the system has such a place. It is
    locked for as long as the process lives: what is not is somebody's who was killed, and taken away.
    """

    def __init__(self) -> None:
        """Make it, for this user alone (0700), and sweep those that were left behind. Raises `OSError`."""
        for parent in {_private_place(), Path(tempfile.gettempdir())}:
            _sweep(parent)
        # Under another name until it is locked, so that nobody who starts as well sweeps it.
        made = Path(tempfile.mkdtemp(prefix=f".{FOLDER_PREFIX}", dir=_private_place()))
        self._lock = FolderLock(made)
        self._lock.take()
        self.path = made.rename(made.with_name(made.name.removeprefix(".")))

    @property
    def configuration(self) -> Path:
        """The file."""
        return self.path / CONFIGURATION_FILE

    def write(self, configuration: Mapping[str, Any]) -> None:
        """Write the configuration, for this user alone (0600). Raises `OSError`."""
        folder = self.configuration.parent
        # With these two opencode does not install its plugin package there.
        (folder / "node_modules").mkdir(parents=True)
        for path, content in ((folder / "package-lock.json", PLUGIN_LOCK), (self.configuration, configuration)):
            path.touch(mode=0o600)
            path.write_text(json.dumps(content, indent=2), encoding="utf-8")

    def remove(self) -> None:
        """Take it away with all that is in it. May be called again, and from any thread."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.release()


def _private_place() -> Path:
    """The user's folder for what lives no longer than they are logged in, or that for temporary files."""
    given = os.environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(given) and os.access(given, os.W_OK | os.X_OK) and _is_own_folder(Path(given)):
        return Path(given)
    return Path(tempfile.gettempdir())


def _sweep(parent: Path) -> None:
    for folder in _left_behind(parent):
        lock = FolderLock(folder)
        if lock.take() and lock.is_held:
            shutil.rmtree(folder, ignore_errors=True)
        lock.release()


def _left_behind(parent: Path) -> Iterator[Path]:
    try:
        names = os.listdir(parent)
    except OSError:
        return
    for name in names:
        if name.startswith(FOLDER_PREFIX) and _is_own_folder(parent / name):
            yield parent / name


def _is_own_folder(path: Path) -> bool:
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
