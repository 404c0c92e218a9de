"""Which resources have changed, for those who watch them: each change of a source is looked at once, and told once.

Owns the watches. A resource counts as changed when its stamp differs from what it was (`ResourceAdapter.stamp`), or
when somebody touches it; a change of something else tells nobody. Never reads a resource. What a watch has not fetched
yet is a set of uris, so a flood becomes one word for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, Self

import structlog
import trio

from actors.agent_offers import AgentOffers
from actors.published import Published, wait_for_any
from engine.errors import ConflictError, EngineError
from presets.moment import Moment
from presets.resource_adapters import AnyResource, stamp_of
from protocol.limits import DEFAULT_LIMITS
from protocol.resource_list import ResourceList
from protocol.session import Audience

_log = structlog.stdlib.get_logger("mcp")

_NO_STAMP = object()
"""Of a resource that is not offered now, or whose stamp fails. It keeps the stamp it had, and nothing is said."""

_NOT_THERE = object()
"""Of a uri that fits a resource which is offered, where there is nothing: that it goes or comes is a change."""


class TooManyWatchedError(ConflictError):
    """Raised for one resource more than a watch takes. The watch is as it was."""


class ResourceWatch:
    """The resources that one client watches. Made by `ResourceChanges.watch`; whoever made it closes it."""

    def __init__(self, changes: ResourceChanges, audience: Audience, most: int) -> None:
        self._changes = changes
        self.audience = audience
        self._most = most
        self._stamps: dict[str, object] = {}
        self._changed: dict[str, None] = {}
        self._told = trio.Event()

    @property
    def uris(self) -> frozenset[str]:
        """What is watched."""
        return frozenset(self._stamps)

    def add(self, uri: str) -> None:
        """Watch this uri from now on, whether or not there is such a resource yet. Twice is harmless.

        Raises `TooManyWatchedError`.
        """
        if uri in self._stamps:
            return
        if len(self._stamps) >= self._most:
            raise TooManyWatchedError(f"{self._most} resources are watched already, which is the most; let one go")
        self._stamps[uri] = self._changes.stamp(self.audience, uri)

    def discard(self, uri: str) -> None:
        """Watch this uri no more; nothing is said of it any more either."""
        self._stamps.pop(uri, None)
        self._changed.pop(uri, None)

    async def next(self) -> frozenset[str]:
        """Wait until something has changed, and give all that has since the last time. For one task at a time."""
        while not self._changed:
            self._told = trio.Event()
            await self._told.wait()
        changed = frozenset(self._changed)
        self._changed.clear()
        return changed

    def close(self) -> None:
        """Watch nothing any more. Twice is harmless."""
        self._stamps.clear()
        self._changed.clear()
        self._changes.forget(self)

    def look(self, stamp: Callable[[str], object]) -> None:
        """Compare all stamps with what they were. For `ResourceChanges` alone."""
        for uri, old in tuple(self._stamps.items()):
            now = stamp(uri)
            if now is _NO_STAMP:
                continue
            self._stamps[uri] = now
            if old is not _NO_STAMP and now != old:
                self.note(uri)

    def note(self, uri: str) -> None:
        """Say that a uri has changed, where it is watched. For `ResourceChanges` alone."""
        if uri in self._stamps:
            self._changed[uri] = None
            self._told.set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class ResourceChanges:
    """Follows the sources for whoever watches. `run` must run; `moment` gives how the engine stands now."""

    def __init__(
        self,
        offers: AgentOffers,
        moment: Callable[[], Moment],
        sources: Iterable[Published[Any]],
        most: int = DEFAULT_LIMITS.subscriptions,
    ) -> None:
        self._offers = offers
        self._moment = moment
        self._sources = tuple(sources)
        self._most = most
        self._watches: dict[ResourceWatch, None] = {}

    def watch(self, audience: Audience, uris: Iterable[str] = ()) -> ResourceWatch:
        """A watch for a client of that audience, to be closed. It tells of changes that come after this moment.

        Raises `TooManyWatchedError`.
        """
        watch = ResourceWatch(self, audience, self._most)
        for uri in uris:
            watch.add(uri)
        self._watches[watch] = None
        return watch

    def forget(self, watch: ResourceWatch) -> None:
        """For `ResourceWatch.close` alone."""
        self._watches.pop(watch, None)

    def touch(self, uri: str) -> None:
        """Tell those who watch this uri and may see it that it has changed. Returns at once."""
        for watch in tuple(self._watches):
            if uri in watch.uris and self.is_there(watch.audience, uri):
                watch.note(uri)

    def is_there(self, audience: Audience, uri: str) -> bool:
        """Whether that audience would find something there now, as far as that is known without reading it."""
        found = self._find(audience, uri)
        return found is not None and self._stamp(audience, uri, self._moment()) is not _NOT_THERE

    def stamp(self, audience: Audience, uri: str) -> object:
        """What a resource is made of now. For watches alone."""
        return self._stamp(audience, uri, self._moment())

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Follow the sources until cancelled."""
        task_status.started()
        while True:
            seen = [(source, source.version) for source in self._sources]
            self._look()
            await wait_for_any(*seen)

    def _look(self) -> None:
        if not self._watches:
            return
        moment = self._moment()
        for watch in tuple(self._watches):
            audience = watch.audience
            watch.look(lambda uri, audience=audience: self._stamp(audience, uri, moment))

    def _stamp(self, audience: Audience, uri: str, moment: Moment) -> object:
        found = self._find(audience, uri)
        if found is None:
            return _NO_STAMP
        try:
            stamp = stamp_of(*found, moment)
        except Exception:  # noqa: BLE001 - the boundary of a stamp: one that fails costs its own resource a word
            _log.exception("stamp_failed", uri=uri)
            return _NO_STAMP
        return _NOT_THERE if stamp is None else stamp

    def _find(self, audience: Audience, uri: str) -> tuple[AnyResource, Mapping[str, str]] | None:
        try:
            return find_resource(self._offers.resources_of(audience), uri)
        except EngineError:
            return None


def find_resource(listed: ResourceList, uri: str) -> tuple[AnyResource, Mapping[str, str]] | None:
    """The resource of that uri, or the first template that it fits with the values of its names; None for none."""
    definition = listed.resources.by_key.get(uri)
    if definition is not None:
        return definition, {}
    for template in listed.templates.by_key.values():
        values = template.template.match(uri)
        if values is not None:
            return template, values
    return None
