"""The real opencode as a process of its own: isolated folders, no network beyond loopback, its HTTP interface.

Owns the process. What opencode may see of the engine comes from `space opencode`, not from here.
"""

from __future__ import annotations

import base64
import json
import os
import re
import secrets
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.live.scripted_model import MODEL, PROVIDER

START_SECONDS = 90.0
"""opencode takes ten seconds to start on two shared cores."""

TURN_SECONDS = 120.0
"""Longer than any turn of the tests; a hanging one must fail, not hang."""

STOP_SECONDS = 10.0

OFFLINE = {
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    "OPENCODE_DISABLE_EMBEDDED_WEB_UI": "1",
    "OPENCODE_DISABLE_SHARE": "1",
    "OPENCODE_DISABLE_AUTOCOMPACT": "1",
    "OPENCODE_DISABLE_PRUNE": "1",
    "OPENCODE_DISABLE_TERMINAL_TITLE": "1",
}
"""What keeps opencode from reaching outside and from asking the model of its own accord, beside `space opencode`."""

INHERITED = ("PATH", "LANG", "LC_ALL")
"""An allow-list: an inherited key or proxy would make opencode reach outside."""


def isolated_environment(root: Path) -> dict[str, str]:
    """An environment with a home and folders of its own below `root`, which are made."""
    folders = {name: root / name for name in ("home", "config", "data", "cache", "state", "tmp")}
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)
    return {
        **{name: os.environ[name] for name in INHERITED if name in os.environ},
        "HOME": str(folders["home"]),
        "OPENCODE_TEST_HOME": str(folders["home"]),
        "XDG_CONFIG_HOME": str(folders["config"]),
        "XDG_DATA_HOME": str(folders["data"]),
        "XDG_CACHE_HOME": str(folders["cache"]),
        "XDG_STATE_HOME": str(folders["state"]),
        "TMPDIR": str(folders["tmp"]),
        "NO_COLOR": "1",
    }


def users_configuration(model_url: str) -> dict[str, Any]:
    """What a user whose only provider is the scripted model has in their own configuration."""
    model = {
        "name": "Scripted model",
        "tool_call": True,
        "attachment": True,
        "modalities": {"input": ["text", "image"], "output": ["text"]},
        "limit": {"context": 1_000_000, "output": 8192},
    }
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Scripted",
        "options": {"baseURL": model_url, "apiKey": "unused"},
        "models": {MODEL: model},
    }
    return {
        "enabled_providers": [PROVIDER],
        "model": f"{PROVIDER}/{MODEL}",
        "small_model": f"{PROVIDER}/{MODEL}",
        "provider": {PROVIDER: provider},
    }


class OpenCode:
    """A running `opencode serve`. A context manager that ends the process."""

    def __init__(self, executable: Path, project: Path, environment: Mapping[str, str]) -> None:
        self._password = secrets.token_urlsafe(16)
        self.log: list[str] = []
        self.url = ""
        self._process = subprocess.Popen(
            [executable, "serve", "--hostname", "127.0.0.1", "--port", "0", "--print-logs", "--log-level", "INFO"],
            cwd=project,
            env={**environment, **OFFLINE, "OPENCODE_SERVER_PASSWORD": self._password},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
        self._ready = threading.Event()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        if not self._ready.wait(START_SECONDS) or not self.url:
            self.close()
            raise RuntimeError("opencode did not start:\n" + "\n".join(self.log[-20:]))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process; its output is read to the end."""
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join()

    def mcp_status(self) -> dict[str, dict[str, str]]:
        """Each MCP server and whether it is connected; the first call connects them."""
        return self._call("GET", "/mcp")

    def create_session(self) -> str:
        """A new session, by its id."""
        return self._call("POST", "/session", {"title": "live"})["id"]

    def prompt(self, session: str, text: str) -> None:
        """Send a message of the user and wait for the end of the turn. Raises `RuntimeError` when opencode fails."""
        answer = self._call("POST", f"/session/{session}/message", {"parts": [{"type": "text", "text": text}]})
        if failure := answer["info"].get("error"):
            raise RuntimeError(f"the turn failed: {failure}")

    def _read(self) -> None:
        output = self._process.stdout
        assert output is not None
        with output:
            for line in output:
                self.log.append(line.rstrip("\n"))
                if found := re.search(r"listening on (http://\S+)", line):
                    self.url = found[1]
                    self._ready.set()
        self._ready.set()

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        basic = base64.b64encode(f"opencode:{self._password}".encode()).decode()
        headers = {"Authorization": f"Basic {basic}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        # Without a handler for proxies, those of the environment do not stand between us and loopback.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=TURN_SECONDS) as reply:
                return json.loads(reply.read())
        except urllib.error.HTTPError as error:
            with error:
                said = error.read().decode("utf-8", "replace")
            raise RuntimeError(f"{method} {path}: HTTP {error.code}: {said}") from None
