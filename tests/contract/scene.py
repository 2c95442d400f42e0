"""What the contract tests play with: moments, sources, claims and the records that follow, in few words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from junkai.backend.protocol import NewSource, Recorded, Store
from junkai.document import Document, Entry, IdSource
from junkai.model import (
    Claim,
    CrawlState,
    Decision,
    Fetched,
    Hold,
    NotModified,
    Outcome,
    Record,
    Source,
    Validators,
    Visit,
)

T0: Final = datetime(2026, 3, 1, 12, tzinfo=UTC)
LEASE_S: Final = 120.0
DELAY_S: Final = 1.0
#: When a lease that was taken at T0 ends.
LEASE_END: Final = T0 + timedelta(seconds=LEASE_S + DELAY_S)


@dataclass(frozen=True, kw_only=True)
class Backend:
    """One store to run the suite on."""

    name: str
    address: Callable[[Path], str]  #: of a store that belongs to this test alone
    without_fence: Callable[[], AbstractContextManager[None]]  #: the same backend with the turn's number not compared


def after(seconds: float) -> datetime:
    return T0 + timedelta(seconds=seconds)


def add(store: Store, *urls: str, now: datetime = T0, **wish: Any) -> list[bool]:
    return store.frontier.add([NewSource(url=url, **wish) for url in urls], now)


def claim(store: Store, now: datetime = T0, **different: Any) -> list[Claim]:
    usual: dict[str, Any] = {"owner": "me", "lease_s": LEASE_S, "hosts_max": 64, "sources_per_host_max": 50}
    return store.frontier.claim(now=now, **(usual | different))


def claim_one(store: Store, now: datetime = T0, **different: Any) -> Claim:
    [claimed] = claim(store, now, **different)
    return claimed


def urls_of(claimed: Sequence[Claim]) -> list[str]:
    return [source.url for each in claimed for source in each.sources]


def entry(name: str, html: str = "as it was", **more: Any) -> Entry:
    return Entry(
        id=name,
        id_source=IdSource.ID,
        title=name,
        content_html=html,
        id_hash=blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).digest(),
        content_hash=blake2b(html.encode("utf-8", "surrogatepass"), digest_size=8).digest(),
        **more,
    )


def record_of(
    claimed: Claim,
    source: Source | None = None,
    *,
    now: datetime = T0,
    entries: Sequence[Entry] | None = None,
    due_in_s: float | None = 3600,
    hold: Hold | None = None,
    new_url: str | None = None,
    **state: Any,
) -> Record:
    """A visit that went well, at `now`, of the claim's first source if no other is given."""
    source = source or claimed.sources[0]
    outcome: Outcome = NotModified()
    if entries is not None:
        outcome = Fetched(
            status=200,
            validators=Validators(url=source.url),
            body_hash=b"body",
            document=Document(format="atom", entries=tuple(entries)),
        )
    usual = {
        "state": CrawlState.FETCHED,
        "due_at": None if due_in_s is None else now + timedelta(seconds=due_in_s),
        "pending_url": None,
        "pending_hops": (),
    }
    return Record(
        ref=claimed.ref,
        visit=Visit(source_id=source.source_id, url=source.url, started_at=now, ended_at=now, outcome=outcome),
        decision=Decision(state=replace(source.state, **(usual | state)), hold=hold, new_url=new_url),
        floor_at=now + timedelta(seconds=claimed.delay_s),
    )


def visit_all(store: Store, claimed: Sequence[Claim], now: datetime = T0, **outcome: Any) -> list[Recorded]:
    """Record every source of every claim in one batch, and release."""
    records = [record_of(each, source, now=now, **outcome) for each in claimed for source in each.sources]
    recorded = store.frontier.record(records, now)
    store.frontier.release([each.ref for each in claimed], now)
    return recorded


def titles_of(store: Store) -> list[str]:
    return sorted(stored.entry.title for stored in store.entries.after(0, 10_000))
