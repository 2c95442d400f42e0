"""What lists, pages and metrics are told of a store: rows and numbers, and the filters that choose them.

All moments are aware UTC.
"""

from __future__ import annotations

from datetime import datetime

from junkai.document import Entry
from junkai.immutable import Struct
from junkai.model import CrawlState, Hold, Source


class Counts(Struct, frozen=True, kw_only=True):
    """The store in numbers."""

    sources: int
    hosts: int
    entries: int
    due: int  #: sources whose next visit is due and whose host may be asked
    held: int  #: hosts under a hold
    in_turn: int  #: hosts in a turn
    by_state: dict[str, int]
    paused: int = 0
    oldest_due_at: datetime | None = None


class FeedRow(Struct, frozen=True, kw_only=True):
    """A source as lists and the feed page show it."""

    source: Source
    owners: tuple[str, ...]
    groups: tuple[str, ...]
    title: str  #: the subscriber's, else the document's
    entries: int
    prio: int = 1
    is_paused: bool = False
    added_at: datetime | None = None
    host_not_before: datetime | None = None
    host_hold_why: str | None = None
    earlier_urls: tuple[str, ...] = ()  #: before permanent moves, oldest first


class HostRow(Struct, frozen=True, kw_only=True):
    """A host as `junkai hosts` shows it; its slots added up."""

    host: str
    domain: str
    slots: int
    delay_s: float
    sources: int
    due: int
    ready_at: datetime | None  #: the first slot's; None: nothing due
    not_before: datetime | None  #: the floor, where it lies ahead of the epoch
    hold: Hold | None
    lease_until: datetime | None  #: where it is in a turn
    owner: str | None  #: of that turn
    is_exempt: bool
    is_blocked: bool


class FeedFilter(Struct, frozen=True, kw_only=True):
    """Which sources; fields that are None do not filter."""

    url: str | None = None
    owner: str | None = None
    group: str | None = None
    state: CrawlState | None = None
    host: str | None = None


class StoredEntry(Struct, frozen=True, kw_only=True):
    """An entry with where and when we met it."""

    seq: int  #: grows with each new or updated entry; a cursor over it misses none
    feed_url: str
    entry: Entry
    first_seen_at: datetime
    revision: int  #: 1 when new, one more for each change


class EntryFilter(Struct, frozen=True, kw_only=True):
    """Which entries; fields that are None do not filter."""

    feed_url: str | None = None
    owner: str | None = None
    group: str | None = None
    since: datetime | None = None  #: first seen at or after
    limit: int | None = None


class Total(Struct, frozen=True, kw_only=True):
    """A number that only grows, for as long as the store lives.

    visits {outcome, status}: status is 2xx … 5xx, or none · visit_seconds {le}: visits that took at most that long,
    +Inf all · visit_seconds_sum · bytes_received · entries_new · entries_updated · visits_lost · holds ·
    hosts_claimed · hosts_claimed_idle. Outcomes are those of `MinuteCount`.

    Only visits that were stored count as visits, and each counts once; a hold counts when it is laid, even where its
    visit could not be stored. hosts_claimed is what `claim` took, idle where no source came with it.
    """

    name: str
    labels: tuple[tuple[str, str], ...] = ()
    value: float = 0.0


class MinuteCount(Struct, frozen=True, kw_only=True):
    """The visits of one minute, that of `now` when they were recorded, with one outcome.

    new: entries were new or updated · same: fetched without, or not modified · held: the site asked us to wait.
    """

    at: datetime  #: the minute's start
    outcome: str  #: new | same | redirected | failed | held | gone
    visits: int
    entries_new: int = 0
    bytes: int = 0


class Freshness(Struct, frozen=True, kw_only=True):
    """How long after publication entries were stored, over the last hour's latest (at most 1,000, among at most 10,000
    looked at; what a feed published before it was added is left out, and what it dates ahead of us came at once)."""

    entries: int = 0
    median_s: float | None = None
    p95_s: float | None = None


class FailingFeed(Struct, frozen=True, kw_only=True):
    """A feed whose last visit failed."""

    source_id: int
    url: str
    title: str
    state: CrawlState
    error: str  #: the last failure, one sentence
    http_status: int | None
    attempts: int
    last_visit_at: datetime | None
    due_at: datetime | None
    recent: bytes = b""  #: its last visits, see `visitlog`


class HeldHost(Struct, frozen=True, kw_only=True):
    """A host under a hold, or blocked."""

    host: str
    why: str
    until: datetime | None  #: None: blocked
    sources: int
