"""The composition root: settings in, wired objects and finished work out."""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import signal
import socket
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime, timedelta
from typing import Final, Protocol

import msgspec
from msgspec.structs import replace

from junkai import logs
from junkai import url as urls
from junkai.backend import crawl_lock
from junkai.backend import open_store as open_backend
from junkai.backend.listed import HostRow
from junkai.backend.protocol import Recorded, Store
from junkai.bridge import StoreBridge
from junkai.broker import Bounds, Broker, Listener
from junkai.broker_process import BrokerProcess, take_signals_over
from junkai.clock import cpu_seconds, monotonic, utc_now
from junkai.config import Settings
from junkai.crawler import TurnPacing, TurnTime, visit_of
from junkai.dispatch.local import LocalDispatcher
from junkai.document import Document
from junkai.fetch import Exchange, Fetcher
from junkai.fetch.guard import Guard
from junkai.fleet import ManagerMessage, Order, Summary
from junkai.immutable import Struct
from junkai.model import Claim, Decision, Fetched, Source, TurnSource, Visit
from junkai.pipe import Pipe
from junkai.politeness import DomainBudget
from junkai.shards import ShardWalk
from junkai.work import WorkCount

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


class FetchReport(Struct, frozen=True, kw_only=True):
    """What one look at a URL found. `refusal` says why nothing was asked."""

    host: str
    refusal: str | None = None
    visit: Visit | None = None
    fields: tuple[tuple[str, str], ...] = ()
    document: Document | None = None


class _Watched:
    """Counts what a broker does, on its way to the watcher."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self.work = WorkCount()

    def on_claims(self, claims: Sequence[Claim]) -> None:
        self.work.add_claims(claims)

    def on_visit(self, visit: Visit, source: Source, decision: Decision, recorded: Recorded) -> None:
        self.work.add_visit(visit, recorded)
        self._progress.on_visit(visit, source, decision, recorded)

    def on_phase(self) -> None:
        pass

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
    watched = _Watched(progress)
    with crawl_lock(settings.store):
        held, next_visit_at = asyncio.run(
            _crawl(settings, is_once=is_once, is_all=is_all, visits_max=visits_max, progress=progress, watched=watched)
        )
    return Summary(
        **msgspec.structs.asdict(watched.work.so_far()),
        skipped=held,
        seconds=round(monotonic() - began_at, 3),
        cpu_seconds=round(cpu_seconds() - began_cpu, 3),
        next_visit_at=next_visit_at,
    )


async def _crawl(
    settings: Settings, *, is_once: bool, is_all: bool, visits_max: int | None, progress: Progress, watched: _Watched
) -> tuple[int, datetime | None]:
    """How many sources a round left because of holds, and when the next host can be asked."""
    async with _opened_broker(settings, watched, number=1, brokers=1) as (broker, bridge):
        if is_all:
            await bridge.call(lambda store: store.catalogue.refresh(None, utc_now()))
        round_at = utc_now()
        progress.on_round((await bridge.call(lambda store: store.statistics.counts(round_at))).due)
        with _draining_signals(broker, progress):
            await broker.run(Bounds(round_at=round_at if is_once else None, visits_max=visits_max))
        return broker.held, await bridge.call(lambda store: store.frontier.next_ready_at())


def run_broker(settings: Settings, order: Order, pipe_end: socket.socket) -> int:
    """Be the broker that a manager ordered, at the other side of the pipe; the exit code.

    In a process that was forked for it. Raises StoreError where the store fails.
    """
    take_signals_over()
    logs.write_troubles(is_json=logs.is_json(settings, is_terminal=sys.stdout.isatty()))
    _collect_garbage_rarely()
    asyncio.run(_run_broker(settings, order, pipe_end))
    return 0


async def _run_broker(settings: Settings, order: Order, pipe_end: socket.socket) -> None:
    pipe: Pipe[ManagerMessage] = await Pipe.opened(pipe_end, ManagerMessage)
    process = BrokerProcess(pipe, settings, order, utc_now)
    await process.run(lambda listener: _opened_broker(settings, listener, number=order.number, brokers=order.brokers))


@asynccontextmanager
async def _opened_broker(
    settings: Settings, listener: Listener, *, number: int, brokers: int
) -> AsyncIterator[tuple[Broker, StoreBridge]]:
    """One of `brokers` that share the caps per domain, with its store and its fetcher."""
    settings = _within_file_limit(settings)
    budget = domain_budget(settings, brokers)
    async with StoreBridge(lambda: open_store(settings)) as bridge, Fetcher(settings, now=utc_now) as fetcher:
        broker = Broker(
            bridge,
            LocalDispatcher(fetcher, settings, utc_now, budget),
            budget,
            settings,
            now=utc_now,
            owner=_owner(),
            listener=listener,
            walk=ShardWalk(number=number, brokers=brokers),
        )
        yield broker, bridge


def domain_budget(settings: Settings, brokers: int) -> DomainBudget:
    """One broker's share of the caps per domain; of requests at once at least one, since it could ask nothing else."""
    return DomainBudget(
        in_flight_max=max(1, settings.domain_in_flight_max // brokers),
        per_second_max=settings.domain_per_second_max / brokers,
    )


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
def _draining_signals(broker: Broker, progress: Progress) -> Iterator[None]:
    """SIGTERM and SIGINT stop the broker; a second one ends the process the ordinary way."""
    loop = asyncio.get_running_loop()
    handled = (signal.SIGTERM, signal.SIGINT)

    def drain() -> None:
        broker.stop()
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
            row = await bridge.call(lambda store: store.hosts.find(host, now))
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
