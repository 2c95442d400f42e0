"""The composition root: settings in, wired objects and finished work out."""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Final, Protocol

import msgspec
from msgspec.structs import replace

from junkai import url as urls
from junkai.backend import crawl_lock
from junkai.backend import open_store as open_backend
from junkai.backend.protocol import HostRow, Recorded, Store
from junkai.bridge import StoreBridge
from junkai.broker import Bounds, Broker
from junkai.clock import cpu_seconds, monotonic, utc_now
from junkai.config import Settings
from junkai.crawler import TurnPacing, TurnTime, visit_of
from junkai.dispatch.local import LocalDispatcher
from junkai.fetch import Exchange, Fetcher
from junkai.fetch.guard import Guard
from junkai.model import Decision, Document, Fetched, NotModified, Redirected, Source, Struct, TurnSource, Visit
from junkai.politeness import DomainBudget

#: A host that is asked has a socket, and for a moment a second one; beside them: the store, the log, the resolver.
_FILES_PER_HOST: Final = 2
_FILES_SPARE: Final = 64


class Progress(Protocol):
    """Who watches a crawl."""

    def on_round(self, total: int) -> None:
        """A crawl begins; `total` sources are due in it."""

    def on_visit(self, visit: Visit, source: Source, decision: Decision, recorded: Recorded) -> None:
        """A visit was recorded."""

    def on_idle(self, ready_at: datetime | None) -> None:
        """Nothing is under way before `ready_at`; None: nothing is ever due."""

    def on_stop(self) -> None:
        """The crawl was told to stop: what is in flight ends by its deadline, and is recorded."""


class Summary(Struct, frozen=True, kw_only=True, omit_defaults=False):
    """What a crawl did. visits = ok + not_modified + redirected + failed; `skipped` were due, but their host was under
    a hold."""

    visits: int = 0
    ok: int = 0
    not_modified: int = 0
    redirected: int = 0
    failed: int = 0
    skipped: int = 0
    lost: int = 0  #: visits whose turn had passed to another process; they are made again
    entries_new: int = 0
    entries_updated: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    bytes: int = 0
    next_visit_at: datetime | None = None  #: when the first host can be asked again; None: nothing is ever due


class FetchReport(Struct, frozen=True, kw_only=True):
    """What one look at a URL found. `refusal` says why nothing was asked."""

    host: str
    refusal: str | None = None
    visit: Visit | None = None
    fields: tuple[tuple[str, str], ...] = ()
    document: Document | None = None


class _Tally:
    """Counts visits on their way to the watcher."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self.counts: dict[str, float] = dict.fromkeys(Summary.__struct_fields__, 0)

    def on_visit(self, visit: Visit, source: Source, decision: Decision, recorded: Recorded) -> None:
        counts = self.counts
        if recorded.is_lost:
            counts["lost"] += 1
        else:
            counts["visits"] += 1
            match visit.outcome:
                case Fetched():
                    counts["ok"] += 1
                case NotModified():
                    counts["not_modified"] += 1
                case Redirected():
                    counts["redirected"] += 1
                case _:
                    counts["failed"] += 1
            counts["entries_new"] += recorded.entries_new
            counts["entries_updated"] += recorded.entries_updated
            counts["bytes"] += visit.bytes_received
        self._progress.on_visit(visit, source, decision, recorded)

    def on_idle(self, ready_at: datetime | None) -> None:
        self._progress.on_idle(ready_at)


def open_store(settings: Settings) -> Store:
    """The store that the settings name. Raises StoreError and its kinds, or UsageError for an unknown address."""
    return open_backend(settings.store, delay_s=settings.delay_seconds)


def crawl(settings: Settings, *, is_once: bool, is_all: bool, visits_max: int | None, progress: Progress) -> Summary:
    """Crawl in the foreground: one round (`is_once`), or until SIGTERM or SIGINT, which drain it.

    `is_all` makes every active source due first. Raises StoreBusyError where another process crawls on the store.
    """
    _collect_garbage_rarely()
    began_at, began_cpu = monotonic(), cpu_seconds()
    tally = _Tally(progress)
    with crawl_lock(settings.store):
        held, next_visit_at = asyncio.run(
            _crawl(settings, is_once=is_once, is_all=is_all, visits_max=visits_max, progress=progress, tally=tally)
        )
    seconds, cpu = monotonic() - began_at, cpu_seconds() - began_cpu
    return msgspec.convert(
        tally.counts
        | {"skipped": held, "next_visit_at": next_visit_at, "seconds": round(seconds, 3), "cpu_seconds": round(cpu, 3)},
        Summary,
    )


async def _crawl(
    settings: Settings, *, is_once: bool, is_all: bool, visits_max: int | None, progress: Progress, tally: _Tally
) -> tuple[int, datetime | None]:
    """How many sources a round left because of holds, and when the next host can be asked."""
    settings = _within_file_limit(settings)
    stop = asyncio.Event()
    budget = DomainBudget(
        in_flight_max=settings.domain_in_flight_max, per_second_max=float(settings.domain_per_second_max)
    )
    async with StoreBridge(lambda: open_store(settings)) as bridge, Fetcher(settings, now=utc_now) as fetcher:
        if is_all:
            await bridge.call(lambda store: store.catalogue.refresh(None, utc_now()))
        round_at = utc_now()
        progress.on_round((await bridge.call(lambda store: store.frontier.counts(round_at))).due)
        broker = Broker(
            bridge,
            LocalDispatcher(fetcher, settings, utc_now, budget),
            budget,
            settings,
            now=utc_now,
            owner=_owner(),
            listener=tally,
        )
        with _draining_signals(stop, progress):
            await broker.run(Bounds(round_at=round_at if is_once else None, visits_max=visits_max), stop)
        return broker.held, await bridge.call(lambda store: store.frontier.next_ready_at())


def _collect_garbage_rarely() -> None:
    """Documents hold no cycles, so that looking for some after every 700 new objects costs a cold pass 8 % for nothing;
    what the imports made is never looked at again."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


def _owner() -> str:
    return f"{socket.gethostname()}:{os.getpid()}:{monotonic():.3f}"


def files_wanted(settings: Settings) -> int:
    """How many files a crawl wants to have open to ask `concurrency` hosts at the same time."""
    return settings.concurrency * _FILES_PER_HOST + _FILES_SPARE


def _within_file_limit(settings: Settings) -> Settings:
    """Raise the limit on open files to what is allowed, and keep the number of hosts asked at once below it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = files_wanted(settings)
    soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    soft = max(soft, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft >= wanted:
        return settings
    return replace(settings, concurrency=max(1, (soft - _FILES_SPARE) // _FILES_PER_HOST))


@contextmanager
def _draining_signals(stop: asyncio.Event, progress: Progress) -> Iterator[None]:
    """SIGTERM and SIGINT set `stop`; a second one ends the process the ordinary way."""
    loop = asyncio.get_running_loop()
    handled = (signal.SIGTERM, signal.SIGINT)

    def drain() -> None:
        stop.set()
        progress.on_stop()
        for number in handled:
            loop.remove_signal_handler(number)

    for number in handled:
        loop.add_signal_handler(number, drain)
    try:
        yield
    finally:
        for number in handled:
            loop.remove_signal_handler(number)


def fetch_url(settings: Settings, url: str) -> FetchReport:
    """Ask one URL once, unconditionally, in a turn at its host; nothing is recorded but the host's floor.

    Raises UrlError, BlockedError, StoreError.
    """
    parsed = urls.parse(url)
    Guard(settings).check_url(parsed)
    return asyncio.run(_fetch_url(settings, parsed))


async def _fetch_url(settings: Settings, parsed: urls.Url) -> FetchReport:
    host, now = parsed.host, utc_now()
    async with StoreBridge(lambda: open_store(settings)) as bridge:
        claim = await bridge.call(
            lambda store: store.frontier.claim_host(host, owner=_owner(), now=now, lease_s=settings.lease_seconds)
        )
        if claim is None:
            row = await bridge.call(lambda store: store.catalogue.host(host, now))
            return FetchReport(host=host, refusal=_refusal(row, now))
        exchange: Exchange | None = None
        try:
            async with Fetcher(settings, now=utc_now) as fetcher:
                source = TurnSource(source_id=0, url=parsed.verbatim)
                time = TurnTime(claim.lease_until - timedelta(seconds=settings.fetch_deadline_seconds + claim.delay_s))
                pacing = TurnPacing(claim.delay_s, time, utc_now, None)
                exchange = await fetcher.exchange(source, host=host, pacing=pacing, is_last=True)
        finally:
            floor = utc_now() + timedelta(seconds=claim.delay_s)
            await bridge.call(lambda store: store.frontier.release([claim.ref], utc_now(), not_before=floor))
        assert exchange is not None, "a fresh turn has time for one request"
        visit = visit_of(source, exchange, settings)
        outcome = visit.outcome
        return FetchReport(
            host=host,
            visit=visit,
            fields=tuple(exchange.response.fields.items()) if exchange.response else (),
            document=outcome.document if isinstance(outcome, Fetched) else None,
        )


def _refusal(row: HostRow | None, now: datetime) -> str:
    """Why a host cannot be asked now, in one sentence."""
    if row is None:
        return "it is not known"
    if row.is_blocked:
        return "it is blocked by the operator; `junkai host HOST --unblock` lifts that"
    if row.hold is not None and row.hold.until > now:
        return f"it is held until {row.hold.until:%Y-%m-%d %H:%M:%S} UTC: {row.hold.why}"
    if row.lease_until is not None and row.lease_until > now:
        return f"it is in a turn until {row.lease_until:%Y-%m-%d %H:%M:%S} UTC at the latest; try again after it"
    return "it was asked a moment ago; try again after the politeness delay"
