"""The tables of the store, and how an SQLite file is recognised as one of ours. Owns the schema and its version."""

from __future__ import annotations

import sqlite3
from pathlib import Path

APPLICATION_ID = 0x53504143
"""`SPAC`, in the header of the file, so that `file` and we know whose it is."""

SCHEMA_VERSION = 1
"""Stands in the header of the file (`PRAGMA user_version`). Grows with every change of the tables below."""

_SQLITE_HEADER = b"SQLite format 3\0"

_TABLES = """
CREATE TABLE worlds (
    number INTEGER PRIMARY KEY,      -- order of creation
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    created_at TEXT NOT NULL,        -- ISO 8601, UTC, as all times
    deleted_at TEXT,                 -- not NULL: deleted, kept until it is purged
    revision INTEGER NOT NULL,
    position INTEGER NOT NULL        -- how many steps are done; the later ones are undone
) STRICT;
CREATE TABLE records (
    world_id TEXT NOT NULL,
    collection TEXT NOT NULL,
    id TEXT NOT NULL,
    data TEXT NOT NULL,              -- JSON, see engine.codec
    PRIMARY KEY (world_id, collection, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE steps (
    world_id TEXT NOT NULL,
    sequence INTEGER NOT NULL,       -- from 1, without gaps
    label TEXT NOT NULL,
    changes TEXT NOT NULL,           -- JSON, see engine.codec
    PRIMARY KEY (world_id, sequence)
) STRICT;
CREATE TABLE settings (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL              -- JSON
) STRICT, WITHOUT ROWID;
CREATE TABLE set_aside (
    number INTEGER PRIMARY KEY,
    set_aside_at TEXT NOT NULL,
    world_id TEXT,
    what TEXT NOT NULL,              -- 'record', 'step', 'setting' or 'world'
    name TEXT NOT NULL,              -- collection and id, sequence and label, or name
    data TEXT NOT NULL,              -- exactly as it stood there
    reason TEXT NOT NULL
) STRICT;
"""


class BrokenFileError(Exception):
    """Raised for a file that is no database, a damaged one, or one of another program. The text says which."""


class NewerFileError(Exception):
    """Raised for a file that a newer version has written."""


def check_header(file: Path) -> None:
    """Look at the file before SQLite does, since SQLite removes the log of a database that it does not recognise.

    Raises `BrokenFileError`, and `OSError` as the system does. A file that is missing or empty is fine without a log.
    """
    try:
        with file.open("rb") as raw:
            start = raw.read(len(_SQLITE_HEADER))
    except FileNotFoundError:
        start = b""
    log = file.with_name(file.name + "-wal")
    if not start and log.exists() and log.stat().st_size:
        raise BrokenFileError("it is empty, yet there is a log of changes to it")
    if start and start != _SQLITE_HEADER:
        raise BrokenFileError("it is not an SQLite database")


def prepare(connection: sqlite3.Connection) -> None:
    """Make sure that the database is sound and has our tables; makes them in an empty one.

    Raises `BrokenFileError`, `NewerFileError`, and `sqlite3.Error` for what is not the file's fault.
    """
    try:
        application, version = _pragma(connection, "application_id"), _pragma(connection, "user_version")
        empty = not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
        if not empty and application != APPLICATION_ID:
            raise BrokenFileError("it is an SQLite database, but of another program")
        if version > SCHEMA_VERSION:
            raise NewerFileError(
                f"it has schema version {version}, and this version of Space knows versions up to {SCHEMA_VERSION}"
            )
        if not empty:
            verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if verdict != "ok":
                raise BrokenFileError(f"SQLite's check of it says: {verdict}")
        mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode != "wal":
            raise sqlite3.OperationalError(f"the file system does not support write-ahead logging (mode {mode})")
        # NORMAL: what is committed is in the operating system's hands, and so survives the end of the process at any
        # moment. A loss of power may cost the last commits, but never the database.
        connection.execute("PRAGMA synchronous = NORMAL")
        if empty:
            _create(connection)
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise BrokenFileError(str(error)) from error
        raise


def _create(connection: sqlite3.Connection) -> None:
    connection.executescript(
        f"BEGIN IMMEDIATE; PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA_VERSION};"
        f"{_TABLES} COMMIT;"
    )


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])
