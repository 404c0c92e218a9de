"""The store: everything the engine keeps, in one SQLite file in the data folder. Owns "what is acknowledged is kept".

When `write` has returned, the commit survives the end of this process at any moment, `kill -9` included. A commit is
one transaction, so a half of one is never seen. It never looks into a record and has no clock: whoever opens it says
what time it is. Its methods block and may be called from any thread, one at a time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from engine import domains, store_rows, store_schema
from engine.codec import Codec
from engine.collector import collector_paused
from engine.data_folder import FolderLock, set_aside
from engine.errors import EngineError
from engine.store_loading import StateLoader
from engine.stored import Commit, DeletedContent, DeletedWorld, StoredState, StoredWorld, WorldCommit

STORE_FILE = "space.db"
"""The name of the database within the data folder."""

BUSY_TIMEOUT_SECONDS = 5.0
"""How long to wait for another program that has the database open, such as a backup. Engines exclude each other."""

_WAL_FILES = ("-wal", "-shm")
"""What SQLite keeps beside a database: without them it may lack its last transactions."""


class StoreError(EngineError):
    """Raised when the store cannot be opened, read or written: no room, no permission. Nothing has been written."""


class Store:
    """An open store. Close it, or use it in a `with` block; until then no other engine can open it."""

    def __init__(
        self, connection: sqlite3.Connection, lock: FolderLock, codec: Codec, now: datetime, report: str | None
    ) -> None:
        """For `Store.open`."""
        self._connection = connection
        self._lock = lock
        self._codec = codec
        self._now = now
        self._report = report

    @classmethod
    def open(cls, folder: Path, *, now: datetime, codec: Codec | None = None) -> Store:
        """Open the store in a data folder, or make one where there is none.

        A file that is broken is renamed to `space.db.broken-<n>` and reported by `load`; a new one takes its place.
        Worlds that were deleted more than 30 days before `now` are removed for good.
        Raises `FolderInUseError` while another engine works in the folder, `StoreError` when the file was written by a
        newer version (it is left alone) or cannot be opened.
        """
        try:
            lock = FolderLock(folder)
        except OSError as error:
            raise StoreError(f"The data folder {str(folder)!r} cannot be used: {error.strerror}.") from error
        try:
            connection, report = _sound_connection(folder / STORE_FILE)
            store = cls(connection, lock, codec or domains.world_codec(), now, report)
            with store._transaction("tidied up"):
                store_rows.purge_deleted(connection, now)
        except BaseException:
            lock.release()
            raise
        return store

    def load(self) -> StoredState:
        """The state as it was written last; of a new store, one empty world named `home`.

        What cannot be decoded is set aside in a table and reported, and does not stop the rest.
        """
        with self._transaction("read"), collector_paused():
            state = StateLoader(self._connection, self._codec, self._now).load()
        reports = state.reports if self._report is None else (self._report, *state.reports)
        return StoredState(
            settings=state.settings,
            next_world_number=state.next_world_number,
            worlds=state.worlds,
            reports=reports,
        )

    def write(self, commit: Commit) -> None:
        """Write a commit, whole or not at all; when this returns, it is kept. Raises `StoreError`."""
        if commit.empty:
            return
        write_world = self._prepared(commit.world) if commit.world else None
        with self._transaction("written"):
            if commit.settings is not None or commit.next_world_number is not None:
                store_rows.put_settings(self._connection, store_rows.changed_settings(commit))
            for world in commit.created:
                store_rows.add_world(self._connection, world)
            for deletion in commit.deleted:
                store_rows.mark_deleted(self._connection, deletion.world_id, deletion.deleted_at)
            for recovery in commit.recovered:
                if not store_rows.mark_recovered(self._connection, recovery):
                    raise StoreError(
                        f"The store has no deleted world {recovery.world_id!r} at revision {recovery.revision}; it has "
                        "changed since it was read. Look at the deleted worlds again."
                    )
            if write_world is not None:
                write_world()

    def deleted_worlds(self, now: datetime) -> tuple[DeletedWorld, ...]:
        """The deleted worlds that can be recovered at that time, the one deleted last first. Raises `StoreError`."""
        with self._transaction("read"):
            return store_rows.deleted_worlds(self._connection, now)

    def read_deleted(self, world_id: str, now: datetime) -> DeletedContent:
        """A deleted world as it lies here, to be decoded elsewhere (`store_loading.decoded`).

        Raises `NotFoundError`, naming the deleted worlds that can be recovered at that time, and `StoreError`.
        """
        with self._transaction("read"):
            return store_rows.deleted_content(self._connection, world_id, now)

    def mend_deleted(self, world_id: str, now: datetime) -> tuple[StoredWorld, tuple[str, ...]]:
        """A deleted world of which a part cannot be decoded, and the reports of what was set aside. As `load` does.

        Raises as `read_deleted`.
        """
        with self._transaction("mended"):
            store_rows.deleted_content(self._connection, world_id, now)
            loader = StateLoader(self._connection, self._codec, now)
            return loader.load_one(world_id), loader.reports

    def close(self) -> None:
        """Close it and let others have the data folder. Closing twice does nothing."""
        self._connection.close()
        self._lock.release()

    def _prepared(self, world: WorldCommit) -> Callable[[], None]:
        """Encode first, so that a record which cannot be encoded is noticed before anything is written."""
        put = [
            (change.collection, change.id, self._codec.encode(change.after))
            for change in world.changes
            if change.after is not None
        ]
        dropped = [(change.collection, change.id) for change in world.changes if change.after is None]
        steps = [(step.sequence, step.label, self._codec.encode_changes(step.changes)) for step in world.steps]

        def write() -> None:
            if not store_rows.set_progress(self._connection, world.world_id, world.revision, world.position):
                raise StoreError(f"The store has no world {world.world_id!r}.")
            store_rows.put_records(self._connection, world.world_id, put)
            store_rows.drop_records(self._connection, world.world_id, dropped)
            if world.drop_steps_from is not None:
                store_rows.drop_steps(self._connection, world.world_id, world.drop_steps_from)
            for step in steps:
                store_rows.add_step(self._connection, world.world_id, *step)

        return write

    @contextmanager
    def _transaction(self, purpose: str) -> Generator[None]:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                # SQLite has already rolled back after some errors, and then a second time is an error of its own.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise StoreError(f"The store could not be {purpose}: {error}. Nothing has changed.") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _sound_connection(file: Path) -> tuple[sqlite3.Connection, str | None]:
    """A connection to a database that has our tables; and what there is to report of a file that had to make way."""
    try:
        try:
            return _prepared_connection(file), None
        except store_schema.BrokenFileError as error:
            kept = set_aside(file, _WAL_FILES)
            report = f"The store {str(file)!r} is broken: {error}. It is kept as {kept.name!r}; an empty one was made."
            return _prepared_connection(file), report
    except store_schema.NewerFileError as error:
        raise StoreError(f"The store {str(file)!r} cannot be opened: {error}. Start the newer version.") from error
    except (sqlite3.Error, OSError) as error:
        raise StoreError(f"The store {str(file)!r} cannot be opened: {error}.") from error


def _prepared_connection(file: Path) -> sqlite3.Connection:
    store_schema.check_header(file)
    connection = sqlite3.connect(file, timeout=BUSY_TIMEOUT_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        store_schema.prepare(connection)
    except BaseException:
        connection.close()
        raise
    return connection
