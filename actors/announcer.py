"""Tells clients that a list of theirs has changed: sessions on their stream, listeners on theirs.

Owns what each audience was told of last. Changes that come close together become one, and a change that an audience
cannot see is no change for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import structlog

from actors.actor import Actor, Message
from actors.agent_offers import AgentOffers
from actors.agent_tools import FIRST_REVISION
from actors.agents import AgentsActor
from actors.catalog import CatalogActor
from actors.errors import ActorStoppedError, MailboxFullError
from actors.listeners import AnnounceList, ListenersActor
from actors.published import wait_for_any
from actors.sessions import Announce, SessionsActor
from protocol.session import Audience
from protocol.subscription import ListKind

_Revisions = Mapping[Audience, Mapping[ListKind, int | None]]

_log = structlog.stdlib.get_logger("space")


class Announcer:
    """Follows the lists. `run` must run."""

    def __init__(
        self,
        catalog: CatalogActor,
        agents: AgentsActor,
        offers: AgentOffers,
        sessions: SessionsActor,
        listeners: ListenersActor,
    ) -> None:
        self._catalog = catalog
        self._agents = agents
        self._offers = offers
        self._sessions = sessions
        self._listeners = listeners

    async def run(self) -> None:
        """Tell of changes until cancelled, or until there is nobody left who could be told."""
        catalog = self._catalog
        registered = catalog.tools.value.revision
        told: _Revisions = {}
        while True:
            sources = (catalog.tools, catalog.resources, catalog.prompts, self._agents.agents)
            seen = tuple((source, source.version) for source in sources)
            now = self._offers.revisions()
            same = {kind: _same(told, now, kind) for kind in ListKind}
            changed = [kind for kind in ListKind if len(same[kind]) < len(now)]
            # Whoever has not listed yet may have been told of tools otherwise, and hears of every change.
            if catalog.tools.value.revision != registered and ListKind.TOOLS not in changed:
                changed.append(ListKind.TOOLS)
            told, registered = now, catalog.tools.value.revision
            for kind in changed:
                _log.info("list_changed", kind=kind.value, revision=registered, tools=len(catalog.tools.value))
                try:
                    await _deliver(self._sessions, Announce(same[kind], kind))
                    await _deliver(self._listeners, AnnounceList(kind, same[kind]))
                except ActorStoppedError:
                    return
            await wait_for_any(*seen)


def _same(told: _Revisions, now: _Revisions, kind: ListKind) -> frozenset[Audience]:
    """The audiences whose list of that kind is what they were told of last."""
    return frozenset(
        each for each, revisions in now.items() if told.get(each, {}).get(kind, FIRST_REVISION) == revisions[kind]
    )


async def _deliver(actor: Actor[Any], message: Message[None]) -> None:
    """Deliver one announcement, however long its actor is busy; the last state must reach everybody."""
    while True:
        try:
            return await actor.tell(message)
        except MailboxFullError as error:
            _log.warning("announcement_waits", reason=str(error))
