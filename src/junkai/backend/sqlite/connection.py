"""A store's address in; a connection out that speaks in transactions and raises nothing but StoreErrors."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from junkai.backend.sqlite import schema
from junkai.errors import StoreBusyError, StoreError, StoreFullError, StoreVersionError, UsageError

_SQLITE_MIN: Final = (3, 35, 0)  # RETURNING
_BUSY_SECONDS: Final = 30.0
_PREFIX: Final = "sqlite:///"
#: WAL with synchronous=NORMAL: a commit is in the operating system's hands when it returns, so that no kill of the
#: process loses it. A power cut may take the last commits with it (never half of one); whoever held a claim made by
#: them went down in the same moment, and what was visited is visited again.
_PRAGMAS: Final = (
    "PRAGMA synchronous = NORMAL",
    "PRAGMA cache_size = -65536",  # 64 MB: with the default 2 MB a visit costs 0.1 ms more at a million sources
    "PRAGMA temp_store = MEMORY",
    "PRAGMA wal_autocheckpoint = 8000",  # pages, 64 MB: one that many visits change is copied back once
)

#: Beside its own tree the driver raises these, for numbers and texts that SQLite has no form for.
_DRIVER_ERRORS: Final = (sqlite3.Error, OverflowError, UnicodeEncodeError)

Row = tuple[Any, ...]
Values = Sequence[Any] | Mapping[str, Any]


class UnstorableError(StoreError):
    """The store cannot hold this value"""


def path_of(address: str) -> Path:
    """The file of `sqlite:///relative` or `sqlite:////absolute`. Raises UsageError for anything else."""
    path = address.removeprefix(_PREFIX)
    if not address.startswith(_PREFIX) or not path:
        raise UsageError(address, "not a store's address; write sqlite:///relative.db or sqlite:////absolute.db")
    return Path(path)


class Connection:
    """One SQLite connection. What is written is written inside `transaction`."""

    def __init__(self, address: str, *, delay_s: float, is_read_only: bool) -> None:
        self.address = address
        self.delay_ms = round(delay_s * 1000)
        _check_before_opening(address, is_read_only=is_read_only)
        # A file URI, because a mode can be given only in one.
        uri = f"{path_of(address).absolute().as_uri()}?mode={'ro' if is_read_only else 'rwc'}"
        with self._wrapping():
            self._sqlite = sqlite3.connect(
                uri,
                uri=True,
                timeout=_BUSY_SECONDS,
                isolation_level=None,
                cached_statements=256,
                check_same_thread=False,
            )
        try:
            self._set_up(is_read_only=is_read_only)
        except BaseException:
            self._sqlite.close()
            raise

    def _set_up(self, *, is_read_only: bool) -> None:
        with self._wrapping():
            version = schema.version(self._sqlite)
            if version is None:
                raise StoreError(self.address, "not a Junkai store; give another address")
            if version > schema.VERSION:
                raise StoreVersionError(self.address)
            if version < schema.VERSION:
                if is_read_only:
                    raise StoreError(self.address, "nothing in it yet, or of an older version; `junkai add` sets it up")
                # Of a page of 4 KB, an entry of 2 KB and a little wastes half; 8 KB made cold passes a third cheaper.
                self._sqlite.execute("PRAGMA page_size = 8192")
                self._sqlite.execute("PRAGMA journal_mode = WAL")
                with self.transaction():
                    schema.migrate(self._sqlite)
            for pragma in _PRAGMAS:
                self._sqlite.execute(pragma)

    def close(self) -> None:
        """Idempotent."""
        self._sqlite.close()

    # ── statements ───────────────────────────────────────────────────────────────────────────────────────────────

    def rows(self, sql: str, values: Values = ()) -> list[Row]:
        """All rows of a query."""
        try:
            return self._sqlite.execute(sql, values).fetchall()
        except _DRIVER_ERRORS as error:
            raise _wrapped(self.address, error) from error

    def row(self, sql: str, values: Values = ()) -> Row | None:
        """The first row of a query."""
        try:
            row: Row | None = self._sqlite.execute(sql, values).fetchone()
        except _DRIVER_ERRORS as error:
            raise _wrapped(self.address, error) from error
        return row

    def change(self, sql: str, values: Values = ()) -> int:
        """How many rows a statement changed."""
        return self.change_many(sql, [values])

    def change_many(self, sql: str, many: Iterable[Values]) -> int:
        """How many rows a statement changed, over all the values."""
        try:
            return self._sqlite.executemany(sql, many).rowcount
        except _DRIVER_ERRORS as error:
            raise _wrapped(self.address, error) from error

    def insert(self, sql: str, values: Values = ()) -> int:
        """The id of the row that a statement inserted."""
        try:
            row_id = self._sqlite.execute(sql, values).lastrowid
        except _DRIVER_ERRORS as error:
            raise _wrapped(self.address, error) from error
        assert row_id is not None
        return row_id

    # ── transactions ─────────────────────────────────────────────────────────────────────────────────────────────

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing, and no other writer meanwhile.

        IMMEDIATE: a transaction that reads first and then wants to write fails at once when another wrote in between,
        and no waiting helps.
        """
        with self._wrapping():
            self._sqlite.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._sqlite.execute("COMMIT")
            except BaseException:
                if self._sqlite.in_transaction:  # a full disk has ended it already
                    self._sqlite.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def savepoint(self) -> Iterator[None]:
        """All or nothing of a part of a transaction."""
        with self._wrapping():
            self._sqlite.execute("SAVEPOINT part")
            try:
                yield
            except BaseException:
                if self._sqlite.in_transaction:
                    self._sqlite.execute("ROLLBACK TO part")
                    self._sqlite.execute("RELEASE part")
                raise
            self._sqlite.execute("RELEASE part")

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """Several queries that see the same state. Keep it short: while it is open the WAL cannot be reset."""
        with self._wrapping():
            self._sqlite.execute("BEGIN")
            try:
                yield
            finally:
                if self._sqlite.in_transaction:
                    self._sqlite.execute("ROLLBACK")

    @contextlib.contextmanager
    def _wrapping(self) -> Iterator[None]:
        try:
            yield
        except _DRIVER_ERRORS as error:
            raise _wrapped(self.address, error) from error


def _check_before_opening(address: str, *, is_read_only: bool) -> None:
    if sqlite3.sqlite_version_info < _SQLITE_MIN:
        raise StoreError(address, f"Junkai needs SQLite 3.35 or newer; this Python has {sqlite3.sqlite_version}")
    path = path_of(address)
    try:
        path.exists()
    except OSError as error:  # a name that is too long, say
        raise StoreError(address, f"cannot be opened: {error.strerror}") from error
    if path.is_dir():
        raise StoreError(address, "that is a directory; name a file in it")
    if not path.parent.is_dir():
        raise StoreError(address, f"there is no directory {path.parent}; make it first")
    if is_read_only and not path.exists():
        raise StoreError(address, "no such store yet; `junkai add` makes it")


def _wrapped(address: str, error: Exception) -> StoreError:
    """The error of our own tree that says what to do."""
    match error:
        case OverflowError() | UnicodeEncodeError() | sqlite3.DataError() | sqlite3.IntegrityError():
            return UnstorableError(address, f"cannot hold this value: {error}")
        case sqlite3.ProgrammingError() | sqlite3.InterfaceError():  # a type that no column takes; or closed
            return UnstorableError(address, str(error))
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # without the detail that extended codes carry
    match code:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreBusyError(address, f"another process kept it locked for {_BUSY_SECONDS:.0f} s; try again")
        case sqlite3.SQLITE_FULL:
            return StoreFullError(address, "the disk is full; make room, then start again: nothing was half-written")
        case sqlite3.SQLITE_READONLY:
            return StoreFullError(address, "it is read-only; check the rights of the file and its directory")
        case sqlite3.SQLITE_CANTOPEN:
            return StoreError(address, "cannot be opened; check the rights of the file and its directory")
        case sqlite3.SQLITE_NOTADB:
            return StoreError(address, "not a Junkai store; give another address")
        case sqlite3.SQLITE_CORRUPT:
            return StoreError(address, "the file is damaged; restore a copy, or export what `junkai feeds` still shows")
        case sqlite3.SQLITE_IOERR:
            return StoreError(address, f"the disk failed ({error}); check it, then start again")
    return StoreError(address, str(error))
