"""Asks the engine over its own socket whether it answers, so that "listening" is said only when it is true."""

from __future__ import annotations

import trio

from transport.listener import Listener, bracketed

ANSWER_SECONDS = 10.0
"""How long the first answer may take; a cold start needs some tenths of a second."""

HEAD_BYTES = 64
"""Enough to read the status line."""


class NoAnswerError(Exception):
    """Raised when the engine does not answer its own first request."""


async def wait_until_it_answers(listener: Listener, token: str | None) -> None:
    """Ask for `/api/context` and wait for a 200. Raises `NoAnswerError`."""
    host = "127.0.0.1" if listener.host == "0.0.0.0" else "::1" if listener.host == "::" else listener.host  # noqa: S104
    authorization = f"Authorization: Bearer {token}\r\n" if token else ""
    asked = (
        f"GET /api/context HTTP/1.1\r\nHost: {bracketed(host)}:{listener.port}\r\n{authorization}"
        "Connection: close\r\n\r\n"
    )
    head = b""
    with trio.move_on_after(ANSWER_SECONDS):
        async with await trio.open_tcp_stream(host, listener.port) as stream:
            await stream.send_all(asked.encode("latin-1"))
            while b"\r\n" not in head and (chunk := await stream.receive_some(HEAD_BYTES)):
                head += bytes(chunk)
    if b" 200 " not in head.partition(b"\r\n")[0]:
        raise NoAnswerError(f"the engine did not answer on {listener.origin} within {ANSWER_SECONDS:g} s")
