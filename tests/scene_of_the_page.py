"""What the tests of the page play with: facts and snapshots in few words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from msgspec.structs import replace
from selectolax.lexbor import LexborHTMLParser, LexborNode

from junkai.backend.listed import Counts, Freshness, StoredEntry
from junkai.document import Entry, IdSource
from junkai.fleet import Backlog, BrokerRow, Heartbeat, Phase, Snapshot
from junkai.web.facts import Facts, NewEntry
from junkai.web.series import DAY, HOUR, series

NOW: Final = datetime(2026, 11, 27, 13, 48, 20, tzinfo=UTC)
COUNTS: Final = Counts(
    sources=1_000,
    hosts=800,
    entries=20_000,
    due=7,
    held=2,
    in_turn=5,
    by_state={"fetched": 980, "fetch_error": 15, "error": 5},
)


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def broker(number: int = 1, **different: Any) -> BrokerRow:
    heartbeat = Heartbeat(phase=Phase.PASS, shard=37, pass_s=72, in_turn=12, memory_bytes=58_400_000)
    usual = BrokerRow(
        name=f"broker {number}", pid=4_000 + number, version="1.2.3", started_at=ago(600), heartbeat=heartbeat,
        visits_a_minute=184.4,
    )  # fmt: skip
    return replace(usual, **different)


def snapshot(**different: Any) -> Snapshot:
    usual = Snapshot(
        at=NOW, pid=4_000, version="1.2.3", started_at=ago(7_200), store="sqlite:///x.db", brokers_wanted=2,
        brokers=(broker(1), broker(2)),
    )  # fmt: skip
    return replace(usual, **different)


def facts(**different: Any) -> Facts:
    usual = Facts(
        at=NOW, counts=COUNTS, backlog=Backlog(at=NOW, free=3, turn=4, oldest_free_at=ago(20), oldest_due_at=ago(40)),
        freshness=Freshness(entries=50, median_s=1_860, p95_s=10_200), hour=series([], HOUR, NOW),
    )  # fmt: skip
    return replace(usual, **different)


def new_entry(title: str = "A title", url: str | None = "https://blog.example/1", **different: Any) -> NewEntry:
    entry = Entry(id="1", id_source=IdSource.ID, title=title, url=url, **different)
    stored = StoredEntry(seq=1, feed_url="https://blog.example/feed", entry=entry, first_seen_at=ago(12), revision=1)
    return NewEntry(stored=stored, feed_title="A blog")


def no_day() -> Any:
    return series([], DAY, NOW)


def the(page: LexborHTMLParser | LexborNode, selector: str) -> LexborNode:
    """The first element that the selector finds; there has to be one."""
    found = page.css_first(selector)
    assert found is not None, selector
    return found
