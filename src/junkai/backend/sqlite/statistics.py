"""Moments and limits in; what was done, and what waits, in kept numbers and bounded looks at the indexes, out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Final

import msgspec

from junkai.backend.listed import Counts, FailingFeed, Freshness, HeldHost, MinuteCount, Total
from junkai.backend.sqlite.connection import Connection, Row
from junkai.backend.sqlite.queries import load
from junkai.backend.sqlite.rows import moment, title_and_recent
from junkai.backend.sqlite.tally import BUCKET_NAMES, PLAIN
from junkai.clock import from_ms, to_ms
from junkai.fleet import Backlog
from junkai.model import CrawlState

SQL: Final = load("statistics")
#: How far one call looks, so that it ends within 100 ms whatever the store holds.
SOURCES_MAX: Final = 100_000
ENTRIES_MAX: Final = 1_000
ENTRIES_LOOKED_AT_MAX: Final = 10_000
HELD_HOSTS_MAX: Final = 10_000
_MINUTE_MS: Final = 60_000

_Labels = tuple[tuple[str, str], ...]


class SqliteStatistics:
    """See `protocol.Statistics`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    # ── what was done ────────────────────────────────────────────────────────────────────────────────────────────

    def totals(self) -> list[Total]:
        """See the protocol."""
        found: defaultdict[str, dict[_Labels, float]] = defaultdict(dict)
        for name in PLAIN:
            found[name][()] = 0.0
        for name, labels, value in self._connection.rows(SQL["totals"]):
            found[name][msgspec.json.decode(labels, type=_Labels)] = value
        buckets = [(("le", name),) for name in BUCKET_NAMES]
        visits = accumulate(found["visit_seconds"].get(bucket, 0.0) for bucket in buckets)
        found["visit_seconds"] = dict(zip(buckets, visits, strict=True))
        return [
            Total(name=name, labels=labels, value=value)
            for name in sorted(found)
            for labels, value in found[name].items()
        ]

    def minutes(self, since: datetime, until: datetime, *, bin_minutes: int = 1) -> list[MinuteCount]:
        """See the protocol."""
        values = {
            "since": to_ms(since) // _MINUTE_MS,
            "until": -(-to_ms(until) // _MINUTE_MS),
            "bin_minutes": bin_minutes,
        }
        return [
            MinuteCount(at=from_ms(minute * _MINUTE_MS), outcome=outcome, visits=visits, entries_new=new, bytes=size)
            for minute, outcome, visits, new, size in self._connection.rows(SQL["minutes"], values)
        ]

    # ── what waits ───────────────────────────────────────────────────────────────────────────────────────────────

    def backlog(self, now: datetime) -> Backlog:
        """See the protocol."""
        row = self._connection.row(SQL["backlog"], {"now": to_ms(now), "sources_max": SOURCES_MAX})
        assert row is not None
        looked_at, free, held, oldest_free_at, oldest_due_at = row
        return Backlog(
            at=now,
            free=free,
            turn=looked_at - free - held,
            held=held,
            oldest_free_at=moment(oldest_free_at),
            oldest_due_at=moment(oldest_due_at),
            is_capped=looked_at >= SOURCES_MAX,
        )

    def planned(self, now: datetime, until: datetime) -> list[tuple[datetime, int]]:
        """See the protocol."""
        values = {"now": to_ms(now), "until": to_ms(until), "sources_max": SOURCES_MAX}
        return [(from_ms(minute * _MINUTE_MS), due) for minute, due in self._connection.rows(SQL["planned"], values)]

    def counts(self, now: datetime) -> Counts:
        """See the protocol."""
        with self._connection.snapshot():
            kept: dict[str, int] = dict(self._connection.rows(SQL["kept"]))
            sources = kept["sources"]
            due, oldest_due_at = self._count("count_due", now)
            by_state = {state.value: 0 for state in CrawlState} | dict(self._connection.rows(SQL["count_states"]))
            by_state[CrawlState.FETCHED.value] = sources - sum(by_state.values())
            return Counts(
                sources=sources,
                hosts=kept["hosts"],
                entries=kept["entries"],
                due=due,
                held=self._count("count_held", now)[0],
                in_turn=self._count("count_in_turn", now)[0],
                by_state=by_state,
                paused=self._count("count_paused")[0],
                oldest_due_at=moment(oldest_due_at),
            )

    def _count(self, query: str, now: datetime | None = None) -> Row:
        row = self._connection.row(SQL[query], {} if now is None else {"now": to_ms(now)})
        assert row is not None
        return row

    # ── how well it goes ─────────────────────────────────────────────────────────────────────────────────────────

    def freshness(self, now: datetime) -> Freshness:
        """See the protocol."""
        values = {
            "since": to_ms(now - timedelta(hours=1)),
            "now": to_ms(now),
            "looked_at_max": ENTRIES_LOOKED_AT_MAX,
            "entries_max": ENTRIES_MAX,
        }
        # A feed that dates its entries ahead of our clock was met without delay.
        delays = sorted(max(milliseconds, 0) for (milliseconds,) in self._connection.rows(SQL["freshness"], values))
        if not delays:
            return Freshness()
        return Freshness(entries=len(delays), median_s=_percentile(delays, 50), p95_s=_percentile(delays, 95))

    def failing(self, limit: int) -> list[FailingFeed]:
        """See the protocol."""
        return [_failing_feed(row) for row in self._connection.rows(SQL["failing"], {"rows_max": limit})]

    def held(self, now: datetime, limit: int) -> list[HeldHost]:
        """See the protocol."""
        values = {"now": to_ms(now), "hosts_max": HELD_HOSTS_MAX, "rows_max": limit}
        return [
            HeldHost(
                host=key,
                why="blocked" if is_blocked else why,
                until=None if is_blocked else from_ms(hold_until),
                sources=sources,
            )
            for key, is_blocked, why, hold_until, sources in self._connection.rows(SQL["held"], values)
        ]


def _percentile(ascending: Sequence[int], percent: int) -> float:
    """The least value (milliseconds in, seconds out) that so many per cent do not exceed."""
    return ascending[-(-len(ascending) * percent // 100) - 1] / 1000


def _failing_feed(row: Row) -> FailingFeed:
    source_id, url, state, error, http_status, attempts, last_visit_at, due_at, rest, given_title = row
    title, recent = title_and_recent(rest)
    return FailingFeed(
        source_id=source_id,
        url=url,
        title=given_title or title,
        state=CrawlState(state),
        error=error or "",
        http_status=http_status,
        attempts=attempts,
        last_visit_at=moment(last_visit_at),
        due_at=moment(due_at),
        recent=recent,
    )
