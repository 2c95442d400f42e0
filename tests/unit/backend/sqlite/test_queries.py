"""What the named queries cost: index probes, whatever the number of rows."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from junkai.backend.protocol import NewSource
from junkai.backend.sqlite import catalogue, entries, frontier, hosts, names, record, statistics, tally
from junkai.backend.sqlite.store import SqliteStore
from junkai.model import Decision, NotModified, Record, Visit

NOW = datetime(2026, 3, 1, tzinfo=UTC)
LATER = NOW + timedelta(days=1)
TOPICS = {
    module.__name__.rpartition(".")[2]: module.SQL
    for module in (catalogue, entries, frontier, hosts, names, record, statistics, tally)
}
#: Lists and numbers for people walk over what they show.
WALKS = {
    ("statistics", "count_states"), ("statistics", "count_paused"), ("statistics", "count_held"),
    ("statistics", "failing"), ("statistics", "held"), ("catalogue", "wake_all"), ("catalogue", "owners"),
}  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(f"sqlite:///{tmp_path}/store.db", delay_s=0.0, is_read_only=False)) as opened:
        yield opened


def bare(store: SqliteStore) -> sqlite3.Connection:
    return store._connection._sqlite  # plans and steps are SQLite's own


@pytest.mark.parametrize(
    ("topic", "name"), sorted((topic, name) for topic, queries in TOPICS.items() for name in queries)
)
def test_no_query_of_the_crawl_scans_a_table(store: SqliteStore, topic: str, name: str) -> None:
    sql = TOPICS[topic][name].replace("{conditions}", "")
    values = dict.fromkeys(re.findall(r":(\w+)", sql), 1) or (1,) * max(sql.count("?"), 1)
    if isinstance(values, tuple) and (numbered := re.findall(r"\?(\d)", sql)):
        values = (1,) * int(max(numbered))
    if isinstance(values, tuple) and "?" not in sql:
        values = ()

    plan = [row[3] for row in bare(store).execute(f"EXPLAIN QUERY PLAN {sql}", values)]

    scans = [step for step in plan if re.match(r"SCAN (host|source|entry|subscription|earlier_url)\b", step)]
    assert bool(scans) == ((topic, name) in WALKS), plan


def steps_of(store: SqliteStore, work: Callable[[], object]) -> int:
    """How much SQLite did, in hundreds of virtual machine instructions: what a clock would say without the noise."""
    hundreds = 0

    def count() -> int:
        nonlocal hundreds
        hundreds += 1
        return 0

    bare(store).set_progress_handler(count, 100)
    try:
        work()
    finally:
        bare(store).set_progress_handler(None, 0)
    return hundreds


def one_host_with(store: SqliteStore, feeds: int, due: int) -> None:
    """All but `due` of them due in decades."""
    store.frontier.add([NewSource(url=f"https://blogs.test/{number}") for number in range(due)], NOW)
    bare(store).execute(
        """INSERT INTO source (url_key, host_id, kind, url, state, due_at, added_at)
        WITH RECURSIVE n (i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?2)
        SELECT randomblob(16), host_id, 'feed', 'https://blogs.test/' || i, 'fetched', 4000000000000 + i, 0
        FROM n, host""",
        (due, feeds),
    )


def a_turn(store: SqliteStore) -> int:
    """Claim, record and release; how many sources it asked."""
    [claim] = store.frontier.claim(owner="me", now=LATER, lease_s=120, hosts_max=1, sources_per_host_max=50)
    records = [
        Record(
            ref=claim.ref,
            visit=Visit(source_id=each.source_id, url=each.url, started_at=NOW, ended_at=NOW, outcome=NotModified()),
            decision=Decision(state=replace(each.state, due_at=LATER + timedelta(days=1))),
            floor_at=NOW,
        )
        for each in claim.sources
    ]
    store.frontier.record(records, LATER)
    store.frontier.release([claim.ref], LATER)
    return len(claim.sources)


def test_ten_due_of_fifty_thousand_on_one_host_cost_what_ten_of_fifty_cost(tmp_path: Path) -> None:
    steps = {}
    for feeds in (50, 50_000):
        folder = tmp_path / str(feeds)
        folder.mkdir()
        with closing(SqliteStore(f"sqlite:///{folder}/store.db", delay_s=0.0, is_read_only=False)) as store:
            one_host_with(store, feeds, 10)
            asked: list[int] = []
            steps[feeds] = steps_of(store, lambda: asked.append(a_turn(store)))  # noqa: B023 -- called at once

            assert [10] == asked
    assert steps[50_000] <= steps[50] + 2, steps


def test_a_round_probes_and_does_not_scan(store: SqliteStore) -> None:
    one_host_with(store, 20_000, 10)

    def ask() -> None:
        store.frontier.claim(
            owner="me", now=LATER, lease_s=1, hosts_max=9, sources_per_host_max=9, due_before=NOW - timedelta(days=1)
        )
        store.frontier.remaining(owner="me", due_before=NOW - timedelta(days=1), now=LATER)

    assert steps_of(store, ask) <= 5


def test_the_few_failing_feeds_shown_cost_no_more_where_many_fail(store: SqliteStore) -> None:
    one_host_with(store, 20_000, 1)
    bare(store).execute("UPDATE source SET state = 'fetch_error', last_visit_at = source_id")
    shown: list[int] = []

    steps = steps_of(store, lambda: shown.extend(feed.source_id for feed in store.statistics.failing(5)))

    assert list(range(20_000, 19_995, -1)) == shown
    assert steps <= 5


def test_a_store_is_counted_without_a_walk(store: SqliteStore) -> None:
    one_host_with(store, 20_000, 1)

    assert steps_of(store, lambda: store.statistics.counts(NOW)) <= 5
