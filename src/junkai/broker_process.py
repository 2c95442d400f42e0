"""A manager's words in over a pipe; a broker that obeys them, and its heartbeats and farewell, out."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import resource
import select
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from pathlib import Path
from typing import Final

from junkai import logs
from junkai.backend.protocol import Recorded
from junkai.bridge import StoreBridge
from junkai.broker import Bounds, Broker, Listener
from junkai.clock import Clock, cpu_seconds
from junkai.config import Settings
from junkai.errors import StoreError
from junkai.fleet import ROUND_DONE, End, Farewell, Heartbeat, ManagerMessage, Order, Phase, TellBacklog
from junkai.model import Claim, Decision, Source, Visit
from junkai.pipe import Pipe
from junkai.work import WorkCount

_log = logging.getLogger(__name__)

_BEAT_SECONDS: Final = 1.0
#: Passes over shards with little in them follow each other quickly; what changes meanwhile is said in one heartbeat.
_BEAT_SECONDS_MIN: Final = 0.05
#: Of the time to end in: what is kept for recording and releasing, once everything in flight was broken off.
_RECORD_SHARE: Final = 0.25
_RECORD_SECONDS_MAX: Final = 5.0
_FAREWELL_SECONDS: Final = 1.0

#: Makes the broker of a listener; entering opens what it needs, which takes a moment.
OpenBroker = Callable[[Listener], AbstractAsyncContextManager[tuple[Broker, StoreBridge]]]


def take_signals_over() -> None:
    """Undo what the process that we were forked from had made of signals. SIGINT and SIGHUP go to whole groups of
    processes, and are the manager's to understand."""
    signal.set_wakeup_fd(-1)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


class BrokerProcess:
    """The life of a broker in a process of its own."""

    def __init__(self, pipe: Pipe[ManagerMessage], settings: Settings, order: Order, now: Clock) -> None:
        self._pipe = pipe
        self._settings = settings
        self._order = order
        self._now = now
        self._lines = None if order.is_silent else _VisitLines(settings)
        self._work = WorkCount()
        self._broker: Broker | None = None
        self._bridge: StoreBridge | None = None
        self._is_changed = asyncio.Event()
        self._why = ""  #: it ends
        self._seconds_max: float | None = None  #: to end in, once told to; None: as long as it takes
        self._is_ending = False
        self._telling: asyncio.Task[None] | None = None
        self._timers: list[threading.Timer] = []

    async def run(self, open_broker: OpenBroker) -> None:
        """Work until told to end, until the manager is gone, or until there is a reason to make room for a fresh one.
        Raises StoreError where the store fails; then there is no farewell."""
        asyncio.get_running_loop().add_signal_handler(
            signal.SIGTERM, self._end, "told to", self._settings.drain_seconds_max
        )
        self._beat()
        beating = asyncio.create_task(self._beat_forever())
        obeying = asyncio.create_task(self._obey())
        try:
            async with open_broker(self) as (self._broker, self._bridge):
                self._is_changed.set()
                if self._is_ending:
                    self._stop(self._broker)
                passes_max = self._settings.broker_passes_max
                await self._broker.run(Bounds(round_at=self._order.round_at, passes_max=passes_max))
                await self._stop_telling()
            is_done = self._broker.is_round_done
            why = ROUND_DONE if is_done else self._why or f"recycled after {passes_max} passes"
            self._pipe.send(Farewell(why=why, work=self._work.so_far(), skipped=self._broker.held))
            await self._pipe.flush(_FAREWELL_SECONDS)
        finally:
            for task in (beating, obeying):
                task.cancel()
            await asyncio.gather(beating, obeying, return_exceptions=True)
            await self._stop_telling()
            self._pipe.close()
            for timer in self._timers:
                timer.cancel()

    # ── what the manager says ────────────────────────────────────────────────────────────────────────────────────

    async def _obey(self) -> None:
        while (message := await self._pipe.receive()) is not None:
            match message:
                case End():
                    self._end("told to", message.seconds_max)
                case TellBacklog() if self._bridge is not None and (self._telling is None or self._telling.done()):
                    self._telling = asyncio.create_task(self._tell_backlog(self._bridge))
        self._end("the manager is gone", self._settings.drain_seconds_max)

    async def _tell_backlog(self, bridge: StoreBridge) -> None:
        try:
            self._pipe.send(await bridge.call(lambda store: store.statistics.backlog(self._now())))
        except StoreError as error:  # where it is more than this question, the broker meets it too
            _log.warning("%s", error)

    async def _stop_telling(self) -> None:
        if self._telling is not None:
            self._telling.cancel()
            await asyncio.gather(self._telling, return_exceptions=True)

    def _end(self, why: str, seconds_max: float | None = None) -> None:
        """Begin to end, or hurry up; the first reason is the one that counts."""
        if not self._is_ending:
            self._is_ending, self._why = True, why
        if seconds_max is not None:
            self._seconds_max = seconds_max
            # Not even a store that is locked, or a loop that hangs, keeps this process longer: what was not recorded
            # is visited again.
            self._timers.append(timer := threading.Timer(seconds_max, _exit_at_once, (seconds_max,)))
            timer.daemon = True
            timer.start()
        if self._broker is not None:
            self._stop(self._broker)

    def _stop(self, broker: Broker) -> None:
        seconds = self._seconds_max
        broker.stop(None if seconds is None else seconds - min(seconds * _RECORD_SHARE, _RECORD_SECONDS_MAX))

    # ── what the manager is told ─────────────────────────────────────────────────────────────────────────────────

    async def _beat_forever(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_BEAT_SECONDS):
                    await self._is_changed.wait()
            self._is_changed.clear()
            self._beat()
            await asyncio.sleep(_BEAT_SECONDS_MIN)

    def _beat(self) -> None:
        memory_bytes = _resident_bytes()
        broker = self._broker
        if broker is None:
            self._pipe.send(Heartbeat(phase=Phase.STARTING, memory_bytes=memory_bytes, cpu_s=cpu_seconds()))
            return
        self._pipe.send(
            Heartbeat(
                phase=broker.phase,
                pass_no=broker.pass_no,
                shard=broker.shard,
                pass_s=broker.pass_seconds,
                in_turn=broker.in_turn,
                memory_bytes=memory_bytes,
                cpu_s=cpu_seconds(),
                work=self._work.so_far(),
            )
        )
        if memory_bytes >= self._settings.broker_megabytes_max << 20:
            self._end(f"recycled at {memory_bytes >> 20} MB")

    # ── what the broker does ─────────────────────────────────────────────────────────────────────────────────────

    def on_claims(self, claims: Sequence[Claim]) -> None:
        """See Listener."""
        self._work.add_claims(claims)

    def on_visit(self, visit: Visit, source: Source, decision: Decision, recorded: Recorded) -> None:
        """See Listener."""
        self._work.add_visit(visit, recorded)
        if self._lines is not None:
            self._lines.write(visit, source, decision, recorded)

    def on_phase(self) -> None:
        """See Listener."""
        self._is_changed.set()
        if self._broker is not None and self._broker.phase == Phase.DRAINING:  # it may be over before the next beat
            self._beat()

    def on_idle(self, ready_at: datetime | None) -> None:
        """See Listener; its phase says it."""


class _VisitLines:
    """One log line per visit on standard output, as `junkai crawl` writes them.

    What nobody reads is not written: a full pipe must not stop the broker.
    """

    def __init__(self, settings: Settings) -> None:
        self._is_json = logs.is_json(settings, is_terminal=sys.stdout.isatty())
        self._writable = select.poll()
        self._writable.register(sys.stdout.fileno(), select.POLLOUT)

    def write(self, visit: Visit, source: Source, decision: Decision, recorded: Recorded) -> None:
        """Write the line, at once and in one piece, so that lines of several brokers do not mix."""
        ready = self._writable.poll(0)
        if not ready or not ready[0][1] & select.POLLOUT:
            return
        line = logs.visit_line(visit, source, decision, recorded)
        text = (logs.as_json(line) if self._is_json else logs.as_text(line)) + "\n"
        with contextlib.suppress(OSError):  # nobody reads any more, or there is no room: the crawl matters more
            os.write(sys.stdout.fileno(), text.encode("utf-8", "replace"))


def _exit_at_once(seconds: float) -> None:
    _log.error("not ended within %g s; what was not recorded is visited again", seconds)
    os._exit(1)


def _resident_bytes() -> int:
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:  # no Linux: the most that it ever was
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    return pages * resource.getpagesize()
