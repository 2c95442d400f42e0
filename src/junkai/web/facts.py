"""An open store in; everything that the page and the metrics say about it, looked up in one go, out."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from junkai.backend.listed import Counts, EntryFilter, FailingFeed, Freshness, HeldHost, StoredEntry, Total
from junkai.backend.protocol import Store
from junkai.errors import UnknownSourceError
from junkai.fleet import Backlog
from junkai.immutable import Struct
from junkai.web.series import HOUR, Series, Span, end, series, start

FAILING_MAX: Final = 8
HELD_MAX: Final = 8
NEWEST_MAX: Final = 8
_TITLES_MAX: Final = 500


class Numbers(Struct, frozen=True, kw_only=True):
    """What the metrics say."""

    at: datetime
    totals: tuple[Total, ...] = ()
    counts: Counts
    backlog: Backlog
    freshness: Freshness


class NewEntry(Struct, frozen=True, kw_only=True):
    """An entry, and the title of its feed."""

    stored: StoredEntry
    feed_title: str


class Facts(Struct, frozen=True, kw_only=True):
    """What the page says beside its chart."""

    at: datetime
    counts: Counts
    backlog: Backlog
    freshness: Freshness
    hour: Series
    planned: tuple[tuple[datetime, int], ...] = ()
    failing: tuple[FailingFeed, ...] = ()
    held: tuple[HeldHost, ...] = ()
    newest: tuple[NewEntry, ...] = ()


def read_numbers(store: Store, now: datetime) -> Numbers:
    """Raises StoreError and its kinds."""
    return Numbers(
        at=now,
        totals=tuple(store.statistics.totals()),
        counts=store.statistics.counts(now),
        backlog=store.statistics.backlog(now),
        freshness=store.statistics.freshness(now),
    )


def read_series(span: Span) -> Callable[[Store, datetime], Series]:
    """What looks a span up."""

    def read(store: Store, now: datetime) -> Series:
        counts = store.statistics.minutes(start(span, now), end(span, now), bin_minutes=span.bin_minutes)
        return series(counts, span, now)

    return read


class FactsReader:
    """Looks facts up; remembers titles of feeds, which newest entries mostly share."""

    def __init__(self) -> None:
        self._titles: dict[str, str] = {}

    def read(self, store: Store, now: datetime) -> Facts:
        """Raises StoreError and its kinds."""
        statistics = store.statistics
        newest = list(store.entries.recent(EntryFilter(limit=NEWEST_MAX)))
        return Facts(
            at=now,
            counts=store.statistics.counts(now),
            backlog=statistics.backlog(now),
            freshness=statistics.freshness(now),
            hour=read_series(HOUR)(store, now),
            planned=tuple(statistics.planned(now, now + timedelta(minutes=HOUR.planned_minutes))),
            failing=tuple(statistics.failing(FAILING_MAX)),
            held=tuple(statistics.held(now, HELD_MAX)),
            newest=tuple(NewEntry(stored=stored, feed_title=self._title(store, stored.feed_url)) for stored in newest),
        )

    def _title(self, store: Store, feed_url: str) -> str:
        title = self._titles.get(feed_url)
        if title is None:
            try:
                title = store.catalogue.feed(feed_url).title
            except UnknownSourceError:  # removed since its entries were read
                title = ""
            if len(self._titles) >= _TITLES_MAX:
                self._titles.clear()
            self._titles[feed_url] = title
        return title
