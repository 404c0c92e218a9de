"""How a command fails as expected: what is said, to people and to programs, and the exit code. Never a traceback."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

REFUSED = 1
"""Exit code: the engine, or this machine, refused or failed."""

USAGE = 2
"""Exit code: the command was called wrongly. Typer's own."""

NO_ENGINE = 3
"""Exit code: no engine answers at the URL, so a script can start one and try again."""


class CommandFailedError(Exception):
    """Raised by a command that cannot do what it was asked. `kind` is for programs, `hint` says what would help.

    `members` are further members of the JSON form, such as those of the engine's problem.
    """

    kind = "failed"
    exit_code = REFUSED

    def __init__(self, message: str, hint: str | None = None, members: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.members = dict(members or {})

    def to_json(self) -> dict[str, Any]:
        """The failure as plain JSON values."""
        return {"error": {"kind": self.kind, "message": self.message, "hint": self.hint, **self.members}}


class NoEngineError(CommandFailedError):
    """Raised when nothing listens at the URL, or nothing answers in time to open a connection."""

    kind = "no-engine"
    exit_code = NO_ENGINE


class NotAnEngineError(CommandFailedError):
    """Raised when what answers at the URL does not speak as an engine does."""

    kind = "not-an-engine"


class TokenError(CommandFailedError):
    """Raised when the engine wants a token and got none, or another one."""

    kind = "token"


class RefusedError(CommandFailedError):
    """Raised when the engine answers with a problem. Its members are those of the problem."""

    kind = "refused"


class ConnectionLostError(CommandFailedError):
    """Raised when the engine accepted the request and did not answer it whole, or not in time."""

    kind = "connection-lost"
