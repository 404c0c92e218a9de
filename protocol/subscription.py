"""What a client that knows no sessions wants to be told of: one stream of notifications, and its frames.

Owns the filter and its reading. The stream itself is the transport's. Source: MCP specification 2026-07-28,
`subscriptions/listen`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import cast

from protocol.jsonrpc import json_type
from protocol.limits import Limits
from protocol.offer import Offer
from protocol.tool import JsonObject


class ListKind(StrEnum):
    """The lists that can change."""

    TOOLS = "tools"
    PROMPTS = "prompts"
    RESOURCES = "resources"


@dataclass(frozen=True, slots=True)
class SubscriptionFilter:
    """The notifications that go to one stream: changes of lists, of resources, and of tasks."""

    lists: frozenset[ListKind] = frozenset()
    uris: frozenset[str] = frozenset()
    task_ids: frozenset[str] = frozenset()

    @property
    def wire(self) -> dict[str, object]:
        """The filter as a client writes it, in a fixed order."""
        shown: dict[str, object] = {_LISTS[kind]: True for kind in ListKind if kind in self.lists}
        if self.uris:
            shown[_URIS] = sorted(self.uris)
        if self.task_ids:
            shown[_TASKS] = sorted(self.task_ids)
        return shown

    def honoured(self, offer: Offer) -> SubscriptionFilter:
        """The part of it that a server with that offer can keep."""
        there = {
            ListKind.TOOLS: True,
            ListKind.PROMPTS: offer.prompts is not None,
            ListKind.RESOURCES: offer.resources is not None,
        }
        return SubscriptionFilter(
            frozenset(kind for kind in self.lists if there[kind]),
            self.uris if offer.resources is not None else frozenset(),
            self.task_ids if offer.tasks else frozenset(),
        )


def read_filter(params: JsonObject, limits: Limits) -> SubscriptionFilter | str:
    """The filter in the params of a request; or what is wrong with it, as a sentence. Unknown members are skipped."""
    value: object = params.get("notifications")
    if not isinstance(value, Mapping):
        got = "absent" if value is None else json_type(value)
        return f"params.notifications must be an object that names what to be told of; it is {got}"
    asked = cast("JsonObject", value)
    lists: set[ListKind] = set()
    for kind, member in _LISTS.items():
        wanted = asked.get(member)
        if wanted is not None and not isinstance(wanted, bool):
            return f"params.notifications.{member} must be true or false, not {json_type(wanted)}"
        if wanted:
            lists.add(kind)
    uris = _texts(asked, _URIS, limits.uri_chars, limits.subscriptions)
    task_ids = _texts(asked, _TASKS, limits.request_id_chars, limits.subscriptions)
    if isinstance(uris, str):
        return uris
    return task_ids if isinstance(task_ids, str) else SubscriptionFilter(frozenset(lists), uris, task_ids)


_LISTS: Mapping[ListKind, str] = {kind: f"{kind.value}ListChanged" for kind in ListKind}
_URIS = "resourceSubscriptions"
_TASKS = "taskIds"


def _texts(asked: JsonObject, member: str, chars: int, limit: int) -> frozenset[str] | str:
    value: object = asked.get(member, [])
    if not isinstance(value, list):
        return f"params.notifications.{member} must be an array of strings, not {json_type(value)}"
    items = cast("list[object]", value)
    if len(items) > limit:
        return f"params.notifications.{member} has {len(items)} items; the most is {limit}"
    texts = [item for item in items if isinstance(item, str) and len(item) <= chars]
    if len(texts) < len(items):
        return f"params.notifications.{member} must hold strings of at most {chars} characters only"
    return frozenset(texts)
