"""The engine in which whole tasks are done, and its user: who goes to a surface, into a world, and turns presets on.

Owns the process, its agents' folders and the requests that are the user's and not a model's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchmarks.conversation import Agent
from benchmarks.http_connection import HttpConnection, request_bytes
from benchmarks.mcp_client import McpAnswerError
from benchmarks.process import MeasuredProcess

STAFF_WORLD = "world-1"
"""The world that the server has put the staff into."""

CREATED, FINE = 201, 200


class TaskEngine:
    """A running engine with an agent for each list of tools. Used as a context manager."""

    def __init__(self, folder: Path, agents: Mapping[str, Sequence[str]]) -> None:
        """`agents` says by id which tools an agent has; they stand beside those that ship with Space."""
        self._folder = folder
        self._worlds = 0
        for agent, tools in agents.items():
            own = folder / "agents" / agent
            own.mkdir(parents=True, exist_ok=True)
            allowed = "".join(f"    - {name}\n" for name in tools)
            (own / "composition.yml").write_text(f"- row: restrict\n  allow:\n{allowed}", encoding="utf-8")

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            arguments = (str(self._folder / "data"), str(self._folder / "agents"))
            self._process = stack.enter_context(MeasuredProcess("benchmarks.servers.task_space", *arguments))
            self._connection = stack.enter_context(HttpConnection(self._process.port))
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def agent(self, name: str, presentation: str) -> Agent:
        """A new session of that agent, which sees its tools in that form."""
        return Agent(self._connection, f"{self._process.path}/{name}?presentation={presentation}")

    def go_to(self, context: Mapping[str, object]) -> None:
        """Change the context."""
        self._ask("PATCH", "/api/context", dict(context))

    def enter_new_world(self) -> None:
        """Go into a world in which nothing is."""
        self._worlds += 1
        self._ask("POST", "/api/worlds", {"name": f"benchmark {self._worlds}", "activate": True}, CREATED)

    def enter_staff_world(self) -> None:
        """Go into the world of the staff."""
        self._ask("POST", f"/api/worlds/{STAFF_WORLD}/activate", {})

    def turn_everything_on(self) -> None:
        """Turn every preset on."""
        for preset in self._ask("GET", "/api/presets", None)["presets"]:
            self.turn_on(preset["name"])

    def turn_on(self, preset: str) -> None:
        """Turn one preset on."""
        self._ask("PUT", f"/api/presets/{preset}/override", {"state": "on"})

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        """Call a tool as the user does, and give its structured result."""
        return self._ask("POST", f"/api/tools/{tool}/call", dict(arguments))["structured_content"]

    def _ask(self, method: str, path: str, body: object, expected: int = FINE) -> Any:
        answer = self._connection.ask(request_bytes(method, path, {}, body))
        if answer.status != expected:
            raise McpAnswerError(f"{method} {path} was answered {answer.status}: {answer.body[:300]!r}")
        return answer.json()
