"""A launch in; its preload server under watch, and brokers forked from that one on order, out."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
from collections.abc import Callable, Coroutine
from typing import Final, Self

import msgspec

from junkai.clock import monotonic
from junkai.errors import JunkaiError
from junkai.fleet import LINE_BYTES_MAX, BrokerMessage, Ended, Order, PreloadMessage, Ready, Started, encode
from junkai.launch import PRELOAD, Launch
from junkai.pipe import Pipe
from junkai.supervision.brokers import WatchedBroker
from junkai.supervision.patience import wait_stopped

_READY_SECONDS_MAX: Final = 30.0
_FORK_SECONDS_MAX: Final = 10.0
_BURIAL_SECONDS_MAX: Final = 1.0
#: A broker that closed its pipe is soon waited for, unless it hangs (it is killed then) or its server does.
_REPORT_SECONDS_MAX: Final = 20.0


class PreloadServer:
    """A preload server and the brokers forked from it, from the manager's side."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        end: socket.socket,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self.version = ""
        self.is_alive = True
        self._process = process
        self._end = end  #: the stream's own socket: a stream cannot send a descriptor
        self._reader = reader
        self._writer = writer
        self._brokers: dict[int, WatchedBroker] = {}
        self._early: dict[int, int] = {}  #: exits of brokers whose start was not answered yet, by pid
        self._started: asyncio.Future[int] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._on_news: Callable[[], None] = lambda: None

    @classmethod
    async def started(cls, launch: Launch, on_news: Callable[[], None]) -> Self:
        """A fresh one that has said that it is ready; `on_news` is called when it or a broker of its ends.

        Raises JunkaiError where it does not start, or is not ready in time.
        """
        ours, theirs = socket.socketpair()
        try:
            process = launch.start(PRELOAD, theirs)
        except OSError as error:
            ours.close()
            raise JunkaiError(launch.program[0], f"cannot be started: {error.strerror}") from error
        finally:
            theirs.close()
        reader, writer = await asyncio.open_connection(sock=ours, limit=LINE_BYTES_MAX)
        self = cls(process, ours, reader, writer)
        try:
            await self._wait_until_ready()
        except BaseException:
            await self.close()
            raise
        self._on_news = on_news
        self._keep(self._listen())
        return self

    @property
    def is_buried(self) -> bool:
        """It ended, and was waited for."""
        return self._process.returncode is not None

    async def _wait_until_ready(self) -> None:
        try:
            async with asyncio.timeout(_READY_SECONDS_MAX):
                message = await self._read()
        except TimeoutError:
            raise JunkaiError("preload server", f"was not ready within {_READY_SECONDS_MAX:.0f} s") from None
        if not isinstance(message, Ready):
            raise JunkaiError("preload server", "ended before it was ready; its own words are above, or in the log")
        self.version = message.version

    async def _read(self) -> PreloadMessage | None:
        try:
            line = await self._reader.readline()
            return msgspec.json.decode(line, type=PreloadMessage) if line else None
        except (OSError, ValueError):
            return None

    async def _listen(self) -> None:
        while (message := await self._read()) is not None:
            match message:
                case Started(pid=pid) if self._started is not None:
                    self._started.set_result(pid)
                case Ended(pid=pid, status=status) if (broker := self._brokers.pop(pid, None)) is not None:
                    broker.status = status
                    self._on_news()
                case Ended(pid=pid, status=status):
                    self._early[pid] = status
        await self._bury()
        self._on_news()

    async def _bury(self) -> None:
        """It said its last word: whatever is left of it is ended and waited for."""
        self.is_alive = False
        for broker in self._brokers.values():
            broker.is_orphan = True
        self._writer.close()
        if self._started is not None and not self._started.done():
            self._started.set_exception(JunkaiError("preload server", "ended"))
        await wait_stopped(self._process, seconds_max=_BURIAL_SECONDS_MAX)

    def _keep(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def start_broker(self, order: Order) -> WatchedBroker:
        """Fork a broker. Raises JunkaiError where the server cannot; it is ended then, since nothing is known of it."""
        ours, theirs = socket.socketpair()
        self._started = asyncio.get_running_loop().create_future()
        try:
            socket.send_fds(self._end, [encode(order)], [theirs.fileno()])
            async with asyncio.timeout(_FORK_SECONDS_MAX):
                pid = await self._started
        except (OSError, TimeoutError) as error:
            ours.close()
            self._process.kill()
            raise JunkaiError("preload server", f"does not start {order.name}: {error or 'no answer'}") from error
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
            self._started = None
        broker = WatchedBroker(order, pid, self.version, await Pipe[BrokerMessage].opened(ours, BrokerMessage))
        broker.status = self._early.pop(pid, None)
        if broker.status is None:
            self._brokers[pid] = broker
        self._keep(broker.listen(self._on_news))
        return broker

    def look(self) -> None:
        """See to it that it does its work: one that does not report an end for long is hung, and is killed."""
        late_s = monotonic() - _REPORT_SECONDS_MAX
        if any(broker.closed_s is not None and broker.closed_s < late_s for broker in self._brokers.values()):
            self._process.kill()

    def retire(self) -> None:
        """Let it end by itself once its brokers have: it gets no more orders."""
        with contextlib.suppress(OSError):
            self._end.shutdown(socket.SHUT_WR)

    async def close(self) -> None:
        """End it now. Its brokers have ended, or are left to themselves: their pipes close."""
        self._process.kill()
        for broker in tuple(self._brokers.values()):
            broker.close()
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._bury()
