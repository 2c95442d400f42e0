"""The pass: shard by shard, claims hosts, has them crawled, records, releases; what happened goes to a Listener."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from datetime import datetime
from typing import Final, Protocol

from junkai.backend.protocol import Frontier, Recorded
from junkai.bridge import StoreBridge
from junkai.clock import Clock, monotonic
from junkai.config import Settings
from junkai.dispatch import Dispatcher
from junkai.fleet import Phase
from junkai.immutable import Struct
from junkai.model import Claim, Decision, Record, Source, Visit
from junkai.politeness import DomainBudget
from junkai.recorder import Recorder
from junkai.shards import ShardWalk
from junkai.turns import Turns

CLAIM_HOSTS_MAX: Final = 64
_IDLE_SECONDS_MAX: Final = 2.0
_IDLE_SECONDS_MIN: Final = 0.05
_ROUND_IDLE_SECONDS_MIN: Final = 0.5
#: Of `pass_seconds_max`: a pass that has been claiming for so long makes way for the next, however much is left.
_PASS_SHARE: Final = 0.25
#: What a fetch may take beyond its deadline when the broker ends.
_DRAIN_SPARE_SECONDS: Final = 5.0


class Listener(Protocol):
    """Who wants to know what a broker does."""

    def on_claims(self, claims: Sequence[Claim]) -> None:
        """Hosts were claimed."""

    def on_visit(self, visit: Visit, source: Source, decision: Decision, recorded: Recorded) -> None:
        """A visit was recorded, or lost with its turn (see `recorded`)."""

    def on_phase(self) -> None:
        """The broker's phase has changed, or a pass has begun."""

    def on_idle(self, ready_at: datetime | None) -> None:
        """Nothing is under way: the next host can be asked at `ready_at`; None: nothing is ever due."""


class Bounds(Struct, frozen=True, kw_only=True):
    """Where the work ends: when the round that began at `round_at` is done, when `visits_max` sources were asked, or
    after `passes_max` passes."""

    round_at: datetime | None = None
    visits_max: int | None = None
    passes_max: int | None = None


class Broker:
    """One process's share of the work.

    A pass takes one shard, and claims from it until nothing there is ready. The next pass begins then, while turns of
    the earlier ones are still under way; with nothing ready in any shard, the last pass ends with its last turn.
    """

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
        walk: ShardWalk,
    ) -> None:
        self._bridge = bridge
        self._settings = settings
        self._now = now
        self._owner = owner
        self._listener = listener
        self._walk = walk
        self._recorder = Recorder(bridge, settings, now, on_recorded=self._on_recorded, on_released=self._wake)
        self._turns = Turns(bridge, dispatcher, budget, self._recorder, settings, now=now, on_end=self._on_turn_end)
        self._stopping = asyncio.Event()
        self._woken = asyncio.Event()
        self._began_s = 0.0  #: monotonic: when the pass began, or the drain
        self._pass_sources = 0
        self.phase = Phase.SLEEPING
        self.pass_no = 0  #: passes that have claimed something
        self.shard: int | None = None  #: of the pass under way; None: its shard has nothing more
        self.is_round_done = False
        self.held = 0  #: sources that a round left because their host is under a hold

    @property
    def in_turn(self) -> int:
        """Hosts in a turn of ours."""
        return len(self._turns)

    @property
    def pass_seconds(self) -> float:
        """How long the pass, or the drain at the end, has been under way; 0 between passes."""
        return 0.0 if self.phase == Phase.SLEEPING else monotonic() - self._began_s

    def stop(self, seconds_max: float | None = None) -> None:
        """Let `run` end: no new request; what is in flight ends by its deadline, or is broken off after `seconds_max`.
        May be said again, with less time."""
        self._stopping.set()
        if seconds_max is not None:
            asyncio.get_running_loop().call_later(seconds_max, self._turns.break_off)

    async def run(self, bounds: Bounds) -> None:
        """Work until the bounds are met or `stop` was called; then drained: all is recorded and released. Once only.
        Raises StoreError where the store fails."""
        recording = asyncio.create_task(self._recorder.run())
        working = asyncio.create_task(self._work(bounds))
        keeping = [asyncio.create_task(self._turns.renew_forever()), asyncio.create_task(self._turns.listen_forever())]
        stopping = asyncio.create_task(self._stopping.wait())
        running = [recording, working, *keeping, stopping]
        try:
            await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._set_phase(Phase.DRAINING)
            self._turns.drain()
            self._wake()
            # Not cancelled: turns that a claim under way brings back must be given back, or nobody asks until they end.
            await asyncio.wait({working})
            await self._drain(recording)
            for task in (*keeping, stopping):
                task.cancel()
            ended = await asyncio.gather(*running, return_exceptions=True)
        for error in ended:
            if isinstance(error, BaseException) and not isinstance(error, asyncio.CancelledError):
                raise error

    async def _drain(self, recording: asyncio.Task[None]) -> None:
        """Requests in flight end by their deadline; everything is written."""
        if recording.done():  # the store failed: nothing more can be written, so nothing more is worth waiting for
            self._turns.break_off()
        seconds = self._settings.fetch_deadline_seconds + _DRAIN_SPARE_SECONDS
        last_call = asyncio.get_running_loop().call_later(seconds, self._turns.break_off)
        await self._turns.ended()
        last_call.cancel()
        self._recorder.close()
        if not recording.done():
            await asyncio.wait({recording})

    # ── passes ───────────────────────────────────────────────────────────────────────────────────────────────────

    async def _work(self, bounds: Bounds) -> None:
        while self.phase != Phase.DRAINING:
            if self.shard is None and bounds.passes_max is not None and self.pass_no >= bounds.passes_max:
                return
            self._woken.clear()  # before looking: what comes free meanwhile must not be slept over
            hosts_max, sources_max = self._room(bounds.visits_max)
            if hosts_max == 0:
                if bounds.visits_max is not None and self._turns.answered >= bounds.visits_max:
                    return
                await self._sleep(_IDLE_SECONDS_MAX)
            elif not await self._claim_next(bounds.round_at, hosts_max, sources_max):
                idle_s = await self._idle_seconds(bounds.round_at)
                if idle_s is None:
                    return
                await self._sleep(idle_s)

    def _room(self, visits_max: int | None) -> tuple[int, int]:
        """How many hosts to claim now, and how many sources of each: free capacity, within the bound on visits."""
        hosts_max = min(self._settings.concurrency - len(self._turns), CLAIM_HOSTS_MAX)
        sources_max = self._settings.turn_sources_max
        if visits_max is not None:
            left = visits_max - self._turns.answered - self._turns.unanswered
            sources_max = max(min(sources_max, left), 1)
            hosts_max = min(hosts_max, max(left // sources_max, min(left, 1)))
        return max(hosts_max, 0), sources_max

    async def _claim_next(self, round_at: datetime | None, hosts_max: int, sources_max: int) -> bool:
        """Claim from the shard of the pass, else from the next one that has something, and start the turns; False after
        an empty circle."""
        shard, claims = await self._bridge.call(
            lambda store: self._claimed(store.frontier, round_at, hosts_max, sources_max)
        )
        if shard is None:
            self.shard = None
            return False
        if shard != self.shard and self.phase != Phase.DRAINING:
            self._begin_pass(shard)
        self._listener.on_claims(claims)
        for claim in claims:
            self._turns.take(claim)
            self._pass_sources += len(claim.sources)
        is_long = self.pass_seconds >= self._settings.pass_seconds_max * _PASS_SHARE
        if len(claims) < hosts_max or self._pass_sources >= self._settings.pass_sources_max or is_long:
            self.shard = None
        return True

    def _claimed(
        self, frontier: Frontier, round_at: datetime | None, hosts_max: int, sources_max: int
    ) -> tuple[int | None, list[Claim]]:
        """A shard and what was claimed from it. In the store's thread: going on to the next shard is one call there."""

        def claim(shard: int) -> list[Claim]:
            return frontier.claim(
                owner=self._owner,
                now=self._now(),
                lease_s=self._settings.lease_seconds,
                hosts_max=hosts_max,
                sources_per_host_max=sources_max,
                shard=shard,
                due_before=round_at,
            )

        if self.shard is not None and (claims := claim(self.shard)):
            return self.shard, claims
        ready = frontier.ready_shards(self._now(), due_before=round_at)
        while (shard := self._walk.next(ready, self.pass_no + 1)) is not None:
            if claims := claim(shard):
                return shard, claims
            del ready[shard]  # others were quicker
        return None, []

    def _begin_pass(self, shard: int) -> None:
        self.shard = shard
        self.pass_no += 1
        self._pass_sources = 0
        self._set_phase(Phase.PASS)

    def _set_phase(self, phase: Phase) -> None:
        self.phase = phase
        self._began_s = monotonic()
        self._listener.on_phase()

    async def _idle_seconds(self, round_at: datetime | None) -> float | None:
        """How long nothing will be ready, within bounds since others add and wake too; None: the round is done."""
        is_idle = not self._turns and self._recorder.is_idle
        if is_idle and self.phase == Phase.PASS:
            self._set_phase(Phase.SLEEPING)
        if round_at is not None and is_idle:
            remaining = await self._bridge.call(
                lambda store: store.frontier.remaining(owner=self._owner, due_before=round_at, now=self._now())
            )
            if remaining.sources == 0:
                self.is_round_done, self.held = True, remaining.held
                return None
            ready_at = remaining.ready_at
        else:
            ready_at = await self._bridge.call(lambda store: store.frontier.next_ready_at())
        if not self._turns:
            self._listener.on_idle(ready_at)
        if ready_at is None:
            return _IDLE_SECONDS_MAX
        # Hosts that are ready with nothing of this round would have it look again and again; a release wakes it anyway.
        least_s = _IDLE_SECONDS_MIN if round_at is None or not self._turns else _ROUND_IDLE_SECONDS_MIN
        return min(max((ready_at - self._now()).total_seconds(), least_s), _IDLE_SECONDS_MAX)

    async def _sleep(self, seconds: float) -> None:
        """Until something of ours was released or much capacity came free since the last look, at most `seconds`."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._woken.wait()

    def _wake(self) -> None:
        self._woken.set()

    def _on_turn_end(self) -> None:
        concurrency = self._settings.concurrency
        if concurrency - len(self._turns) >= min(CLAIM_HOSTS_MAX, concurrency // 2 + 1):
            self._wake()

    def _on_recorded(self, record: Record, source: Source, recorded: Recorded) -> None:
        self._listener.on_visit(record.visit, source, record.decision, recorded)
