"""The providers actor: sole owner of the user's providers of models and of their keys.

A change is answered once it is durable. What somebody has written into the files meanwhile is read before each answer
and each change, so that it is shown and never lost. Keys leave it in the published value alone, for whoever asks a
model; no reply holds one. Mailbox: the default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import structlog
import trio

from actors import ranks
from actors.actor import Actor, Message, handles
from actors.provider_book import ProviderBook, ProviderRow
from actors.provider_files import LoadedProviders, ProviderFiles, ProviderStore
from actors.published import Published
from blocks.providers import Providers
from engine.errors import EngineError

KEPT_REPORTS = 20
"""Reports that are shown, the last ones; the log has all of them."""

_log = structlog.stdlib.get_logger("models")


@dataclass(frozen=True, slots=True)
class ProvidersView:
    """All providers as they may be shown, the id of the default one, and what was wrong with the files."""

    rows: tuple[ProviderRow, ...]
    default_id: str | None
    reports: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReadProviders(Message[ProvidersView]):
    """Give all providers."""


@dataclass(frozen=True, slots=True)
class PutProvider(Message[ProviderRow]):
    """Add a provider, or replace what is said of one; see `ProviderBook.with_provider`."""

    provider_id: str
    raw: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class DeleteProvider(Message[ProviderRow]):
    """Take a provider away, with its key. The reply is what it was. Raises `NotFoundError`."""

    provider_id: str


@dataclass(frozen=True, slots=True)
class ChooseDefaultProvider(Message[ProvidersView]):
    """Choose the provider for whatever names none; None for no such provider. Raises `NotFoundError`."""

    provider_id: str | None


class ProvidersActor(Actor[ProviderBook]):
    """Keeps the book whole: in memory as on disk."""

    name: ClassVar[str] = "providers"
    rank: ClassVar[int] = ranks.PROVIDERS

    def __init__(self, store: ProviderStore | None) -> None:
        """Without a store, providers are there as long as the engine runs."""
        super().__init__(ProviderBook())
        self._store = store
        self._reports: tuple[str, ...] = ()
        self._troubles: tuple[str, ...] = ()
        self.providers: Published[Providers] = Published(Providers())
        """Those that can be used, with their keys. Never to be shown, logged or kept."""

    @staticmethod
    def in_folder(data: Path | None) -> ProvidersActor:
        """The actor over the files in a data folder; over nothing that lasts where there is none."""
        return ProvidersActor(None if data is None else ProviderFiles(data, clock=lambda: datetime.now(UTC)))

    async def prepare(self) -> None:
        """Read the files. An error of the disk fails the start: it must not look as if there were no providers."""
        if self._store is None:
            return
        loaded = await trio.to_thread.run_sync(self._store.load)
        self._take(loaded)

    @handles(ReadProviders)
    async def _read(self, message: ReadProviders) -> ProvidersView:
        try:
            await self._read_anew(changing=False)
        except EngineError as error:
            # What cannot be read now is told, and what was read before is used.
            self._tell((str(error),))
        return self._view()

    @handles(PutProvider)
    async def _put(self, message: PutProvider) -> ProviderRow:
        await self._read_anew()
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        await self._save(self.state.with_provider(message.provider_id, message.raw, now))
        return self.state.row(message.provider_id)

    @handles(DeleteProvider)
    async def _delete(self, message: DeleteProvider) -> ProviderRow:
        await self._read_anew()
        row = self.state.row(message.provider_id)
        await self._save(self.state.without_provider(message.provider_id))
        return row

    @handles(ChooseDefaultProvider)
    async def _choose(self, message: ChooseDefaultProvider) -> ProvidersView:
        await self._read_anew()
        await self._save(self.state.with_default(message.provider_id))
        return self._view()

    async def _save(self, book: ProviderBook) -> None:
        if self._store is not None:
            await trio.to_thread.run_sync(self._store.save, self.state, book)
        self._become(book)

    async def _read_anew(self, *, changing: bool = True) -> None:
        """Take over what somebody has written into the files."""
        if self._store is None:
            return
        loaded = await trio.to_thread.run_sync(partial(self._store.reload, self.state, changing=changing))
        if loaded is None:
            self._troubles = ()
        else:
            _log.info("provider_files_read_anew")
            self._take(loaded)

    def _take(self, loaded: LoadedProviders) -> None:
        for report in loaded.reports:
            if report not in self._reports:
                _log.warning("provider_file", report=report)
                self._reports = (*self._reports, report)[-KEPT_REPORTS:]
        self._tell(loaded.troubles)
        before = self.providers.value.faults
        self._become(loaded.book)
        for fault in self.providers.value.faults:
            if fault not in before:
                _log.warning("provider_left_out", reason=fault)

    def _tell(self, troubles: tuple[str, ...]) -> None:
        for trouble in troubles:
            if trouble not in self._troubles:
                _log.warning("provider_file", report=trouble)
        self._troubles = troubles

    def _become(self, book: ProviderBook) -> None:
        self.state = book
        self.providers.publish(book.providers())

    def _view(self) -> ProvidersView:
        return ProvidersView(self.state.rows(), self.state.default_id, (*self._reports, *self._troubles))
