from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from junkai.backend.protocol import NewSource
from junkai.backend.sqlite import schema, statistics
from junkai.backend.sqlite.store import SqliteStore
from junkai.url import url_key

NOW = datetime(2026, 3, 1, tzinfo=UTC)
LATER = NOW + timedelta(minutes=5)


def opened(path: Path) -> SqliteStore:
    return SqliteStore(f"sqlite:///{path}", delay_s=0.0, is_read_only=False)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    with closing(opened(path)) as made:
        yield made


def test_a_backlog_beyond_the_bound_says_so(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.frontier.add([NewSource(url=f"https://a.test/{number}") for number in range(5)], LATER)
    monkeypatch.setattr(statistics, "SOURCES_MAX", 4)

    backlog = store.statistics.backlog(LATER)

    assert (4, True) == (backlog.free, backlog.is_capped)
    assert [(LATER, 4)] == store.statistics.planned(NOW, LATER + timedelta(minutes=1))


def test_a_backlog_below_the_bound_is_not_capped(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.frontier.add([NewSource(url=f"https://a.test/{number}") for number in range(3)], NOW)
    monkeypatch.setattr(statistics, "SOURCES_MAX", 4)

    assert not store.statistics.backlog(NOW).is_capped


def test_only_so_many_held_hosts_are_looked_at(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    for host in "abc":
        store.hosts.change(f"{host}.test", NOW, is_blocked=True)
    monkeypatch.setattr(statistics, "HELD_HOSTS_MAX", 2)

    assert 2 == len(store.statistics.held(NOW, 10))


def test_a_claim_that_finds_nothing_ready_writes_nothing(store: SqliteStore) -> None:
    store.frontier.add([NewSource(url="https://a.test/")], LATER)
    before = store._connection._sqlite.total_changes  # SQLite's own count

    store.frontier.claim(owner="me", now=NOW, lease_s=60, hosts_max=9, sources_per_host_max=9)

    assert before == store._connection._sqlite.total_changes


def test_an_older_store_is_brought_up_to_date_with_what_is_in_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(sqlite3.connect(path)) as bare, monkeypatch.context() as patch:
        patch.setattr(schema, "_MIGRATIONS", schema._MIGRATIONS[:1])
        patch.setattr(schema, "VERSION", 1)
        schema.migrate(bare)
        bare.executescript("""
            INSERT INTO host (key, slot, domain, shard, ready_at, delay_ms)
            VALUES ('a.test', 0, 'a.test', 1, 0, 0), ('a.test', 1, 'a.test', 1, 0, 0), ('b.test', 0, 'b.test', 1, 0, 0);
            INSERT INTO entry (seq, source_id, id_hash, content_hash, first_seen_at, content)
            VALUES (1, 1, zeroblob(16), x'01', 0, x'80'), (2, 1, randomblob(16), x'01', 0, x'80'),
              (3, 1, randomblob(16), x'01', 0, x'80');
        """)
        bare.execute(
            """INSERT INTO source (url_key, host_id, kind, url, state, added_at)
            VALUES (?, 1, 'feed', 'https://a.test/', 'fetched', 0)""",
            (url_key("https://a.test/"),),
        )
        bare.commit()

    with closing(opened(path)) as store:
        counts = store.statistics.counts(NOW)
        assert 3 == store.catalogue.remove("https://a.test/")
        after_removal = store.statistics.counts(NOW)

    assert (1, 2, 3) == (counts.sources, counts.hosts, counts.entries)
    assert (0, 2, 0) == (after_removal.sources, after_removal.hosts, after_removal.entries)
