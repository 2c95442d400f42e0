"""A launch and a listening socket in; the web process, kept alive on it, out."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from typing import Final

from junkai.clock import monotonic
from junkai.launch import WEB, Launch
from junkai.supervision.patience import LIVED_SECONDS, wait_seconds, wait_stopped

_log = logging.getLogger(__name__)

_STOP_SECONDS_MAX: Final = 3.0
_DEATHS_MAX: Final = 5  #: in a row: more than an accident
#: A web process of a new version has lived so long before the old one goes.
_PROBATION_SECONDS: Final = 4.0


class WebProcess:
    """The process that shows the page, on a listening socket that is the manager's."""

    def __init__(self, launch: Launch, listener: socket.socket, status_port: int) -> None:
        """Raises OSError where the program is not there any more."""
        self.started_s = monotonic()
        self._process = launch.start(WEB, listener, str(status_port))

    @property
    def is_alive(self) -> bool:
        """It has not ended yet."""
        return self._process.poll() is None

    @property
    def lived_s(self) -> float:
        """Seconds since its start."""
        return monotonic() - self.started_s

    async def stop(self) -> None:
        """Ask it to end, and see to it."""
        self._process.terminate()
        await wait_stopped(self._process, seconds_max=_STOP_SECONDS_MAX)


class WebKeeper:
    """The web process, restarted when it ends; a new version's has to prove itself before the old one goes."""

    def __init__(self, listener: socket.socket | None) -> None:
        self.trouble = ""
        self._listener = listener
        self._now: WebProcess | None = None
        self._next: WebProcess | None = None  #: on probation
        self._parting: set[asyncio.Task[None]] = set()
        self._deaths = 0
        self._not_before_s = 0.0

    def keep(self, launch: Launch, status_port: int) -> None:
        """Start it, where one is wanted."""
        if self._listener is None:
            return
        try:
            self._now = WebProcess(launch, self._listener, status_port)
        except OSError as error:
            self._deaths += 1
            self._not_before_s = monotonic() + wait_seconds(self._deaths)
            _log.warning("the web process cannot be started: %s", error.strerror, extra={"event": "web_failed"})

    def look(self, launch: Launch, status_port: int) -> None:
        """Restart it where it has ended; end the probation of a new one."""
        if self._listener is None:
            return
        if self._next is not None and not self._next.is_alive:
            self.trouble = "The page is still of the old version: the new web process ended at once; see the log."
            _log.warning("the new web process ended at once; the old one stays", extra={"event": "web_failed"})
            self._part(self._next)
            self._next = None
        elif self._next is not None and self._next.lived_s > _PROBATION_SECONDS:
            old, self._now, self._next, self.trouble = self._now, self._next, None, ""
            if old is not None:
                self._part(old)
        if self._now is not None and not self._now.is_alive:
            self._deaths = 1 if self._now.lived_s >= LIVED_SECONDS else self._deaths + 1
            self._not_before_s = monotonic() + wait_seconds(self._deaths)
            self._part(self._now)
            self._now = None
            if self._deaths >= _DEATHS_MAX:
                self.trouble = "The web process ends again and again; see the log."
            _log.warning("the web process ended; it is started again", extra={"event": "web_ended"})
        if self._deaths and self._now is not None and self._now.lived_s >= LIVED_SECONDS:
            self._deaths, self.trouble = 0, ""
        if self._now is None and monotonic() >= self._not_before_s:
            self.keep(launch, status_port)

    def renew(self, launch: Launch, status_port: int) -> None:
        """Start one of the new version beside it."""
        if self._listener is None:
            return
        if self._next is not None:
            self._part(self._next)
        with contextlib.suppress(OSError):
            self._next = WebProcess(launch, self._listener, status_port)

    async def stop(self) -> None:
        """End it."""
        for web in (self._now, self._next):
            if web is not None:
                self._part(web)
        await asyncio.gather(*self._parting)

    def _part(self, web: WebProcess) -> None:
        """End it, if it has not yet, without waiting: its last answers may take a moment."""
        task = asyncio.create_task(web.stop())
        self._parting.add(task)
        task.add_done_callback(self._parting.discard)
