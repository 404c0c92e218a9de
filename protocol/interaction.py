"""What a tool, a prompt or a resource may do with its client while it serves a request. Owns the interface only.

The actors implement it twice: in a session a question goes out as a request of ours, and the call waits; without a
session the call ends with the questions, and begins anew when the client comes back with the answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from protocol.client_capabilities import ClientCapabilities
from protocol.input_request import InputRequest, InputRequired, InputResponse
from protocol.log_level import LogLevel
from protocol.tool import ToolCall


class InputNeededError(Exception):
    """Raised by `Interaction.ask` in a call without a session that has no answers yet. Let it through.

    Attributes:
        required: what the client is to be asked.
    """

    def __init__(self, required: InputRequired) -> None:
        super().__init__("the client has to answer first")
        self.required = required


class MalformedAnswerError(Exception):
    """Raised by `Interaction.ask` where the client brought an answer that is none. Let it through.

    The request is then answered with `Handler.malformed_answer_reply`; a request of ours in a session that is answered
    so is a `ToolError` instead, since the call itself was in order.
    """


class Interaction(ToolCall, Protocol):
    """A call that can talk with its client. Everything before a question may run again: ask first, then act."""

    @property
    def client(self) -> ClientCapabilities:
        """What the client can do."""
        ...

    @property
    def state(self) -> object:
        """What was given to `ask` in the round before: None in the first round, and always in a session."""
        ...

    async def log(self, level: LogLevel, data: object, logger: str | None = None) -> None:
        """Tell the client something, where it wants messages of that level. `data` is any JSON value."""
        ...

    async def become_task(self) -> None:
        """Say that the rest may take long: where tool and client know tasks, the call is answered with one now.

        Whatever is asked after that is asked through the task. Before it, the call is an ordinary one.
        """
        ...

    async def hang_up(self) -> None:
        """Say that nothing will come for a while: a client that can come back for the rest is sent away until then.

        For everybody else this does nothing.
        """
        ...

    async def ask(self, requests: Mapping[str, InputRequest], state: object = None) -> Mapping[str, InputResponse]:
        """Ask the client, and give all the answers under the same keys, which no other question of the call has.

        `state` is any JSON value that the tool wants to have back in the next round. Raises `InputNeededError` and
        `MalformedAnswerError` as said there, and `ToolError` for what the client cannot be asked.
        """
        ...
