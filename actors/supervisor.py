"""The supervisor: one nursery that holds every actor, an ordered start and an ordered end.

Owns which actors run and in which order; never looks into one. It stands outside the web app, so that a crash there
cannot take an actor along. A crash of an actor ends the nursery, and the engine with it: half an engine helps nobody.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import structlog
import trio

from actors.actor import Actor, ActorStatistics

STOP_SECONDS = 10.0
"""How long one actor may take for what its mailbox still holds, before it is cancelled."""

_log = structlog.stdlib.get_logger("actors")


class Supervisor:
    """Runs a fixed set of actors. Takes them in any order and sorts them by rank."""

    def __init__(self, actors: Sequence[Actor[Any]]) -> None:
        self._upwards = sorted(actors, key=lambda actor: actor.rank)
        self._stop = trio.Event()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Start the actors from the bottom up, hold them until `stop`, then end them from the top down.

        Returns when every actor has ended. An actor that fails to start, or crashes, cancels the others, and its error
        is raised here.
        """
        async with trio.open_nursery() as nursery:
            for actor in self._upwards:
                await nursery.start(actor.run)
            task_status.started()
            await self._stop.wait()
            for actor in reversed(self._upwards):
                actor.close()
                with trio.move_on_after(STOP_SECONDS) as scope:
                    await actor.wait_finished()
                if scope.cancelled_caught:
                    _log.error("actor_stop_timeout", actor=actor.name, depth=actor.statistics().depth)
                    nursery.cancel_scope.cancel()

    def stop(self) -> None:
        """Begin the ordered end. Returns at once; does nothing the second time."""
        self._stop.set()

    def statistics(self) -> tuple[ActorStatistics, ...]:
        """The figures of every actor, from the top of the order down."""
        return tuple(actor.statistics() for actor in reversed(self._upwards))
