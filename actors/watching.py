"""From changed resources to the clients that watch them: one task for each client that watches any.

Owns these tasks. Which resources have changed is `ResourceChanges`' business; whom a client is, that of the actors that
are told. A client's watch ends with its session, or with its stream of subscriptions.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

import structlog
import trio

from actors.errors import ActorError, ActorStoppedError
from actors.listeners import AnnounceResourcesTo, Listener, ListenersActor
from actors.resource_changes import ResourceChanges, ResourceWatch
from actors.sessions import AnnounceResources, SessionsActor, Unwatch, Watch
from protocol.resource import ResourceNotFoundError
from protocol.session import Session

_log = structlog.stdlib.get_logger("mcp")

_Tell = Callable[[frozenset[str]], Awaitable[object]]


class Watching:
    """Tells sessions and listeners. `run` holds the tasks."""

    def __init__(self, changes: ResourceChanges, sessions: SessionsActor, listeners: ListenersActor) -> None:
        self._changes = changes
        self._sessions = sessions
        self._listeners = listeners
        self._of_sessions: dict[str, ResourceWatch] = {}
        self._nursery: trio.Nursery | None = None

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Hold the tasks until cancelled."""
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            task_status.started()
            await trio.sleep_forever()

    async def subscribe(self, session: Session, uri: str) -> None:
        """Let a session watch a resource.

        Raises `ResourceNotFoundError`, `TooManySubscriptionsError`, and the errors of an ask.
        """
        if not self._changes.is_there(session.audience, uri):
            raise ResourceNotFoundError(uri)
        ended = await self._sessions.ask(Watch(session.id, uri))
        if ended is None:
            return
        watch = self._of_sessions.get(session.id)
        if watch is None:
            watch = self._changes.watch(session.audience)
            self._of_sessions[session.id] = watch

            async def tell(uris: frozenset[str]) -> None:
                await self._sessions.tell(AnnounceResources(session.id, uris))

            self._follow(watch, tell, ended, lambda: self._of_sessions.pop(session.id, None))
        watch.add(uri)

    async def unsubscribe(self, session: Session, uri: str) -> None:
        """Let a session watch a resource no more. Raises the errors of an ask."""
        watch = self._of_sessions.get(session.id)
        if watch is not None:
            watch.discard(uri)
        await self._sessions.ask(Unwatch(session.id, uri))

    def listen(self, listener: Listener, uris: Iterable[str]) -> None:
        """Let a stream of subscriptions watch these resources until it ends. Returns at once."""
        watched = tuple(uris)
        if not watched:
            return

        async def tell(changed: frozenset[str]) -> None:
            await self._listeners.tell(AnnounceResourcesTo(listener, changed))

        self._follow(self._changes.watch(listener.audience, watched), tell, listener.ended, lambda: None)

    def _follow(self, watch: ResourceWatch, tell: _Tell, ended: trio.Event, on_end: Callable[[], object]) -> None:
        if self._nursery is None:
            raise RuntimeError("a client watches before the engine has started")
        self._nursery.start_soon(_forward, watch, tell, ended, on_end)


async def _forward(watch: ResourceWatch, tell: _Tell, ended: trio.Event, on_end: Callable[[], object]) -> None:
    """Pass on what has changed until the client is gone; then the watch is closed."""

    async def forward() -> None:
        while True:
            uris = await watch.next()
            try:
                await tell(uris)
            except ActorStoppedError:
                return
            except ActorError as error:
                # The client is told with the next change at the latest, and reads the latest state then.
                _log.warning("announcement_lost", reason=str(error))

    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(forward)
            await ended.wait()
            nursery.cancel_scope.cancel()
    finally:
        watch.close()
        on_end()
