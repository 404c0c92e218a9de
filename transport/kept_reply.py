"""Waiting for a reply that must not be lost: what it gives has to be given back by whoever asked for it."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

import trio

ReplyT = TypeVar("ReplyT")


async def kept_reply(reply: Awaitable[ReplyT]) -> ReplyT:
    """The reply, also to a request that is being cancelled: its client may be gone, and what was opened must be closed.

    Only for what actors answer at once; the wait is not cancelled.
    """
    with trio.CancelScope(shield=True):
        return await reply
    raise AssertionError("nothing cancels that scope")
