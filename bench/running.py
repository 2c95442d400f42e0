"""A folder with a store in; the whole system running on it, and what it spent between two moments, out."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple, Self

from bench.measure import Peak, pinned, tree
from junkai.fleet import Snapshot
from junkai.status_port import ask

_TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")
_ASK_SECONDS: Final = 0.25
#: Heartbeats come every second: until then the last visits are counted, and what remains to be done is done.
_SETTLE_SECONDS: Final = 1.2
_WAIT_SECONDS_MAX: Final = 900.0


class Spent(NamedTuple):
    """CPU seconds of all processes, those that have ended and were waited for included."""

    user_s: float
    system_s: float


class RunningSystem:
    """`junkai run`, as a user starts it, from its first process on; use it as a context manager."""

    def __init__(self, folder: Path, *, store: str, core: int | None) -> None:
        """With `core` all of it runs on that core alone."""
        self._folder = folder
        self._port = _free_port()
        junkai = str(Path(sys.executable).with_name("junkai"))
        self._command = pinned([junkai, "run", "--json", "--store", f"sqlite:///{store}"], core)
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        environ = {
            "JUNKAI_ALLOW_NETWORKS": "127.0.0.0/8",
            "JUNKAI_STATUS_PORT": str(self._port),
            "JUNKAI_WEB_PORT": "0",
        }
        self._process = subprocess.Popen(
            self._command, cwd=self._folder, env={**os.environ, **environ}, stdout=subprocess.DEVNULL
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise SystemExit("bench: the system did not end") from None

    @property
    def pid(self) -> int:
        """Of the manager."""
        assert self._process is not None
        return self._process.pid

    def wait_for_visits(self, number: int) -> Snapshot:
        """The system's word once it has made so many visits since its start, and a little later."""
        until = time.monotonic() + _WAIT_SECONDS_MAX
        pause = threading.Event()
        while time.monotonic() < until:
            assert self._process is not None
            if self._process.poll() is not None:
                raise SystemExit(f"bench: the system ended with {self._process.returncode}")
            snapshot = ask(self._port)
            if snapshot is not None and snapshot.work.visits >= number:
                pause.wait(_SETTLE_SECONDS)
                return ask(self._port) or snapshot
            pause.wait(_ASK_SECONDS)
        raise SystemExit(f"bench: the system made fewer than {number} visits in {_WAIT_SECONDS_MAX:g} s")

    def spent(self) -> Spent:
        """So far, from the start."""
        user = system = 0
        for pid in tree(self.pid):
            try:
                stat = Path(f"/proc/{pid}/stat").read_text()
            except OSError:  # it ended between two looks: its parent has its time
                continue
            fields = stat.rpartition(") ")[2].split()
            user += int(fields[11]) + int(fields[13])
            system += int(fields[12]) + int(fields[14])
        return Spent(user / _TICKS_PER_S, system / _TICKS_PER_S)

    def peak(self) -> Peak:
        """Begin to watch its memory."""
        return Peak(self.pid)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
