"""Recorded visits, claims and changed rows in; the kept numbers added to, inside the caller's transaction."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final, NamedTuple

import msgspec

from junkai.backend.protocol import Recorded
from junkai.backend.sqlite.connection import Connection
from junkai.backend.sqlite.queries import load
from junkai.clock import to_ms
from junkai.model import Failed, Fetched, Gone, NotModified, Outcome, RateLimited, Record, Redirected

SQL: Final = load("tally")
#: Upper bounds of the buckets of `visit_seconds`; what took longer is in +Inf.
BUCKETS_S: Final = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
BUCKET_NAMES: Final = (*(f"{bound:g}" for bound in BUCKETS_S), "+Inf")
#: The totals that have no labels.
PLAIN: Final = (
    "bytes_received",
    "entries_new",
    "entries_updated",
    "holds",
    "hosts_claimed",
    "hosts_claimed_idle",
    "visit_seconds_sum",
    "visits_lost",
)
_KEPT_DAYS: Final = 8
_WORDS: Final[dict[type[Outcome], str]] = {
    NotModified: "same",
    Redirected: "redirected",
    RateLimited: "held",
    Gone: "gone",
    Failed: "failed",
}


class _Total(NamedTuple):
    """Which number."""

    name: str
    labels: str = "[]"


def _labels(**pairs: str) -> str:
    return msgspec.json.encode(list(pairs.items())).decode()


_BUCKETS: Final = [_Total("visit_seconds", _labels(le=name)) for name in BUCKET_NAMES]


def keep(connection: Connection, name: str, by: int) -> None:
    """So many `sources`, `entries` or `hosts` more, or fewer."""
    if by:
        connection.change(SQL["keep"], (name, by))


def count(connection: Connection, **by: int) -> None:
    """Add to totals without labels, by name."""
    _add(connection, {_Total(name): value for name, value in by.items()})


def count_visits(connection: Connection, saved: Iterable[tuple[Record, Recorded]], now: datetime) -> None:
    """Add the visits of a batch that were saved, in the minute of `now`, and their entries."""
    totals: defaultdict[_Total, float] = defaultdict(float)
    by_outcome: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    by_answer: defaultdict[tuple[str, int | None], int] = defaultdict(int)
    seconds_sum = 0.0
    updated = 0
    for record, recorded in saved:
        visit = record.visit
        word = _word(visit.outcome, recorded)
        by_answer[word, visit.outcome.status] += 1
        row = by_outcome[word]
        row[0] += 1
        row[1] += recorded.entries_new
        row[2] += visit.bytes_received
        updated += recorded.entries_updated
        seconds = max((visit.ended_at - visit.started_at).total_seconds(), 0.0)  # the wall clock may be set back
        seconds_sum += seconds
        totals[_BUCKETS[bisect_left(BUCKETS_S, seconds)]] += 1
    if not by_outcome:
        return
    for (word, status), visits in by_answer.items():
        totals[_Total("visits", _labels(outcome=word, status=_status_class(status)))] += visits
    totals[_Total("visit_seconds_sum")] = seconds_sum
    totals[_Total("bytes_received")] = sum(row[2] for row in by_outcome.values())
    totals[_Total("entries_new")] = new = sum(row[1] for row in by_outcome.values())
    totals[_Total("entries_updated")] = updated
    _add(connection, totals)
    _add_minutes(connection, by_outcome, to_ms(now) // 60_000)
    keep(connection, "entries", new)


def _word(outcome: Outcome, recorded: Recorded) -> str:
    if isinstance(outcome, Fetched):
        return "new" if recorded.entries_new or recorded.entries_updated else "same"
    return _WORDS[type(outcome)]


def _status_class(status: int | None) -> str:
    """One of five: what a server makes up must not grow the number of labels."""
    return f"{status // 100}xx" if status is not None and 200 <= status <= 599 else "none"


def _add(connection: Connection, totals: Mapping[_Total, float]) -> None:
    connection.change_many(SQL["add_total"], [(*total, value) for total, value in totals.items() if value])


def _add_minutes(connection: Connection, by_outcome: Mapping[str, list[int]], minute: int) -> None:
    """The first of an hour takes out what is too old."""
    if connection.row(SQL["this_hour"], (minute - minute % 60,)) is None:
        connection.change(SQL["prune"], (minute - _KEPT_DAYS * 1440,))
    connection.change_many(SQL["add_minute"], [(minute, outcome, *row) for outcome, row in by_outcome.items()])
