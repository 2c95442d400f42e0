"""What a broker says over its pipe in; how it stands, whether it must be killed, when its place is filled, out."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections import deque
from collections.abc import Callable
from datetime import datetime
from typing import Final

from junkai.clock import monotonic, utc_now
from junkai.config import Settings
from junkai.fleet import (
    ROUND_DONE,
    Backlog,
    BrokerMessage,
    BrokerRow,
    End,
    Farewell,
    Heartbeat,
    Order,
    Phase,
    TellBacklog,
    Work,
)
from junkai.pipe import Pipe
from junkai.supervision.patience import LIVED_SECONDS, wait_seconds

#: Beyond what it was given to end, before it is killed.
_ENDING_SECONDS_MORE: Final = 5.0
_MINUTE_SECONDS: Final = 60.0


class WatchedBroker:
    """One broker as its manager sees it: what it last said, whether it still is there, and how to end it."""

    def __init__(self, order: Order, pid: int, version: str, pipe: Pipe[BrokerMessage]) -> None:
        self.order = order
        self.pid = pid
        self.version = version
        self.started_at: datetime = utc_now()
        self.started_s = self.heard_s = monotonic()
        self.heartbeat = Heartbeat(phase=Phase.STARTING)
        self.farewell: Farewell | None = None
        self.status: int | None = None  #: its exit code or, below 0, signal, once it is known
        self.has_worked = False  #: it came beyond its start
        self.is_killed = False  #: by us
        self.end_by_s: float | None = None  #: it was told to end, and has until then
        self._pipe = pipe
        self.closed_s: float | None = None  #: since when its end of the pipe is closed, as it is when a process ends
        self.is_orphan = False  #: its preload server is gone: nobody of ours will hear of its end
        self._visits: deque[tuple[float, int]] = deque([(self.started_s, 0)])
        self._backlog: asyncio.Future[Backlog] | None = None

    @property
    def is_gone(self) -> bool:
        """It was waited for; or nobody can any more, and its pipe is closed."""
        return self.status is not None or (self.closed_s is not None and self.is_orphan)

    @property
    def work(self) -> Work:
        """All it did, as far as it said so."""
        return self.farewell.work if self.farewell is not None else self.heartbeat.work

    async def listen(self, on_news: Callable[[], None]) -> None:
        """Take what it says until it closes its pipe; `on_news` when something follows from it."""
        while (message := await self._pipe.receive()) is not None:
            self.heard_s = monotonic()
            match message:
                case Heartbeat():
                    self._note(message)
                case Backlog():
                    if self._backlog is not None and not self._backlog.done():
                        self._backlog.set_result(message)
                case Farewell():
                    self.farewell = message
                    self._give(_ENDING_SECONDS_MORE)
        self.closed_s = monotonic()
        self._give(_ENDING_SECONDS_MORE)  # what has closed its pipe has nothing more to do
        on_news()

    def _note(self, heartbeat: Heartbeat) -> None:
        self.heartbeat = heartbeat
        self.has_worked |= heartbeat.phase is not Phase.STARTING
        self._visits.append((self.heard_s, heartbeat.work.visits))
        self._forget_before(self.heard_s - _MINUTE_SECONDS)

    def _forget_before(self, at_s: float) -> None:
        """Of the counts up to that moment, all but the last."""
        while len(self._visits) > 1 and self._visits[1][0] <= at_s:
            self._visits.popleft()

    def row(self) -> BrokerRow:
        """The broker as others are shown it."""
        now_s = monotonic()
        self._forget_before(now_s - _MINUTE_SECONDS)
        return BrokerRow(
            name=self.order.name,
            pid=self.pid,
            version=self.version,
            started_at=self.started_at,
            heartbeat=self.heartbeat,
            silent_s=round(now_s - self.heard_s, 1),
            visits_a_minute=float(self.heartbeat.work.visits - self._visits[0][1]),
            is_ending=self.end_by_s is not None,
        )

    async def backlog(self, seconds_max: float) -> Backlog | None:
        """What it finds due in the store; None where it does not answer in time. Askers share one look."""
        if self._backlog is None or self._backlog.done():
            self._backlog = asyncio.get_running_loop().create_future()
            self._pipe.send(TellBacklog())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds_max):
                return await asyncio.shield(self._backlog)
        return None

    def excuse(self) -> None:
        """Count its silence from now on: it was the manager that did not listen."""
        self.heard_s = monotonic()

    # ── ending ───────────────────────────────────────────────────────────────────────────────────────────────────

    def end(self, seconds_max: float) -> None:
        """Tell it to end within that time."""
        self._pipe.send(End(seconds_max=seconds_max))
        self._give(seconds_max + _ENDING_SECONDS_MORE)

    def _give(self, seconds: float) -> None:
        until_s = monotonic() + seconds
        self.end_by_s = until_s if self.end_by_s is None else min(self.end_by_s, until_s)

    def why_kill(self, settings: Settings) -> str | None:
        """What it has overrun, in a few words; None: all is well, or it is gone or killed already."""
        if self.is_gone or self.is_killed:
            return None
        now_s = monotonic()
        silent_s = now_s - self.heard_s
        pass_s = self.heartbeat.pass_s + silent_s
        if self.end_by_s is not None and now_s > self.end_by_s:
            return "it was to end, and did not"
        if silent_s > settings.silence_seconds_max:
            return f"it has said nothing for {silent_s:.0f} s"
        if self.heartbeat.phase in (Phase.PASS, Phase.DRAINING) and pass_s > settings.pass_seconds_max:
            return f"its pass has been running for {pass_s:.0f} s"
        return None

    def kill(self) -> None:
        """SIGKILL, unless the pid may be another's by now."""
        self.is_killed = True
        if not self.is_gone:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """Close the pipe; a broker that still runs takes it as an order to end."""
        self._pipe.close()


class Place:
    """Where one broker runs, and after its end the next."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.name = f"broker {number}"
        self.broker: WatchedBroker | None = None
        self.deaths = 0  #: in a row
        self.stillborn = 0  #: of those, the last ones that had not come to work
        self.not_before_s = 0.0
        self.is_done = False  #: its part of the round

    def empty(self, broker: WatchedBroker) -> bool:
        """The broker ended; whether that was against all plan."""
        self.broker = None
        now_s = monotonic()
        if broker.farewell is not None:
            self.deaths = self.stillborn = 0
            self.not_before_s = now_s
            self.is_done = broker.farewell.why == ROUND_DONE
            return False
        if now_s - broker.started_s >= LIVED_SECONDS:
            self.deaths = 0
        self.deaths += 1
        self.stillborn = 0 if broker.has_worked else self.stillborn + 1
        self.not_before_s = now_s + wait_seconds(self.deaths)
        return True
