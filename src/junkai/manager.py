"""Settings in; a system that keeps running out: its brokers, its page, the port that tells how they are.

It looks every two seconds and whenever something ends, and holds no store and no handle of a network: what could break
is in processes that can be replaced.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import resource
import signal
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from junkai import __version__
from junkai import url as urls
from junkai.clock import cpu_seconds, monotonic, utc_now
from junkai.config import Settings
from junkai.errors import JunkaiError
from junkai.fleet import Backlog, Order, Snapshot, Work
from junkai.launch import Launch
from junkai.status_port import StatusPort
from junkai.supervision.brokers import Place, WatchedBroker
from junkai.supervision.patience import wait_seconds
from junkai.supervision.ports import Ports
from junkai.supervision.preloaded import PreloadServer
from junkai.supervision.signals import obeyed
from junkai.supervision.web import WebKeeper

_log = logging.getLogger(__name__)

LOOK_SECONDS: Final = 2.0
_OVERSLEPT_SECONDS: Final = 10.0
BACKLOG_SECONDS_MAX: Final = 2.0
#: Brokers of one place that ended in a row before they had come to work: more than an accident.
STILLBORN_MAX: Final = 5
#: What is locked or listened on as long as the system runs.
_FIXED: Final = ("store", "status_port", "web_port")
#: Of the time to drain: what brokers may use, so that what they broke off is given back before they are killed.
_DRAIN_SHARE: Final = 0.8
#: What the last request of an old broker may take beyond its deadline, for all to be recorded.
_RECORD_SECONDS: Final = 5.0


class Manager:
    """Keeps the processes of one system. `run` it; its other methods may be called from the loop it runs on."""

    def __init__(
        self,
        launch: Launch,
        settings: Settings,
        ports: Ports,
        *,
        round_at: datetime | None = None,
        is_silent: bool = False,
    ) -> None:
        """`round_at`: one round of what is due at that moment, and then the end; else until it is told to drain.
        `is_silent`: brokers write no line for each visit."""
        self._asked = launch
        self._launch = launch.with_setting("store", settings.store)  # the one that is locked, whatever a file says
        self._settings = settings
        self._ports = ports
        self._round_at = round_at
        self._is_silent = is_silent
        self._started_at = utc_now()
        self._news = asyncio.Event()
        self._looked_s = monotonic()
        self._places: list[Place] = []
        self._leaving: set[WatchedBroker] = set()  #: told to end by a deploy
        self._server: PreloadServer | None = None
        self._retired: set[PreloadServer] = set()
        self._fresh: asyncio.Task[tuple[Settings, PreloadServer]] | None = None
        self._server_deaths = 0
        self._server_not_before_s = 0.0
        self._is_deploying = self._is_deploy_wanted = False
        self._web = WebKeeper(ports.web)
        self._drain_by_s: float | None = None
        self._is_at_once = False
        self._work_before = Work()  #: of the brokers that ended
        self._skipped = 0
        self._restarts = self._killed = 0
        self._deploy_trouble = ""
        self._version = __version__

    # ── what it is told ──────────────────────────────────────────────────────────────────────────────────────────

    def drain(self) -> None:
        """Stop: what is in flight ends and is recorded, within `drain_seconds_max`. A second time: at once."""
        if self._drain_by_s is not None:
            self._is_at_once = True
        else:
            seconds = self._settings.drain_seconds_max
            self._drain_by_s = monotonic() + seconds
            _log.info("draining within %.0f s", seconds, extra={"event": "drain"})
            for broker in self._brokers():
                broker.end(seconds * _DRAIN_SHARE)
        self._news.set()

    def deploy(self) -> None:
        """Take up changed settings and code: fresh brokers from a fresh preload server, then the old ones end."""
        self._is_deploy_wanted = True
        self._news.set()

    # ── what it tells ────────────────────────────────────────────────────────────────────────────────────────────

    def snapshot(self) -> Snapshot:
        """The system at this moment."""
        brokers = self._brokers()
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return Snapshot(
            at=utc_now(),
            pid=os.getpid(),
            version=self._version,
            started_at=self._started_at,
            store=urls.without_credentials(self._settings.store),
            page=self._ports.page,
            brokers_wanted=self._wanted(),
            brokers=tuple(broker.row() for broker in brokers),
            work=sum((broker.work for broker in brokers), self._work_before),
            restarts=self._restarts,
            killed=self._killed,
            is_draining=self._drain_by_s is not None,
            trouble=" ".join(filter(None, (self._brokers_trouble(), self._deploy_trouble, self._web.trouble))),
            cpu_s=round(cpu_seconds() + children.ru_utime + children.ru_stime, 3),
        )

    @property
    def skipped(self) -> int:
        """Sources that the round left, because their host is under a hold."""
        return self._skipped

    async def backlog(self) -> Backlog | None:
        """What is due in the store, by the eyes of a broker; None where none answers within two seconds."""
        able = [broker for broker in self._brokers() if broker.has_worked and broker.end_by_s is None]
        if not able:
            return None
        return await max(able, key=lambda broker: broker.heard_s).backlog(BACKLOG_SECONDS_MAX)

    def _brokers_trouble(self) -> str:
        if self._server is None and self._server_deaths:
            return "The preload server does not start: see the log."
        stillborn = [place.name for place in self._places if place.stillborn >= STILLBORN_MAX]
        return f"{', '.join(stillborn)}: ended {STILLBORN_MAX} times or more before it could work; see the log." * bool(
            stillborn
        )

    def _brokers(self) -> list[WatchedBroker]:
        """All that are there, those of a place first."""
        return [place.broker for place in self._places if place.broker is not None] + list(self._leaving)

    def _wanted(self) -> int:
        return self._settings.brokers or _cores()

    # ── the loop ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def run(self) -> None:
        """Until drained, or the round is done. Raises JunkaiError where the system does not come to work at all."""
        with obeyed(drain=self.drain, deploy=self.deploy):
            port = StatusPort(self.snapshot, self.backlog)
            try:
                self._server = await PreloadServer.started(self._launch, self._news.set)
                self._version = self._server.version
                await port.serve(self._ports.status)
                self._web.keep(self._launch, self._ports.status_number)
                while True:
                    self._news.clear()  # before looking: what ends meanwhile must not be slept over
                    await self._look()
                    if self._is_over():
                        break
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(self._pause()):
                            await self._news.wait()
            finally:
                await port.close()
                await self._end_all()

    def _is_over(self) -> bool:
        if self._drain_by_s is not None:
            return not self._brokers() or self._is_at_once or monotonic() > self._drain_by_s
        is_done = bool(self._places) and all(place.is_done for place in self._places) and not self._leaving
        return self._round_at is not None and is_done

    def _pause(self) -> float:
        """Until the next look: two seconds, less where a place is to be filled before, or the drain ends."""
        now_s = monotonic()
        if self._drain_by_s is not None:
            moments = [self._drain_by_s]
        elif self._server is None:
            moments = [self._server_not_before_s]
        else:
            moments = [place.not_before_s for place in self._places if place.broker is None and not place.is_done]
        return min([LOOK_SECONDS, *(max(moment - now_s, 0.05) for moment in moments)])

    async def _look(self) -> None:
        if monotonic() - self._looked_s > _OVERSLEPT_SECONDS:  # stopped, as by Ctrl-Z: what they said is not read yet
            for broker in self._brokers():
                broker.excuse()
        self._looked_s = monotonic()
        for server in (*self._retired, self._server):
            if server is not None:
                server.look()
        self._bury()
        for broker in self._brokers():
            if (why := broker.why_kill(self._settings)) is not None:
                self._kill(broker, why)
        if self._drain_by_s is not None:
            return
        await self._adopt()
        self._renew_server()
        await self._fill()
        self._web.look(self._launch, self._ports.status_number)

    def _bury(self) -> None:
        """Take leave of brokers that have ended."""
        for place in self._places:
            if (broker := place.broker) is not None and broker.is_gone:
                is_death = place.empty(broker)
                self._take_leave(broker, is_death=is_death)
        for broker in [broker for broker in self._leaving if broker.is_gone]:
            self._leaving.discard(broker)
            self._take_leave(broker, is_death=False)
        self._retired = {server for server in self._retired if not server.is_buried}

    def _take_leave(self, broker: WatchedBroker, *, is_death: bool) -> None:
        broker.close()
        self._work_before += broker.work
        if broker.farewell is not None:
            self._skipped = max(self._skipped, broker.farewell.skipped)
            how = broker.farewell.why
        else:
            how = _how(broker.status)
        is_death = is_death and self._drain_by_s is None
        self._restarts += is_death
        level = logging.WARNING if is_death else logging.INFO
        _log.log(level, "%s (pid %d) ended: %s", broker.order.name, broker.pid, how, extra={"event": "broker_ended"})

    def _kill(self, broker: WatchedBroker, why: str) -> None:
        self._killed += 1
        _log.warning("%s (pid %d) is killed: %s", broker.order.name, broker.pid, why, extra={"event": "broker_killed"})
        broker.kill()

    async def _fill(self) -> None:
        """A broker in every place that may have one."""
        while len(self._places) < self._wanted():
            self._places.append(Place(len(self._places) + 1))
        for place in self._places:
            server = self._server
            if server is None or not server.is_alive:
                return
            if place.broker is not None or place.is_done or place.not_before_s > monotonic():
                continue
            if self._round_at is not None and place.stillborn >= STILLBORN_MAX:
                raise JunkaiError(
                    place.name, f"ended {place.stillborn} times before it could work; its words are above"
                )
            await self._start(place, server)

    async def _start(self, place: Place, server: PreloadServer) -> None:
        order = Order(
            name=place.name,
            number=place.number,
            brokers=self._wanted(),
            round_at=self._round_at,
            is_silent=self._is_silent,
        )
        try:
            place.broker = broker = await server.start_broker(order)
        except (JunkaiError, OSError) as error:
            _log.warning("%s", error, extra={"event": "broker_refused"})
            place.not_before_s = monotonic() + LOOK_SECONDS
            return
        _log.info(
            "%s started: pid %d, version %s", place.name, broker.pid, server.version, extra={"event": "broker_started"}
        )
        if self._drain_by_s is not None:  # told meanwhile
            broker.end(max(self._drain_by_s - monotonic(), 0.0) * _DRAIN_SHARE)

    # ── the preload server, and a deploy ─────────────────────────────────────────────────────────────────────────

    def _renew_server(self) -> None:
        """Begin to start a fresh preload server, where a deploy wants one or there is none."""
        if self._server is not None and not self._server.is_alive:
            _log.warning("the preload server ended; it is replaced", extra={"event": "preload_ended"})
            self._retired.add(self._server)
            self._server = None
            self._server_deaths += 1
            self._server_not_before_s = monotonic() + wait_seconds(self._server_deaths)
        if self._fresh is not None:
            return
        if self._is_deploy_wanted:
            _log.info("deploying: a fresh preload server starts", extra={"event": "deploy_began"})
            self._is_deploying, self._is_deploy_wanted = True, False
        elif self._server is not None or monotonic() < self._server_not_before_s:
            return
        self._fresh = asyncio.create_task(self._started_afresh())
        self._fresh.add_done_callback(lambda _task: self._news.set())

    async def _started_afresh(self) -> tuple[Settings, PreloadServer]:
        settings = self._asked.settings() if self._is_deploying else self._settings
        return settings, await PreloadServer.started(self._launch, self._news.set)

    async def _adopt(self) -> None:
        """Take over what `_renew_server` began, once it is there or has failed."""
        if self._fresh is None or not self._fresh.done():
            return
        task, self._fresh = self._fresh, None
        was_deploying, self._is_deploying = self._is_deploying, False
        try:
            settings, server = task.result()
        except (JunkaiError, OSError) as error:  # OSError: no file or process to be had at the moment
            _log.error("%s", error, extra={"event": "deploy_failed" if was_deploying else "preload_failed"})
            if was_deploying:
                self._deploy_trouble = (
                    f"The deploy of {utc_now():%Y-%m-%d %H:%M} UTC failed, the old version runs: {error}."
                )
            else:
                self._server_deaths += 1
                self._server_not_before_s = monotonic() + wait_seconds(self._server_deaths)
            return
        old, self._server, self._version = self._server, server, server.version
        self._server_deaths = 0
        if was_deploying:
            await self._hand_over(settings, old)

    async def _hand_over(self, settings: Settings, old: PreloadServer | None) -> None:
        """New brokers first, then the word to the old ones; the old server ends with the last of them."""
        fixed = [name for name in _FIXED if getattr(settings, name) != getattr(self._settings, name)]
        self._deploy_trouble = f"{', '.join(fixed)}: changed, but only a restart takes that up." * bool(fixed)
        self._settings = settings = replace(settings, **{name: getattr(self._settings, name) for name in _FIXED})
        before = [place.broker for place in self._places if place.broker is not None]
        self._leaving.update(before)
        for place in self._places:
            place.broker, place.not_before_s, place.deaths = None, 0.0, 0
        del self._places[self._wanted() :]
        await self._fill()
        for broker in before:
            broker.end(max(settings.drain_seconds_max, settings.fetch_deadline_seconds + _RECORD_SECONDS))
        if old is not None:
            old.retire()
            self._retired.add(old)
        self._web.renew(self._launch, self._ports.status_number)
        _log.info("deployed version %s; the old brokers end", self._version, extra={"event": "deployed"})

    # ── the end ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def _end_all(self) -> None:
        """Nothing that was started is left: what has not ended by now is killed."""
        for broker in self._brokers():
            if not broker.is_gone:
                self._kill(broker, "the time to drain is over" if not self._is_at_once else "at once, as was asked")
        if self._fresh is not None:
            self._fresh.cancel()
            with contextlib.suppress(asyncio.CancelledError, JunkaiError, OSError):
                self._retired.add((await self._fresh)[1])
        until_s = monotonic() + LOOK_SECONDS
        while any(not broker.is_gone for broker in self._brokers()) and monotonic() < until_s:
            self._news.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.2):
                    await self._news.wait()
        self._bury()
        await asyncio.gather(
            self._web.stop(), *(server.close() for server in (*self._retired, self._server) if server is not None)
        )


def _how(status: int | None) -> str:
    if status is None:
        return "unseen, after its preload server"
    return f"exit code {status}" if status >= 0 else f"by {signal.Signals(-status).name}"


def _cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
