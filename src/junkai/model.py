"""The types that flow through the pipeline: Turn → Visit (with its Outcome and Document) → Decision → Record.

All are frozen, all moments are aware UTC, all fields that cross a process are additive; docs/glossary.md has the words.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from junkai.document import Document
from junkai.errors import FailureKind
from junkai.immutable import Struct


class SourceKind(StrEnum):
    """What a source is expected to be."""

    FEED = "feed"
    PAGE = "page"
    SITEMAP = "sitemap"


class CrawlState(StrEnum):
    """Where a source stands. It only explains: what decides is the moment of the next visit."""

    DISCOVERED = "discovered"  #: known, never visited
    FETCHED = "fetched"  #: the last visit was accepted
    REDIRECTION = "redirection"  #: on its way: asked at another host next
    FETCH_ERROR = "fetch_error"  #: the last visit failed; it will be tried again
    ERROR = "error"  #: given up (410, 451): never again, unless the operator resumes it


# ── turns: what a crawler is given ───────────────────────────────────────────────────────────────────────────────


class Validators(Struct, frozen=True, kw_only=True):
    """ETag and Last-Modified byte for byte (latin-1), and the URL whose answer carried them (RFC 9110 §8.8)."""

    url: str
    etag: str | None = None
    last_modified: str | None = None


class Hop(Struct, frozen=True, kw_only=True):
    """One request that was answered by a redirect."""

    url: str
    status: int
    to: str

    @property
    def is_permanent(self) -> bool:
        """It says that the source has moved for good (RFC 9110 §15.4)."""
        return self.status in (301, 308)


class TurnSource(Struct, frozen=True, kw_only=True):
    """One source to ask within a turn: all that a stateless crawler needs of it."""

    source_id: int
    url: str  #: asked verbatim: the source's own URL, or the pending one at this host
    kind: SourceKind = SourceKind.FEED
    downloader: str = "http"
    validators: Validators | None = None  #: None: ask unconditionally
    body_hash: bytes = b""  #: of the last accepted body, see `crawler.body_hash`
    known: bytes = b""  #: entries of the last accepted document, see Document.known
    subscribers: int = 1
    hops: tuple[Hop, ...] = ()  #: of this chain so far, at other hosts


class TurnRef(Struct, frozen=True, kw_only=True):
    """What proves a turn: every record, renewal and release of it must carry the number that the claim gave out."""

    host_id: int
    turn_no: int


class Turn(Struct, frozen=True, kw_only=True):
    """The time-limited, numbered right to ask one host, and the due sources to ask it for."""

    ref: TurnRef
    host: str  #: host key
    slot: int = 0
    domain: str = ""
    turn_until: datetime  #: no request and no hop starts after it
    delay_s: float  #: least time from the end of a request to the start of the next
    sources: tuple[TurnSource, ...] = ()


# ── visits: what a crawler answers ───────────────────────────────────────────────────────────────────────────────


class Freshness(Struct, frozen=True, kw_only=True):
    """What the last answer's caching fields say (RFC 9111 §4.2)."""

    fresh_s: float | None = None  #: least seconds until the next poll; None: no bound was given


class Fetched(Struct, frozen=True, kw_only=True, tag="fetched"):
    """200, complete, and accepted: parsed as a feed, or equal to the last body (`document` is None then)."""

    status: int
    validators: Validators
    body_hash: bytes
    document: Document | None
    freshness: Freshness = Freshness()


class NotModified(Struct, frozen=True, kw_only=True, tag="not_modified"):
    """304. Validators that it carried replace the stored ones; absent ones stay (RFC 9111 §4.3.4)."""

    etag: str | None = None
    last_modified: str | None = None
    freshness: Freshness = Freshness()
    status: int = 304


class Redirected(Struct, frozen=True, kw_only=True, tag="redirected"):
    """The answer is to be had at another host, where this turn holds no right to ask."""

    to: str
    status: int


class Gone(Struct, frozen=True, kw_only=True, tag="gone"):
    """410 or 451: the source is not coming back."""

    status: int


class RateLimited(Struct, frozen=True, kw_only=True, tag="rate_limited"):
    """429, or 503: the whole host waits."""

    status: int
    retry_after_s: float | None = None  #: None where absent, negative or garbage


class Failed(Struct, frozen=True, kw_only=True, tag="failed"):
    """Anything else: this attempt failed."""

    kind: FailureKind
    detail: str = ""
    status: int | None = None


Outcome = Fetched | NotModified | Redirected | Gone | RateLimited | Failed


class Visit(Struct, frozen=True, kw_only=True):
    """One source asked within a turn, and what came of it."""

    source_id: int
    url: str  #: the URL of the last request
    started_at: datetime
    ended_at: datetime  #: the end of the last request: the politeness floor counts from here
    outcome: Outcome
    hops: tuple[Hop, ...] = ()  #: redirects met, those of earlier turns of this chain first
    requests: int = 1
    bytes_received: int = 0  #: body bytes on the wire
    content_type: str = ""


# ── decisions: what follows ──────────────────────────────────────────────────────────────────────────────────────


class Rhythm(Struct, frozen=True, kw_only=True):
    """How often a source posts, as far as its dates and our visits tell."""

    gap_s: float | None = None  #: usual seconds between two posts
    newest_at: datetime | None = None  #: its newest post, never in the future of the visit that saw it
    factor: float = 1.0  #: without dates: how far the interval has been stretched (> 1) or shortened


class FeedHints(Struct, frozen=True, kw_only=True):
    """What the last accepted document said of its own schedule; kept, because a 304 carries no document."""

    ttl_s: int | None = None
    skip_hours: tuple[int, ...] = ()
    skip_days: tuple[int, ...] = ()
    update_period_s: int | None = None


class Move(Struct, frozen=True, kw_only=True):
    """A permanent redirect on probation: followed at once, believed after being seen on several visits."""

    to: str
    seen: int
    first_seen_at: datetime


class SourceState(Struct, frozen=True, kw_only=True):
    """All that the frontier keeps of a source between two visits; `schedule.decide` makes the next one."""

    state: CrawlState = CrawlState.DISCOVERED
    due_at: datetime | None = None  #: None: never again
    why: str = ""  #: one phrase: why then
    attempts: int = 0  #: failures in a row
    error: str | None = None  #: the last failure, one sentence; None after a visit that went well
    http_status: int | None = None
    interval_s: float | None = None  #: the revisit interval that the last decision chose
    validators: Validators | None = None
    body_hash: bytes = b""
    known: bytes = b""
    rhythm: Rhythm = Rhythm()
    hints: FeedHints = FeedHints()
    move: Move | None = None
    pending_url: str | None = None  #: to be asked next, at that URL's host; due_at holds for it
    pending_hops: tuple[Hop, ...] = ()
    last_visit_at: datetime | None = None
    unconditional_at: datetime | None = None  #: the last visit without validators
    parser_version: int = 0  #: of the parser that made body_hash and known
    title: str = ""
    site_url: str | None = None
    recent: bytes = b""  #: the last visits, packed, see `visitlog`


class Source(Struct, frozen=True, kw_only=True):
    """A source as a claim hands it to the broker."""

    source_id: int
    url: str
    host: str  #: host key of `url`
    kind: SourceKind = SourceKind.FEED
    downloader: str = "http"
    explicit_interval_s: float | None = None  #: the operator's word
    subscribers: int = 1
    is_exempt: bool = False  #: its host is exempt from cool-down
    state: SourceState = SourceState()


class Claim(Struct, frozen=True, kw_only=True):
    """A turn together with what the broker needs to decide about its sources."""

    ref: TurnRef
    host: str
    slot: int
    domain: str
    lease_until: datetime
    delay_s: float
    sources: tuple[Source, ...]


class Hold(Struct, frozen=True, kw_only=True):
    """A host is not asked until a moment."""

    until: datetime
    why: str


class Decision(Struct, frozen=True, kw_only=True):
    """What follows from an outcome: the source's next state, and what its host or URL must know."""

    state: SourceState
    hold: Hold | None = None  #: on the host that was asked, all its slots
    new_url: str | None = None  #: the source has moved here for good


class Record(Struct, frozen=True, kw_only=True):
    """One visit with its decision, to be saved in one piece or not at all."""

    ref: TurnRef
    visit: Visit
    decision: Decision
    floor_at: datetime  #: the host may not be asked before it
