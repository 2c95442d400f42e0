"""A bare SQLite connection in; the version of its schema out, and the schema made or brought up to date."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_MIGRATIONS: Final = sorted((Path(__file__).parent / "migrations").glob("[0-9]*.sql"))
VERSION: Final = len(_MIGRATIONS)
_APPLICATION_ID: Final = int.from_bytes(b"Jnki", "big")  # what `file` and we know a store by


def version(connection: sqlite3.Connection) -> int | None:
    """0 for an empty database, None for one that is not a Junkai store."""
    application_id = int(connection.execute("PRAGMA application_id").fetchone()[0])
    if application_id == _APPLICATION_ID:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])
    is_empty = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    return 0 if application_id == 0 and is_empty else None


def migrate(connection: sqlite3.Connection) -> None:
    """Run what is missing. Inside the caller's transaction, so that a store is never half of one version.

    The version is read again here: another process may have migrated while we waited for the lock.
    """
    for file in _MIGRATIONS[version(connection) or 0 :]:
        for statement in _statements(file.read_text(encoding="utf-8")):
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {VERSION}")


def _statements(script: str) -> Iterator[str]:
    """`executescript` would commit first."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
