"""What a client of MCP can do on a visit, whatever library it is made of."""

from __future__ import annotations

from typing import Any, Protocol

TOLD_SECONDS = 10.0
"""The most that a visitor waits for word from the engine. It comes within milliseconds."""

TOOLS = "tools"
"""What `told` waits for, beside uris: that the list of tools has changed."""


class VisitError(Exception):
    """Raised when the library reports an error: of the engine, or of the connection. The text is its own."""


class Visitor(Protocol):
    """A client that has connected. Every method raises `VisitError` where the library raises."""

    async def version(self) -> str:
        """The revision that was agreed on."""
        ...

    async def tools(self) -> list[str]:
        """The names of the tools."""
        ...

    async def call(self, name: str, arguments: dict[str, Any]) -> str:
        """Call a tool; the text of its result. A result that is an error raises."""
        ...

    async def begin(self, name: str, arguments: dict[str, Any]) -> None:
        """Begin a call, of which there is one at a time, and do not wait for it."""
        ...

    async def cancel(self) -> None:
        """Cancel the call that was begun, the way the library does that. Returns when the library has given it up."""
        ...

    async def prompts(self) -> list[str]:
        """The names of the prompts."""
        ...

    async def prompt(self, name: str) -> str:
        """The text of a prompt."""
        ...

    async def read(self, uri: str) -> str:
        """The text of a resource."""
        ...

    async def watch(self, uri: str) -> None:
        """Be told of changes of a resource and, without a session, of the list of tools."""
        ...

    async def told(self, what: str) -> None:
        """Wait until word has come of `TOOLS` or of a uri since the last time. Raises `VisitError` when none comes."""
        ...
