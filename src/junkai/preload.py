"""Orders on a socket in; brokers, forked from a process that has imported everything, and how each one ended, out.

No event loop, thread, store, curl or DNS handle is made here: a fork would share them.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket
import sys
import traceback
from typing import Final, NoReturn

import msgspec

from junkai import __version__, app, backend
from junkai.config import Settings
from junkai.errors import JunkaiError
from junkai.fleet import LINE_BYTES_MAX, Ended, Order, Ready, Started, encode
from junkai.launch import inherited

#: What a terminal or a service manager sends to a whole group: only the manager obeys, and then tells its brokers.
_FOR_THE_MANAGER: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main(words: list[str]) -> int:
    """Serve until the manager's end closes and the last broker has ended; the exit code. Raises SettingsError."""
    launch, end = inherited(words)
    for number in _FOR_THE_MANAGER:
        signal.signal(number, signal.SIG_IGN)
    settings = launch.settings()
    backend.load(settings.store)
    gc.collect()
    gc.freeze()  # what stands here stays shared: no collection in a broker writes to its pages
    _Server(end, settings).serve()
    return 0


class _Server:
    """Forks on order, waits for what it forked, and says both. Everything happens in `serve`, one thing at a time."""

    def __init__(self, end: socket.socket, settings: Settings) -> None:
        self._end = end
        self._settings = settings
        self._running: set[int] = set()  #: pids
        self._is_ordered_from = True
        self._child_ended, self._wake = os.pipe()

    def serve(self) -> None:
        """Until there is no manager and no broker any more."""
        os.set_blocking(self._child_ended, False)
        os.set_blocking(self._wake, False)
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)  # one byte is enough to look for all
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        self._say(Ready(version=__version__))
        while self._is_ordered_from or self._running:
            ends = [self._child_ended, *([self._end.fileno()] * self._is_ordered_from)]
            heard, _, _ = select.select(ends, [], [])
            if self._child_ended in heard:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._child_ended, 4096)
            self._reap()
            if self._end.fileno() in heard:
                self._take_order()

    def _take_order(self) -> None:
        try:
            line, descriptors, _, _ = socket.recv_fds(self._end, LINE_BYTES_MAX, 1)
        except OSError:  # killed with words of ours unread
            line = b""
        if not line:
            self._is_ordered_from = False
            return
        pipe = socket.socket(fileno=descriptors[0])
        pipe.set_inheritable(False)
        order = msgspec.json.decode(line, type=Order)
        pid = os.fork()
        if pid == 0:
            self._be_broker(order, pipe)
        pipe.close()
        self._running.add(pid)
        self._say(Started(pid=pid))

    def _reap(self) -> None:
        for pid in tuple(self._running):
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                self._running.discard(pid)
                self._say(Ended(pid=pid, status=os.waitstatus_to_exitcode(status)))

    def _say(self, message: msgspec.Struct) -> None:
        with contextlib.suppress(OSError):  # the manager is gone: nobody is there to be told
            self._end.sendall(encode(message))

    def _be_broker(self, order: Order, pipe: socket.socket) -> NoReturn:
        """In the child, until its end: without the server's files, and past all that the server would do at its own."""
        code = 1
        try:
            self._end.close()
            os.close(self._child_ended)
            os.close(self._wake)
            code = app.run_broker(self._settings, order, pipe)
        finally:
            with contextlib.suppress(OSError):  # nobody reads any more
                _explain(order, sys.exception())
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(code)


def _explain(order: Order, error: BaseException | None) -> None:
    """A known trouble in one line, a fault of our own with its trace."""
    if isinstance(error, JunkaiError):
        sys.stderr.write(f"junkai: {order.name}: {error}\n")
    elif error is not None:
        traceback.print_exception(error)
