"""The notifications that this server sends, as bytes. Owns their form; when they are sent is the streams' business."""

from __future__ import annotations

from protocol.jsonrpc import RequestId, encode_notification
from protocol.versions import REVISIONS

TOOLS_LIST_CHANGED = encode_notification("notifications/tools/list_changed")
"""Tells a client to fetch the list of tools again."""


def progress_notification(
    token: RequestId, done: float, total: float | None, message: str | None, version: str
) -> bytes:
    """How far a call is. `token` is the one of the request; `message` is left out where the version does not know it.

    Raises `KeyError` for a version that is not served.
    """
    params: dict[str, object] = {"progressToken": token, "progress": done}
    if total is not None:
        params["total"] = total
    if message is not None and REVISIONS[version].progress_message:
        params["message"] = message
    return encode_notification("notifications/progress", params)
