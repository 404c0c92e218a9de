"""Writing the rows of the store: one function for each kind of change. Owns the SQL of it, never a transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import datetime, timedelta

from engine.errors import NotFoundError
from engine.settings import Settings
from engine.stored import Commit, DeletedContent, DeletedWorld, WorldCreation, WorldRecovery, WorldRows

NEXT_WORLD_NUMBER = "next_world_number"
"""The setting beside those of `Settings`: the number in the id of the next world."""

DELETED_WORLDS_ARE_KEPT = timedelta(days=30)
"""Time enough to notice that the wrong world was deleted."""


def time_of(text: str) -> datetime | None:
    """The time that a row holds; None when it holds none."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return None if time.tzinfo is None else time


def setting_values(settings: Settings, next_world_number: int) -> Mapping[str, object]:
    """Everything that stands in the table of settings, by name."""
    return {**asdict(settings), NEXT_WORLD_NUMBER: next_world_number}


def changed_settings(commit: Commit) -> Mapping[str, object]:
    """The settings that a commit writes: all of them where one has changed, since they come as one value."""
    values: dict[str, object] = asdict(commit.settings) if commit.settings is not None else {}
    if commit.next_world_number is not None:
        values[NEXT_WORLD_NUMBER] = commit.next_world_number
    return values


def put_settings(connection: sqlite3.Connection, values: Mapping[str, object]) -> None:
    """Set those settings and leave the others."""
    connection.executemany(
        "INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
        [(name, json.dumps(value, ensure_ascii=False)) for name, value in values.items()],
    )


def add_world(connection: sqlite3.Connection, world: WorldCreation) -> None:
    """Add a world with what is in it."""
    connection.execute(
        "INSERT INTO worlds (id, name, created_at, revision, position) VALUES (?, ?, ?, ?, ?)",
        (world.id, world.name, world.created_at.isoformat(), world.revision, world.position),
    )
    put_records(connection, world.id, world.rows.records)
    connection.executemany(
        "INSERT INTO steps (world_id, sequence, label, changes) VALUES (?, ?, ?, ?)",
        ((world.id, *step) for step in world.rows.steps),
    )


def mark_deleted(connection: sqlite3.Connection, world_id: str, deleted_at: datetime) -> None:
    """Delete a world in such a way that it can be brought back until it is purged."""
    connection.execute("UPDATE worlds SET deleted_at = ? WHERE id = ?", (deleted_at.isoformat(), world_id))


def mark_recovered(connection: sqlite3.Connection, recovery: WorldRecovery) -> bool:
    """Let a deleted world be there again. False when there is no such deleted world, or at another revision."""
    done = connection.execute(
        "UPDATE worlds SET deleted_at = NULL, name = ? WHERE id = ? AND deleted_at IS NOT NULL AND revision = ?",
        (recovery.name, recovery.world_id, recovery.revision),
    )
    return done.rowcount == 1


def deleted_worlds(connection: sqlite3.Connection, now: datetime) -> tuple[DeletedWorld, ...]:
    """The deleted worlds that can be recovered at that time, the one deleted last first."""
    found: list[DeletedWorld] = []
    for world_id, name, text in connection.execute(
        "SELECT id, name, deleted_at FROM worlds WHERE deleted_at IS NOT NULL ORDER BY deleted_at DESC, number DESC"
    ):
        deleted_at = time_of(text)
        # Where the time cannot be read, the world is never purged; for the user its time begins now.
        since = now if deleted_at is None else deleted_at
        world = DeletedWorld(
            id=world_id, name=name, deleted_at=since, recoverable_until=since + DELETED_WORLDS_ARE_KEPT
        )
        if now <= world.recoverable_until:
            found.append(world)
    return tuple(found)


def deleted_content(connection: sqlite3.Connection, world_id: str, now: datetime) -> DeletedContent:
    """A deleted world as it lies there. Raises `NotFoundError`, naming those that can be recovered."""
    deleted = deleted_worlds(connection, now)
    world = next((each for each in deleted if each.id == world_id), None)
    if world is None:
        known = ", ".join(f"{each.id} ({each.name})" for each in deleted) or "none"
        raise NotFoundError(f"No deleted world has the id {world_id!r:.80}. Deleted worlds that are kept: {known}.")
    created_at, revision, position = connection.execute(
        "SELECT created_at, revision, position FROM worlds WHERE id = ?", (world_id,)
    ).fetchone()
    records = connection.execute("SELECT collection, id, data FROM records WHERE world_id = ?", (world_id,))
    steps = connection.execute(
        "SELECT sequence, label, changes FROM steps WHERE world_id = ? ORDER BY sequence", (world_id,)
    )
    return DeletedContent(
        world=world,
        created_at=time_of(created_at) or now,
        revision=revision,
        position=position,
        rows=WorldRows(records=tuple(records), steps=tuple(steps)),
    )


def purge_deleted(connection: sqlite3.Connection, now: datetime) -> None:
    """Remove for good what was deleted longer ago than `DELETED_WORLDS_ARE_KEPT`."""
    rows = connection.execute("SELECT id, deleted_at FROM worlds WHERE deleted_at IS NOT NULL").fetchall()
    for world_id, deleted_at in rows:
        deleted = time_of(deleted_at)
        if deleted is not None and deleted + DELETED_WORLDS_ARE_KEPT < now:
            for table, column in (("records", "world_id"), ("steps", "world_id"), ("worlds", "id")):
                connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (world_id,))  # noqa: S608 - our own names


def set_progress(connection: sqlite3.Connection, world_id: str, revision: int, position: int) -> bool:
    """Set a world's revision and how many of its steps are done. False when there is no such world."""
    done = connection.execute(
        "UPDATE worlds SET revision = ?, position = ? WHERE id = ?", (revision, position, world_id)
    )
    return done.rowcount == 1


def put_records(connection: sqlite3.Connection, world_id: str, rows: Iterable[tuple[str, str, str]]) -> None:
    """Add or replace records, given as collection, id and JSON."""
    connection.executemany(
        "INSERT INTO records (world_id, collection, id, data) VALUES (?, ?, ?, ?) "
        "ON CONFLICT DO UPDATE SET data = excluded.data",
        ((world_id, *row) for row in rows),
    )


def drop_records(connection: sqlite3.Connection, world_id: str, keys: Iterable[tuple[str, str]]) -> None:
    """Remove records, given as collection and id."""
    connection.executemany(
        "DELETE FROM records WHERE world_id = ? AND collection = ? AND id = ?", [(world_id, *key) for key in keys]
    )


def add_step(connection: sqlite3.Connection, world_id: str, sequence: int, label: str, changes: str) -> None:
    """Add a step of the history, its changes as JSON."""
    connection.execute(
        "INSERT INTO steps (world_id, sequence, label, changes) VALUES (?, ?, ?, ?)",
        (world_id, sequence, label, changes),
    )


def drop_steps(connection: sqlite3.Connection, world_id: str, first: int) -> None:
    """Remove the steps from that sequence on."""
    connection.execute("DELETE FROM steps WHERE world_id = ? AND sequence >= ?", (world_id, first))


def renumber_steps(connection: sqlite3.Connection, world_id: str, gone: int) -> None:
    """Let the steps count from 1 again after the first `gone` of them are no longer there."""
    # By way of negative numbers, since a number must be free at the moment a step takes it.
    connection.execute("UPDATE steps SET sequence = ? - sequence WHERE world_id = ?", (gone, world_id))
    connection.execute("UPDATE steps SET sequence = -sequence WHERE world_id = ?", (world_id,))


def add_set_aside(
    connection: sqlite3.Connection, now: datetime, world_id: str | None, what: str, name: str, data: str, reason: str
) -> None:
    """Keep something that could not be understood, exactly as it stood there."""
    connection.execute(
        "INSERT INTO set_aside (set_aside_at, world_id, what, name, data, reason) VALUES (?, ?, ?, ?, ?, ?)",
        (now.isoformat(), world_id, what, name, data, reason),
    )
