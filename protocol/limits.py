"""The limits of the MCP endpoint, with their units and reasons. Owns the numbers; enforces none of them."""

from __future__ import annotations

from dataclasses import dataclass, fields

KIBIBYTE = 1024
MEBIBYTE = 1024 * KIBIBYTE


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much one client, and all of them together, may ask for. Every value is a positive whole number.

    Raises `ValueError` for a value that is not.
    """

    body_bytes: int = 4 * MEBIBYTE
    """Longest body of a POST. The official Python SDK stops at the same size; no revision names one."""

    world_file_bytes: int = 256 * MEBIBYTE
    """Longest world file that is taken in. A world of 100,000 objects with its history has a few MiB."""

    nesting: int = 64
    """Deepest nesting of arrays and objects in a body, counted from its top. Real calls stay below 20."""

    batch_length: int = 64
    """Most messages in one batch. Each may be a call, so it is not more than the calls of a session."""

    request_id_chars: int = 1024
    """Longest request id or progress token. It is echoed, logged and put into frames, and SDKs use short ones."""

    sessions: int = 1000
    """Most sessions at a time. Beyond it the oldest idle one makes room; its client is told 404 and begins anew."""

    calls_per_session: int = 64
    """Most tool calls in flight in one session: more than any model asks for in one message."""

    calls_total: int = 256
    """Most tool calls in flight in all sessions together."""

    calls_per_principal: int = 128
    """Most tool calls in flight without a session, of one credential at the endpoint of one agent. Clients without
    sessions cannot be told apart any further, and the half of `calls_total` is left to everybody else."""

    outbox_frames: int = 256
    """Most frames that wait for one stream. A client that does not read them is disconnected, never waited for."""

    tools_per_page: int = 1000
    """Most tools in one answer to `tools/list`. Above what any model takes, since some clients read one page only."""

    items_per_page: int = 250
    """Most resources, templates or prompts in one answer to a list."""

    uri_chars: int = 4096
    """Longest uri that is looked up."""

    subscriptions: int = 256
    """Most resources that one session, or one stream of subscriptions, can watch."""

    tasks: int = 256
    """Most tasks that are kept, running or not, for everybody together. Whoever keeps the most makes room first."""

    tasks_per_principal: int = 64
    """Most tasks that run of one credential at the endpoint of one agent. They hold calls for long, so it is less than
    `calls_per_principal`: short calls stay possible beside them."""

    client_requests: int = 64
    """Most requests of ours that may wait for the answer of one session."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value: object = getattr(self, field.name)
            if type(value) is not int or value < 1:
                raise ValueError(f"limit {field.name} must be a positive whole number, not {value!r}")


DEFAULT_LIMITS = Limits()
"""What holds unless somebody says otherwise."""
