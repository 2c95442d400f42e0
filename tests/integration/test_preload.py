"""The preload server as a process of its own: what it is before it forks, what it forks, and how it ends."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from junkai import __version__
from junkai.fleet import Ended, Order, PreloadMessage, Ready, Started, encode
from junkai.launch import PRELOAD, Launch
from running import children_of, is_running, proc

SECONDS_MAX = 30.0


class Server:
    """The manager's side, by hand: blocking, a line at a time."""

    def __init__(self, process: subprocess.Popen[bytes], end: socket.socket) -> None:
        self.process = process
        self.end = end
        self._lines = end.makefile("rb")

    def hear(self) -> PreloadMessage | None:
        line = self._lines.readline()
        return msgspec.json.decode(line, type=PreloadMessage) if line else None

    def order(self) -> tuple[int, socket.socket]:
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self.end, [encode(Order(name="broker 1", number=1))], [theirs.fileno()])
        started = self.hear()
        assert isinstance(started, Started)
        return started.pid, ours

    def close(self) -> None:
        self._lines.close()
        self.end.close()


@contextmanager
def preloaded(folder: Path, **settings: str) -> Iterator[Server]:
    words = {"store": f"sqlite:///{folder}/test.db"} | settings
    launch = Launch(program=(sys.executable, "-m", "junkai"), command_line=words, config_file=os.devnull, is_alone=True)
    ours, theirs = socket.socketpair()
    ours.settimeout(SECONDS_MAX)
    with theirs:
        process = launch.start(PRELOAD, theirs)
    server = Server(process, ours)
    try:
        yield server
    finally:
        server.close()
        try:
            process.wait(SECONDS_MAX)
        finally:
            process.kill()
            process.wait()
            assert process.stdin is not None
            process.stdin.close()


def sockets_of(pid: int) -> list[str]:
    links = [str(each.readlink()) for each in Path(f"/proc/{pid}/fd").iterdir()]
    return [link for link in links if link.startswith("socket:")]


def wait_until(is_so: Callable[[], bool]) -> None:
    for _ in range(1_000):
        if is_so():
            return
        select.select([], [], [], 0.02)
    raise TimeoutError


def test_before_a_fork_there_is_one_thread_one_socket_and_everything_a_broker_imports(tmp_path: Path) -> None:
    with preloaded(tmp_path) as server:
        ready = server.hear()
        pid = server.process.pid
        threads = len(list(Path(f"/proc/{pid}/task").iterdir()))
        sockets = sockets_of(pid)
        libraries = proc(pid, "maps")

    assert Ready(version=__version__) == ready
    assert 1 == threads
    assert 1 == len(sockets)
    assert [] == list(tmp_path.iterdir())  # no store either
    assert [] == [name for name in ("pycurl", "lxml", "_sqlite3", "nh3", "_cares") if name not in libraries]


def test_a_broker_is_forked_on_order_and_its_end_is_told(tmp_path: Path) -> None:
    with preloaded(tmp_path) as server:
        server.hear()
        pid, pipe = server.order()
        with pipe:
            assert [pid] == children_of(server.process.pid)
            assert pipe.recv(1 << 16)  # it speaks
            os.kill(pid, signal.SIGKILL)
            ended = server.hear()

    assert Ended(pid=pid, status=-signal.SIGKILL) == ended


def test_a_broker_has_no_socket_of_the_server_or_of_another_broker(tmp_path: Path) -> None:
    with preloaded(tmp_path) as server:
        server.hear()
        (first, pipe_of_first), (second, pipe_of_second) = server.order(), server.order()
        with pipe_of_first, pipe_of_second:
            assert pipe_of_first.recv(1 << 16)
            assert pipe_of_second.recv(1 << 16)
            of_server, of_first, of_second = (set(sockets_of(pid)) for pid in (server.process.pid, first, second))

    assert 1 == len(of_server)
    assert set() == of_server & (of_first | of_second)
    assert set() == of_first & of_second


def test_signals_meant_for_the_manager_do_not_end_it(tmp_path: Path) -> None:
    with preloaded(tmp_path) as server:
        server.hear()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            server.process.send_signal(number)
        pid, pipe = server.order()
        with pipe:
            assert is_running(pid)


def test_without_a_manager_it_waits_for_its_brokers_and_ends(tmp_path: Path) -> None:
    with preloaded(tmp_path) as server:
        server.hear()
        pid, pipe = server.order()
        server.close()
        with pipe:
            assert pipe.recv(1 << 16)
            assert is_running(pid)
            assert server.process.poll() is None
        code = server.process.wait(SECONDS_MAX)

    assert 0 == code
    assert not is_running(pid)


@pytest.mark.parametrize(("setting", "value"), [("delay_seconds", "soon"), ("no_such", "1")])
def test_bad_settings_end_it_before_it_is_ready(
    tmp_path: Path, setting: str, value: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with preloaded(tmp_path, **{setting: value}) as server:
        heard = server.hear()
        code = server.process.wait(SECONDS_MAX)

    assert (None, 2) == (heard, code)
    assert capfd.readouterr().err.startswith(f"junkai: {setting}: ")
