"""Claims in; each one's turn started, renewed, ended early by the operator's word, and given back, out."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from junkai.bridge import StoreBridge
from junkai.clock import Clock, monotonic
from junkai.config import Settings
from junkai.crawler import TurnTime
from junkai.dispatch import Dispatcher
from junkai.model import Claim, Source, Turn, TurnRef, TurnSource
from junkai.parse import PARSER_VERSION
from junkai.politeness import DomainBudget
from junkai.recorder import Recorder

_log = logging.getLogger(__name__)

_FAULT_SECONDS: Final = 60.0
_LISTEN_SECONDS: Final = 1.0
_IDLE_TURN_SECONDS: Final = 1.0


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


class Turns:
    """The turns of one broker: many at once, each one request at a time."""

    def __init__(
        self,
        bridge: StoreBridge,
        dispatcher: Dispatcher,
        budget: DomainBudget,
        recorder: Recorder,
        settings: Settings,
        *,
        now: Clock,
        on_end: Callable[[], None],
    ) -> None:
        self._bridge = bridge
        self._dispatcher = dispatcher
        self._budget = budget
        self._recorder = recorder
        self._settings = settings
        self._now = now
        self._on_end = on_end
        self._open: dict[TurnRef, _OpenTurn] = {}
        self._hosts: dict[int, _OpenTurn] = {}  #: the same by host id
        self._waiting: dict[str, deque[_OpenTurn]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_draining = False
        self.answered = 0  #: sources asked so far

    def __len__(self) -> int:
        return len(self._open)

    @property
    def unanswered(self) -> int:
        """Sources of open turns that are still to be asked."""
        return sum(len(turn.unanswered) for turn in self._open.values())

    # ── a turn's life ────────────────────────────────────────────────────────────────────────────────────────────

    def take(self, claim: Claim) -> None:
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
                    self.answered += 1
                    await self._recorder.put(claim.ref, visit, source, floor_at=visit.ended_at + delay)
        except asyncio.CancelledError:
            # Broken off, perhaps within a request, of which nothing is recorded: the delay holds all the same.
            turn.not_before = self._now() + delay
            raise
        except Exception:  # noqa: BLE001  # the boundary around one turn
            # A fault of our own must cost this turn only, and must not make the same turn spin.
            _log.exception("a turn at %s failed", claim.host)
            not_before = self._now() + timedelta(seconds=_FAULT_SECONDS)
        finally:
            self._end(turn, not_before)

    def _end(self, turn: _OpenTurn, not_before: datetime | None) -> None:
        not_before = not_before or turn.not_before
        is_idle = len(turn.unanswered) == len(turn.claim.sources)
        if not_before is None and is_idle:  # it asked nothing: no use in coming at once
            not_before = self._now() + timedelta(seconds=_IDLE_TURN_SECONDS)
        self._let_go(turn, turn.not_before if self._is_draining else not_before)
        domain = turn.claim.domain
        self._budget.end_turn(domain)
        waiting = self._waiting.get(domain)
        if waiting and not self._is_draining and self._budget.start_turn(domain):
            self._start(waiting.popleft())
            if not waiting:
                del self._waiting[domain]
        self._on_end()

    # ── keeping turns ────────────────────────────────────────────────────────────────────────────────────────────

    async def renew_forever(self) -> None:
        """Push out the leases of turns that last; those that were lost end."""
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

    async def listen_forever(self) -> None:
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

    # ── ending all ───────────────────────────────────────────────────────────────────────────────────────────────

    def drain(self) -> None:
        """No new request from now on: turns that wait are given back, and so is what is taken from now on."""
        self._is_draining = True
        now = self._now()
        for turn in self._open.values():
            turn.time.until = now
        for waiting in self._waiting.values():
            for turn in waiting:
                self._let_go(turn)
        self._waiting.clear()

    def break_off(self) -> None:
        """End requests in flight where they are: nothing of them is recorded, their sources stay due."""
        for task in self._tasks:
            task.cancel()

    async def ended(self) -> None:
        """Wait until no turn is under way. After `drain`."""
        await asyncio.gather(*self._tasks, return_exceptions=True)


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
