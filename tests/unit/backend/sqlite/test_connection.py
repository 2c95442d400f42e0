from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from junkai.backend.listed import FeedFilter
from junkai.backend.protocol import NewSource
from junkai.backend.sqlite import connection, schema
from junkai.backend.sqlite.store import SqliteStore
from junkai.errors import StoreBusyError, StoreError, StoreFullError, StoreVersionError
from junkai.model import TurnRef

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def opened(path: Path, *, is_read_only: bool = False) -> SqliteStore:
    return SqliteStore(f"sqlite:///{path}", delay_s=1.0, is_read_only=is_read_only)


def refused(path: Path, *, is_read_only: bool = False) -> StoreError:
    with pytest.raises(StoreError) as caught:
        opened(path, is_read_only=is_read_only)
    return caught.value


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def made(path: Path) -> Path:
    with closing(opened(path)) as store:
        store.frontier.add([NewSource(url="https://a.test/")], NOW)
    return path


# ── opening ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_store_is_made_whole_and_opened_again(made: Path) -> None:
    with closing(opened(made)) as store:
        assert 1 == store.statistics.counts(NOW).sources
    with closing(sqlite3.connect(made)) as bare:
        assert (schema.VERSION,) == bare.execute("PRAGMA user_version").fetchone()
        assert ("wal",) == bare.execute("PRAGMA journal_mode").fetchone()
        assert ("ok",) == bare.execute("PRAGMA integrity_check").fetchone()


def test_closing_twice_is_fine(path: Path) -> None:
    store = opened(path)
    store.close()
    store.close()

    with pytest.raises(StoreError, match="closed"):
        store.statistics.counts(NOW)


def test_a_schema_that_fails_halfway_leaves_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    half = [path.with_name("0001.sql")]
    half[0].write_text("CREATE TABLE host (host_id INTEGER);\nCREATE NONSENSE;\n")
    with monkeypatch.context() as patch:
        patch.setattr(schema, "_MIGRATIONS", half)
        assert "NONSENSE" in str(refused(path))

    with closing(opened(path)) as store:
        assert 0 == store.statistics.counts(NOW).sources


def test_a_file_of_garbage_is_no_store_and_is_left_alone(path: Path) -> None:
    path.write_bytes(b"garbage, and plenty of it" * 100)

    assert f"sqlite:///{path}: not a Junkai store; give another address" == str(refused(path))
    assert b"garbage, and plenty of it" * 100 == path.read_bytes()


def test_another_programs_database_is_no_store_and_is_left_alone(path: Path) -> None:
    with closing(sqlite3.connect(path)) as bare:
        bare.execute("CREATE TABLE theirs (x)")

    assert "not a Junkai store" in str(refused(path))
    with closing(sqlite3.connect(path)) as bare:
        assert [("theirs",)] == bare.execute("SELECT name FROM sqlite_master").fetchall()


def test_a_newer_store_says_what_to_upgrade(made: Path) -> None:
    with closing(sqlite3.connect(made)) as bare:
        bare.execute(f"PRAGMA user_version = {schema.VERSION + 1}")

    error = refused(made)

    assert isinstance(error, StoreVersionError)
    assert "upgrade Junkai" in str(error)


def test_a_missing_directory_is_named(tmp_path: Path) -> None:
    assert f"there is no directory {tmp_path}/none" in str(refused(tmp_path / "none" / "store.db"))
    assert not (tmp_path / "none").exists()


def test_a_directory_is_no_store(tmp_path: Path) -> None:
    assert "that is a directory" in str(refused(tmp_path))


def test_an_old_sqlite_is_refused_with_both_versions(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    monkeypatch.setattr(sqlite3, "sqlite_version", "3.34.1")

    assert "needs SQLite 3.35 or newer; this Python has 3.34.1" in str(refused(path))
    assert not path.exists()


def test_reading_a_store_that_is_not_there_makes_none(path: Path) -> None:
    assert "no such store yet" in str(refused(path, is_read_only=True))
    assert not path.exists()


def test_an_empty_file_is_not_yet_a_store_to_read(path: Path) -> None:
    path.touch()

    assert "sets it up" in str(refused(path, is_read_only=True))
    opened(path).close()


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────


REF = TurnRef(host_id=1, turn_no=1)
WRITES: list[Callable[[SqliteStore], object]] = [
    lambda store: store.frontier.add([NewSource(url="https://b.test/")], NOW),
    lambda store: store.frontier.claim(owner="me", now=NOW, lease_s=1, hosts_max=1, sources_per_host_max=1),
    lambda store: store.frontier.claim_host("b.test", owner="me", now=NOW, lease_s=1),
    lambda store: store.frontier.renew([REF], now=NOW, lease_s=1),
    lambda store: store.frontier.release([REF], NOW),
    lambda store: store.catalogue.pause("https://a.test/", NOW),
    lambda store: store.catalogue.resume("https://a.test/", NOW),
    lambda store: store.catalogue.remove("https://a.test/"),
    lambda store: store.catalogue.refresh(None, NOW),
    lambda store: store.hosts.change("a.test", NOW, delay_s=2.0),
]


@pytest.mark.parametrize("write", WRITES)
def test_a_store_opened_to_read_refuses_every_write(made: Path, write: Callable[[SqliteStore], object]) -> None:
    with closing(opened(made, is_read_only=True)) as store:
        with pytest.raises(StoreFullError, match="read-only"):
            write(store)

        assert ["https://a.test/"] == [row.source.url for row in store.catalogue.feeds(FeedFilter())]
        assert 1 == store.statistics.counts(NOW).due


@pytest.mark.parametrize("write", WRITES)
def test_a_locked_store_is_busy_by_name(
    made: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[SqliteStore], object]
) -> None:
    monkeypatch.setattr(connection, "_BUSY_SECONDS", 0.0)
    with closing(opened(made)) as store, closing(sqlite3.connect(made, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        with pytest.raises(StoreBusyError) as caught:
            write(store)

    assert f"sqlite:///{made}" == caught.value.subject


def test_a_full_disk_says_so_and_nothing_is_half_written(made: Path) -> None:
    with closing(opened(made)) as store:
        bare = store._connection._sqlite  # the limit is the connection's own
        pages = bare.execute("PRAGMA page_count").fetchone()[0]
        bare.execute(f"PRAGMA max_page_count = {pages + 4}")

        with pytest.raises(StoreFullError, match="disk is full"):
            store.frontier.add([NewSource(url=f"https://h{number}.test/") for number in range(5_000)], NOW)

        counts = store.statistics.counts(NOW)
        assert (1, 1) == (counts.sources, counts.hosts)
        assert [("ok",)] == bare.execute("PRAGMA integrity_check").fetchall()
        bare.execute("PRAGMA max_page_count = 1000000")
        assert [True] == store.frontier.add([NewSource(url="https://b.test/")], NOW)


def test_an_empty_claim_waits_for_no_writer(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_BUSY_SECONDS", 0.0)
    with closing(opened(path)) as store, closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        claims = store.frontier.claim(owner="me", now=NOW, lease_s=9.0, hosts_max=9, sources_per_host_max=9, shard=3)

    assert [] == claims
