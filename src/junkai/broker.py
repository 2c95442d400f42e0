"""The pass: claims hosts, has their turns crawled, decides, records, releases; what happened goes to a Listener."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from datetime import datetime, timedelta
from typing import Final, Protocol

from msgspec.structs import replace

from junkai.backend.protocol import Recorded
from junkai.bridge import StoreBridge
from junkai.clock import Clock, monotonic
from junkai.config import Settings
from junkai.crawler import TurnTime
from junkai.dispatch import Dispatcher
from junkai.errors import FailureKind
from junkai.model import Claim, Decision, Failed, Record, Source, Struct, Turn, TurnRef, TurnSource, Visit
from junkai.parse import PARSER_VERSION
from junkai.politeness import DomainBudget
from junkai.recorder import Recorder
from junkai.schedule import decide

_log = logging.getLogger(__name__)

CLAIM_HOSTS_MAX: Final = 64
_FAULT_SECONDS: Final = 60.0
_LISTEN_SECONDS: Final = 1.0
_IDLE_TURN_SECONDS: Final = 1.0
_IDLE_SECONDS_MAX: Final = 2.0
_IDLE_SECONDS_MIN: Final = 0.05
_ROUND_IDLE_SECONDS_MIN: Final = 0.5


class Listener(Protocol):
    """Who wants to know what a pass does."""

    def on_visit(self, visit: Visit, source: Source, decision: Decision, recorded: Recorded) -> None:
        """A visit was recorded, or lost with its turn (see `recorded`)."""

    def on_idle(self, ready_at: datetime | None) -> None:
        """Nothing is under way: the next host can be asked at `ready_at`; None: nothing is ever due."""


class Bounds(Struct, frozen=True, kw_only=True):
    """Where a pass ends: when `visits_max` sources were asked, or when the round that began at `round_at` is done."""

    round_at: datetime | None = None
    visits_max: int | None = None


class _OpenTurn:
    """A turn that is ours: how long it may still ask, and how many of its sources are still to be answered."""

    __slots__ = ("claim", "ends_at", "lease_until", "not_before", "time", "unanswered")

    def __init__(self, claim: Claim, ends_at: datetime) -> None:
        self.claim = claim
        self.ends_at = ends_at
        self.lease_until = claim.lease_until
        self.not_before: datetime | None = None  #: a floor to leave behind, beyond that of its visits
        self.time = TurnTime(ends_at)
        self.unanswered = {source.source_id for source in claim.sources}


class Broker:
    """One process's share of the work: many turns at once, each one request at a time."""

    def __init__(
        self,
        bridge: StoreBridge,
        dispatcher: Dispatcher,
        budget: DomainBudget,
        settings: Settings,
        *,
        now: Clock,
        owner: str,
        listener: Listener,
    ) -> None:
        self._bridge = bridge
        self._dispatcher = dispatcher
        self._budget = budget
        self._settings = settings
        self._now = now
        self._owner = owner
        self._listener = listener
        self._recorder = Recorder(
            bridge, now, instead=self._instead, on_recorded=self._on_recorded, on_released=self._wake
        )
        self._open: dict[TurnRef, _OpenTurn] = {}
        self._hosts: dict[int, _OpenTurn] = {}  #: the same by host id
        self._waiting: dict[str, deque[_OpenTurn]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._woken = asyncio.Event()
        self._is_draining = False
        self._answered = 0
        self.held = 0  #: sources that a round left because their host is under a hold

    async def run(self, bounds: Bounds, stop: asyncio.Event) -> None:
        """One pass: until its bounds are met or `stop` is set, then drained: no new request, those in flight end, all
        is recorded and released. Raises StoreError where the store fails."""
        recording = asyncio.create_task(self._recorder.run())
        working = asyncio.create_task(self._work(bounds))
        renewing = asyncio.create_task(self._renew_forever())
        listening = asyncio.create_task(self._listen_forever())
        stopping = asyncio.create_task(stop.wait())
        running = {recording, working, renewing, listening, stopping}
        try:
            await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
            # Not cancelled: turns that a claim under way brings back must be given back, or nobody asks until they end.
            self._is_draining = True
            self._wake()
            await asyncio.wait({working})
            await self._drain(recording)
            renewing.cancel()
            listening.cancel()
            ended = await asyncio.gather(*running, return_exceptions=True)
        for error in ended:
            if isinstance(error, BaseException) and not isinstance(error, asyncio.CancelledError):
                raise error

    # ── claiming ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def _work(self, bounds: Bounds) -> None:
        while not self._is_draining:
            self._woken.clear()  # before looking: what comes free meanwhile must not be slept over
            hosts_max, sources_max = self._room(bounds.visits_max)
            if hosts_max == 0:
                if bounds.visits_max is not None and self._answered >= bounds.visits_max:
                    return
                await self._sleep(_IDLE_SECONDS_MAX)
                continue
            claims = await self._claim(bounds.round_at, hosts_max, sources_max)
            for claim in claims:
                self._take(claim)
            if len(claims) < hosts_max:
                idle_s = await self._idle_seconds(bounds.round_at)
                if idle_s is None:
                    return
                await self._sleep(idle_s)

    def _room(self, visits_max: int | None) -> tuple[int, int]:
        """How many hosts to claim now, and how many sources of each: free capacity, within the bound on visits."""
        hosts_max = min(self._settings.concurrency - len(self._open), CLAIM_HOSTS_MAX)
        sources_max = self._settings.turn_sources_max
        if visits_max is not None:
            left = visits_max - self._answered - sum(len(turn.unanswered) for turn in self._open.values())
            sources_max = max(min(sources_max, left), 1)
            hosts_max = min(hosts_max, max(left // sources_max, min(left, 1)))
        return max(hosts_max, 0), sources_max

    async def _claim(self, round_at: datetime | None, hosts_max: int, sources_max: int) -> list[Claim]:
        return await self._bridge.call(
            lambda store: store.frontier.claim(
                owner=self._owner,
                now=self._now(),
                lease_s=self._settings.lease_seconds,
                hosts_max=hosts_max,
                sources_per_host_max=sources_max,
                due_before=round_at,
            )
        )

    async def _idle_seconds(self, round_at: datetime | None) -> float | None:
        """How long nothing will be ready, within bounds since others add and wake too; None: the round is done."""
        if round_at is not None and not self._open and self._recorder.is_idle:
            remaining = await self._bridge.call(
                lambda store: store.frontier.remaining(owner=self._owner, due_before=round_at, now=self._now())
            )
            if remaining.sources == 0:
                self.held = remaining.held
                return None
            ready_at = remaining.ready_at
        else:
            ready_at = await self._bridge.call(lambda store: store.frontier.next_ready_at())
        if not self._open:
            self._listener.on_idle(ready_at)
        if ready_at is None:
            return _IDLE_SECONDS_MAX
        # Hosts that are ready with nothing of this round would have it look again and again; a release wakes it anyway.
        least_s = _IDLE_SECONDS_MIN if round_at is None or not self._open else _ROUND_IDLE_SECONDS_MIN
        return min(max((ready_at - self._now()).total_seconds(), least_s), _IDLE_SECONDS_MAX)

    async def _sleep(self, seconds: float) -> None:
        """Until something of ours was released or much capacity came free since the last look, at most `seconds`."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._woken.wait(), seconds)

    def _wake(self) -> None:
        self._woken.set()

    # ── turns ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _take(self, claim: Claim) -> None:
        """Start the turn, or let it wait for its domain, or give it back where too many wait already."""
        if not claim.sources or self._is_draining:
            self._recorder.release(claim.ref)
            return
        if (mine := self._hosts.get(claim.ref.host_id)) is not None:
            # The wall clock went forward past the lease of a turn that still runs here: that one ends, and the host
            # is left alone for as long as its last request may take.
            mine.time.until = self._now()
            self._recorder.release(claim.ref, not_before=self._now() + self._margin(claim))
            return
        now = self._now()
        turn = _OpenTurn(claim, now + timedelta(seconds=self._settings.turn_seconds))
        turn.time.until = self._until(turn)
        if self._budget.start_turn(claim.domain):
            self._start(turn)
            return
        waiting = self._waiting.setdefault(claim.domain, deque())
        if len(waiting) < self._settings.domain_in_flight_max:
            self._hold(turn)
            waiting.append(turn)
            return
        away = timedelta(seconds=self._budget.postpone_turn(claim.domain, monotonic()))
        self._recorder.release(claim.ref, not_before=now + away)

    def _until(self, turn: _OpenTurn) -> datetime:
        """The last moment a request may start: early enough that it, and the delay after it, end within the lease."""
        return min(turn.lease_until - self._margin(turn.claim), turn.ends_at)

    def _margin(self, claim: Claim) -> timedelta:
        """How long a host may still be busy, and then be spared, after the last request has begun."""
        return timedelta(seconds=self._settings.fetch_deadline_seconds + claim.delay_s)

    def _hold(self, turn: _OpenTurn) -> None:
        self._open[turn.claim.ref] = turn
        self._hosts[turn.claim.ref.host_id] = turn

    def _let_go(self, turn: _OpenTurn, not_before: datetime | None = None) -> None:
        del self._open[turn.claim.ref]
        del self._hosts[turn.claim.ref.host_id]
        self._recorder.release(turn.claim.ref, not_before=not_before)

    def _start(self, turn: _OpenTurn) -> None:
        self._hold(turn)
        task = asyncio.create_task(self._crawl(turn))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _crawl(self, turn: _OpenTurn) -> None:
        claim = turn.claim
        sources = {source.source_id: source for source in claim.sources}
        delay = timedelta(seconds=claim.delay_s)
        not_before = None
        try:
            visits = self._dispatcher.crawl(turn_of(claim, turn.time.until), turn.time)
            async with contextlib.aclosing(visits):
                async for visit in visits:
                    source = sources.pop(visit.source_id)
                    turn.unanswered.discard(visit.source_id)
                    self._answered += 1
                    record = self._record_of(claim.ref, visit, source, floor_at=visit.ended_at + delay)
                    await self._recorder.put(record, source)
        except Exception:  # noqa: BLE001  # the boundary around one turn
            # A fault of our own must cost this turn only, and must not make the same turn spin.
            _log.exception("a turn at %s failed", claim.host)
            not_before = self._now() + timedelta(seconds=_FAULT_SECONDS)
        finally:
            self._end(turn, not_before)

    def _end(self, turn: _OpenTurn, not_before: datetime | None) -> None:
        not_before = not_before or turn.not_before
        if not_before is None and len(turn.unanswered) == len(
            turn.claim.sources
        ):  # asked nothing: no use in coming at once
            not_before = self._now() + timedelta(seconds=_IDLE_TURN_SECONDS)
        self._let_go(turn, turn.not_before if self._is_draining else not_before)
        domain = turn.claim.domain
        self._budget.end_turn(domain)
        waiting = self._waiting.get(domain)
        if waiting and not self._is_draining and self._budget.start_turn(domain):
            self._start(waiting.popleft())
            if not waiting:
                del self._waiting[domain]
        if self._settings.concurrency - len(self._open) >= min(CLAIM_HOSTS_MAX, self._settings.concurrency // 2 + 1):
            self._wake()

    def _on_recorded(self, record: Record, source: Source, recorded: Recorded) -> None:
        self._listener.on_visit(record.visit, source, record.decision, recorded)

    def _record_of(self, ref: TurnRef, visit: Visit, source: Source, *, floor_at: datetime) -> Record:
        """The visit with what follows from it; a fault of our own while deciding is a failure of that visit."""
        try:
            decision = decide(source, visit, self._settings, self._now(), parser_version=PARSER_VERSION)
        except Exception as error:  # noqa: BLE001  # the boundary around one decision
            _log.exception("cannot decide about %s", visit.url)
            return self._failed(ref, visit, source, f"{type(error).__name__} while deciding", floor_at=floor_at)
        return Record(ref=ref, visit=visit, decision=decision, floor_at=floor_at)

    def _instead(self, record: Record, source: Source, error: str) -> Record:
        """For a record that cannot be stored: that it failed, so that the source backs off."""
        return self._failed(record.ref, record.visit, source, error, floor_at=record.floor_at)

    def _failed(self, ref: TurnRef, visit: Visit, source: Source, detail: str, *, floor_at: datetime) -> Record:
        outcome = Failed(kind=FailureKind.INTERNAL, detail=detail)
        visit = replace(visit, outcome=outcome, hops=())
        decision = decide(source, visit, self._settings, self._now(), parser_version=PARSER_VERSION)
        return Record(ref=ref, visit=visit, decision=decision, floor_at=floor_at)

    # ── keeping and ending turns ─────────────────────────────────────────────────────────────────────────────────

    async def _renew_forever(self) -> None:
        lease_s = self._settings.lease_seconds
        while True:
            await asyncio.sleep(lease_s / 5)
            soon = self._now() + timedelta(seconds=lease_s / 2)
            turns = [turn for turn in self._open.values() if turn.lease_until < soon]
            if not turns:
                continue
            refs = [turn.claim.ref for turn in turns]
            ends = await self._bridge.call(
                lambda store, refs=refs: store.frontier.renew(refs, now=self._now(), lease_s=lease_s)  # type: ignore[misc]  # mypy cannot type a lambda's default
            )
            for turn, lease_until in zip(turns, ends, strict=True):
                if lease_until is None or self._is_draining:
                    turn.time.until = self._now()
                else:
                    turn.lease_until = lease_until
                    if turn.time.until > self._now():  # not one that was ended early
                        turn.time.until = self._until(turn)

    async def _listen_forever(self) -> None:
        """Let the operator's word (a hold, a block, another delay, a pause, a removal) reach turns under way."""
        while True:
            await asyncio.sleep(_LISTEN_SECONDS)
            turns = list(self._open.values())
            if not turns:
                continue
            asked = [(turn.claim.ref, tuple(turn.unanswered)) for turn in turns]
            words = await self._bridge.call(lambda store, asked=asked: store.frontier.operators_words(asked))  # type: ignore[misc]  # mypy cannot type a lambda's default
            now = self._now()
            for turn, word in zip(turns, words, strict=True):
                if word is None:
                    turn.time.until = now
                    continue
                turn.time.unwanted = word.unwanted
                delay = timedelta(seconds=word.delay_s)
                if word.delay_s != turn.claim.delay_s:
                    turn.not_before, turn.time.until = now + delay, now
                elif word.not_before > now + delay + timedelta(seconds=_LISTEN_SECONDS):  # no visit of ours lays such
                    turn.time.until = now

    async def _drain(self, recording: asyncio.Task[None]) -> None:
        """No new request; those in flight end by their deadline; everything is written."""
        now = self._now()
        for turn in self._open.values():
            turn.time.until = now
        for waiting in self._waiting.values():
            for turn in waiting:
                self._let_go(turn)
        self._waiting.clear()
        ending = list(self._tasks)
        if recording.done():  # the store failed: nothing more can be written, so nothing more is worth waiting for
            for task in ending:
                task.cancel()
        if ending:
            await asyncio.wait(ending, timeout=self._settings.fetch_deadline_seconds + 5)
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)
        self._recorder.close()
        if not recording.done():
            await asyncio.wait({recording})


def turn_of(claim: Claim, turn_until: datetime) -> Turn:
    """The turn that a crawler is given for a claim."""
    return Turn(
        ref=claim.ref,
        host=claim.host,
        slot=claim.slot,
        domain=claim.domain,
        turn_until=turn_until,
        delay_s=claim.delay_s,
        sources=tuple(_turn_source(source) for source in claim.sources),
    )


def _turn_source(source: Source) -> TurnSource:
    """What another version of the parser understood says nothing to this one: its sources are read afresh, once."""
    state = source.state
    is_current = state.parser_version == PARSER_VERSION
    return TurnSource(
        source_id=source.source_id,
        url=state.pending_url or source.url,
        kind=source.kind,
        downloader=source.downloader,
        validators=state.validators if is_current else None,
        body_hash=state.body_hash if is_current else b"",
        known=state.known if is_current else b"",
        subscribers=source.subscribers,
        hops=state.pending_hops,
    )
