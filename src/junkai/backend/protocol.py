"""The seam to storage: what a backend promises. Backends store decisions and make none.

All calls block, and are made from one thread at a time. All moments are aware UTC. Every call raises StoreError (or one
of its kinds) naming the store where the store fails; then nothing of that call has happened, unless it says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Protocol

from junkai.backend.listed import (
    Counts,
    EntryFilter,
    FailingFeed,
    FeedFilter,
    FeedRow,
    Freshness,
    HeldHost,
    HostRow,
    MinuteCount,
    StoredEntry,
    Total,
)
from junkai.fleet import Backlog
from junkai.immutable import Struct
from junkai.model import Claim, Record, SourceKind, TurnRef


class NewSource(Struct, frozen=True, kw_only=True):
    """A source to add, and who wants it."""

    url: str  #: as given; visited verbatim
    kind: SourceKind = SourceKind.FEED
    owner: str = ""  #: "" is the operator
    groups: tuple[str, ...] = ()
    title: str = ""
    site_url: str | None = None
    explicit_interval_s: float | None = None


class Remaining(Struct, frozen=True, kw_only=True):
    """What a round has still to do."""

    sources: int  #: due in this round and not yet asked; held and blocked hosts left out
    held: int  #: due in this round at hosts under a hold
    ready_at: datetime | None  #: when the next of `sources` can be claimed


class OperatorsWord(Struct, frozen=True, kw_only=True):
    """What stands in the store about a turn under way."""

    not_before: datetime  #: the host's floor, holds and blocks included
    delay_s: float
    unwanted: frozenset[int]  #: of the sources that were asked about, those paused or removed meanwhile


class Recorded(Struct, frozen=True, kw_only=True):
    """What came of one record."""

    is_lost: bool = False  #: the turn was no longer ours: nothing of it was stored
    entries_new: int = 0
    entries_updated: int = 0
    error: str | None = None  #: this record alone could not be stored; of it only the host's floor and hold were


class Frontier(Protocol):
    """What to visit next, and when. The guarantees are those of docs/frontier.md."""

    def add(self, sources: Sequence[NewSource], now: datetime) -> list[bool]:
        """Make sources known and subscribed to. True for each that was not known before.

        Idempotent: a known URL is never reset, it only gains the subscription. New sources are due at once; their hosts
        wake, unless they are in a turn or held. All or nothing.
        """

    def claim(
        self,
        *,
        owner: str,
        now: datetime,
        lease_s: float,
        hosts_max: int,
        sources_per_host_max: int,
        shard: int | None = None,
        due_before: datetime | None = None,
    ) -> list[Claim]:
        """Take up to `hosts_max` hosts that are ready, least `ready_at` first, each with its first due sources.

        The lease ends `lease_s` plus the host's delay from now. No host that is claimed, held or not ready is taken; a
        claim that is not released becomes free when its lease ends. `shard` None: any shard. With `due_before`, only
        sources due at or before that moment count, and only hosts that have one are taken (a round).
        """

    def claim_host(self, host: str, *, owner: str, now: datetime, lease_s: float) -> Claim | None:
        """Take one slot of this very host, with no sources; a host that is not known is made. None: not now
        (`Hosts.find` says why)."""

    def renew(self, refs: Sequence[TurnRef], *, now: datetime, lease_s: float) -> list[datetime | None]:
        """Push the leases out to `lease_s` plus the host's delay from now; the new end of each, None where the turn was
        lost."""

    def operators_words(self, turns: Sequence[tuple[TurnRef, Sequence[int]]]) -> list[OperatorsWord | None]:
        """What was said meanwhile about turns under way and the sources still to be asked in them; None where the turn
        was lost. Changes nothing."""

    def record(self, records: Sequence[Record], now: datetime) -> list[Recorded]:
        """Save visits and decisions: source state, entries, host floor and hold are atomic per record.

        Fenced: a record whose turn was lost changes nothing but the number of lost visits. One bad record never fails
        the others. An entry is new at most once per (source, id_hash); with a known id and another content hash it is
        updated and counts a revision.
        """

    def release(self, refs: Sequence[TurnRef], now: datetime, *, not_before: datetime | None = None) -> None:
        """Put the hosts back: ready at the later of floor and earliest due source. A lost turn changes nothing.
        `not_before` raises the floor of these hosts first (it never lowers one)."""

    def ready_shards(self, now: datetime, *, due_before: datetime | None = None) -> dict[int, datetime]:
        """Shards with a host that a claim would take now, and since when the first has been ready. Locks nothing;
        `due_before` as for a claim."""

    def remaining(self, *, owner: str, due_before: datetime, now: datetime) -> Remaining:
        """What a round that began at `due_before` has still to do; turns of `owner` itself are left out."""

    def next_ready_at(self) -> datetime | None:
        """When the first host becomes ready; None where nothing ever does."""


class Catalogue(Protocol):
    """What is known: sources, subscriptions, and the operator's word on them."""

    def feeds(self, which: FeedFilter) -> Iterator[FeedRow]:
        """Sources by id, read in batches so that no snapshot stays open."""

    def feed(self, url: str) -> FeedRow:
        """One source by its URL (any spelling with the same key, or an earlier URL). Raises UnknownSourceError."""

    def pause(self, url: str, now: datetime) -> None:
        """Never visit until resumed. Raises UnknownSourceError."""

    def resume(self, url: str, now: datetime) -> None:
        """Undo pause, and state error: due now, attempts forgotten. Raises UnknownSourceError."""

    def remove(self, url: str) -> int:
        """Forget the source, its subscriptions and its entries; how many entries. Raises UnknownSourceError."""

    def refresh(self, url: str | None, now: datetime, *, is_unconditional: bool = False) -> int:
        """Make one source due now, or with None every active one; how many. `is_unconditional`: without validators,
        body hash and known entries' marks, once. Floors and holds stay. Raises UnknownSourceError."""

    def owners(self) -> list[tuple[str, int]]:
        """Owners and their numbers of subscriptions."""


class Hosts(Protocol):
    """What is known of hosts, and the operator's word on them."""

    def listed(self, now: datetime) -> Iterator[HostRow]:
        """All hosts by key; what is due is counted as of `now`."""

    def find(self, host: str, now: datetime) -> HostRow | None:
        """One host by its key."""

    def change(
        self,
        host: str,
        now: datetime,
        *,
        delay_s: float | None = None,
        slots: int | None = None,
        hold_until: datetime | None = None,
        is_exempt: bool | None = None,
        is_blocked: bool | None = None,
    ) -> HostRow:
        """The operator's word on a host (made if not known); None leaves a thing as it is. A `hold_until` that has
        passed lifts the hold. Changing `slots` moves sources in one transaction and waits out running turns."""


class Entries(Protocol):
    """What the sources published."""

    def recent(self, which: EntryFilter) -> Iterator[StoredEntry]:
        """Newest first by first_seen_at, then seq; read in batches. Raises UnknownSourceError."""

    def after(self, seq: int, limit: int) -> list[StoredEntry]:
        """Entries new or updated since the cursor, in order of seq; misses none, whatever order writers commit in."""


class Statistics(Protocol):
    """The store in numbers that are kept, not counted: each visit is added in the transaction that records it, so that
    they are right over any number of processes and kills."""

    def totals(self) -> list[Total]:
        """All numbers that only grow, by name and labels; 0 where nothing was counted yet (visits: left out)."""

    def minutes(self, since: datetime, until: datetime, *, bin_minutes: int = 1) -> list[MinuteCount]:
        """Visits by minute and outcome, in order of time, from the minute of `since` up to `until`. Kept for 8 days.

        With `bin_minutes`, so many are added up as one and told by their start, a multiple of that many since 1970.
        """

    def counts(self, now: datetime) -> Counts:
        """The store in numbers: all of it, exactly. What is due costs as much as there is of it; see `backlog`."""

    def backlog(self, now: datetime) -> Backlog:
        """What is due now, by what it waits for; looks at no more than 100,000 due sources."""

    def planned(self, now: datetime, until: datetime) -> list[tuple[datetime, int]]:
        """How many sources fall due in each minute from `now` to `until`; looks at no more than 100,000. Sources on
        held or blocked hosts count in the minute of their due moment all the same. What is due at `now` already is
        backlog; minutes with nothing are left out; a minute is told by its start."""

    def freshness(self, now: datetime) -> Freshness:
        """How fresh what came in during the last hour was."""

    def failing(self, limit: int) -> list[FailingFeed]:
        """Feeds in state error or fetch_error, the latest visited first."""

    def held(self, now: datetime, limit: int) -> list[HeldHost]:
        """Hosts under a hold or blocked, most sources first; looks at no more than 10,000 of them."""


class Store(Protocol):
    """An open store. Open it in the thread that uses it."""

    address: str

    @property
    def frontier(self) -> Frontier:
        """What to visit next."""

    @property
    def catalogue(self) -> Catalogue:
        """What is known."""

    @property
    def hosts(self) -> Hosts:
        """Whom we ask."""

    @property
    def entries(self) -> Entries:
        """What was published."""

    @property
    def statistics(self) -> Statistics:
        """What was done, and what waits."""

    def close(self) -> None:
        """Close all handles; idempotent."""
