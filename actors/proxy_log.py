"""What a unit's log is told of its MCP server. Owns how much of what a server prints gets there, and takes secrets out.

What Space itself says of a server is always written; what the server prints has a budget, so that one which prints
without end fills no disk and keeps nothing else from running.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import trio

from actors.secret import Scrubber, Secret

PRINTED_CHARACTERS = 64 * 1024
"""Of what a server prints, in `BUDGET_SECONDS`."""

BUDGET_SECONDS = 60.0
"""After this a server may print as much again."""

TAIL_CHARACTERS = 2000
"""Of what was printed last, for the report of a server that has ended."""


class ProxyLog:
    """The log of one unit's server. `write` adds to the unit's log; the secrets never get there."""

    def __init__(self, write: Callable[[str], None], secrets: Iterable[str] = ()) -> None:
        self._write = write
        self._scrubber = Scrubber(Secret(secret) for secret in secrets)
        self._left = PRINTED_CHARACTERS
        self._renewed_at = -BUDGET_SECONDS
        self._dropped = 0
        self.tail = ""
        """What the server wrote to its errors last."""

    def say(self, text: str) -> None:
        """Write what has happened to the server."""
        self._write(self.clean(text))

    def printed(self, text: str) -> None:
        """Write what the server has printed, as far as its budget goes; what is left out is counted."""
        text = self.clean(text)
        self.tail = (self.tail + text)[-TAIL_CHARACTERS:]
        now = trio.current_time()
        if now - self._renewed_at >= BUDGET_SECONDS:
            self._renewed_at, self._left = now, PRINTED_CHARACTERS
            if self._dropped:
                self._write(f"its server printed {self._dropped} characters more, which are left out")
                self._dropped = 0
        kept, rest = text[: self._left], text[self._left :]
        self._left -= len(kept)
        if kept.strip():
            self._write(f"its server printed: {kept}")
        if rest and not self._dropped:
            self._write("its server prints too much; what follows is left out")
        self._dropped += len(rest)

    def clean(self, text: str) -> str:
        """The text without the secrets that the server was given."""
        return self._scrubber.message(text)

    def forget_tail(self) -> None:
        """A new server has been started; what another one printed explains nothing any more."""
        self.tail = ""
