"""`junkai run` as a user starts it; what it says on standard error, event by event, out.

In a test (leaving the block kills it, and with it all that it started)::

    with Running(junkai, "--brokers", "2") as system:
        system.wait_for("broker_started", 2)
        os.kill(system.brokers()[0], signal.SIGKILL)
        …
        assert 0 == system.stop()
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from installed import Junkai
from junkai.clock import monotonic
from junkai.fleet import Snapshot
from junkai.status_port import ask
from requirements import REPO


class Running:
    """A manager and what it started. Ports are any free ones."""

    def __init__(self, junkai: Junkai, *arguments: str) -> None:
        words = ["run", *arguments, "--set", "status_port=0", "--set", "web_port=0"]
        self.process = junkai.start(*words)
        self.events: list[dict[str, Any]] = []
        self.said: list[dict[str, Any]] = []  #: on standard output
        self.other_words: list[str] = []  #: on standard error: what is no event
        self._changed = threading.Condition()
        self._readers = [
            threading.Thread(target=self._read, args=(stream, into), daemon=True)
            for stream, into in ((self.process.stderr, self.events), (self.process.stdout, self.said))
        ]

    def __enter__(self) -> Self:
        for reader in self._readers:
            reader.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
        brokers = self.brokers()
        until = monotonic() + 30
        while any(map(is_running, brokers)) and monotonic() < until:
            threading.Event().wait(0.02)  # they end by themselves: their pipes are closed
        for pid in filter(is_running, brokers):
            os.kill(pid, signal.SIGKILL)
        for reader in self._readers:
            reader.join(10)
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()

    def _read(self, stream: IO[str], into: list[dict[str, Any]]) -> None:
        for line in stream:
            with self._changed:
                try:
                    into.append(json.loads(line))
                except ValueError:
                    self.other_words.append(line)
                self._changed.notify_all()

    def named(self, event: str) -> list[dict[str, Any]]:
        """The events of that name so far."""
        with self._changed:
            return [each for each in self.events if each["event"] == event]

    def wait_for(self, event: str, count: int = 1, *, seconds: float = 30.0) -> list[dict[str, Any]]:
        """The events of that name, once there are so many. Raises TimeoutError where they do not come."""
        self.wait_until(lambda: len(self.named(event)) >= count, f"{count} × {event}", seconds=seconds)
        return self.named(event)

    def wait_until(self, is_so: Callable[[], bool], what: str, *, seconds: float = 30.0) -> None:
        """Return once it is so; looked at whenever something is said, and now and then. Raises TimeoutError."""
        until = monotonic() + seconds
        with self._changed:
            while not is_so():
                if monotonic() > until:
                    raise TimeoutError(f"no {what} in {seconds} s: {self.events[-20:]} {self.other_words[-20:]}")
                self._changed.wait(0.05)

    def brokers(self) -> list[int]:
        """Pids of the brokers that were started and are there, in the order of their start."""
        said = [re.search(r"pid (\d+)", each["message"]) for each in self.named("broker_started")]
        return [pid for pid in (int(match[1]) for match in said if match) if is_running(pid)]

    def preload_servers(self) -> list[int]:
        """Pids of the manager's children that fork brokers."""
        return [pid for pid in children_of(self.process.pid) if "_preload" in words_of(pid)]

    def listening(self) -> dict[str, Any]:
        """Where the page and the status port are."""
        self.wait_until(lambda: any(each["event"] == "listening" for each in self.said), "address")
        return next(each for each in self.said if each["event"] == "listening")

    def snapshot(self) -> Snapshot:
        """What the status port tells. Raises TimeoutError where it tells nothing."""
        told: list[Snapshot] = []

        def is_told() -> bool:
            snapshot = ask(self.listening()["status_port"])
            told.extend([snapshot] if snapshot is not None else [])
            return bool(told)

        self.wait_until(is_told, "answer of the status port")
        return told[-1]

    def web_processes(self) -> list[int]:
        """Pids of the manager's children that show the page."""
        return [pid for pid in children_of(self.process.pid) if "_web" in words_of(pid)]

    def signal(self, number: signal.Signals) -> None:
        """Send it to the manager."""
        self.process.send_signal(number)

    def stop(self, *, seconds: float = 40.0) -> int:
        """Drain it; its exit code."""
        self.signal(signal.SIGTERM)
        return self.process.wait(seconds)


class Deployed(Junkai):
    """The program in a folder for each version, found through a link that can be switched."""

    def version(self, name: str) -> Path:
        """Make that version of these sources, and switch the link to it; its package's folder."""
        package = self.folder / name / "junkai"
        shutil.copytree(
            REPO / "src" / "junkai",
            package,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        (package / "__init__.py").write_text(f'"""This version."""\n\n__version__ = "{name}"\n', encoding="utf-8")
        script = self.folder / name / "start"
        script.write_text(
            f"#!{sys.executable}\nimport os, sys\nsys.path.insert(0, os.path.dirname(sys.argv[0]))\n"
            "from junkai.__main__ import main\nmain()\n",
            encoding="utf-8",
        )
        script.chmod(0o755)
        link = self.folder / "next"
        link.symlink_to(name)
        link.replace(self.folder / "current")
        return package

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """The command of the version that the link leads to, running."""
        return subprocess.Popen(
            [str(self.folder / "current" / "start"), *arguments],
            cwd=self.folder,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def is_running(pid: int) -> bool:
    """There is such a process, and it is no zombie."""
    stat = proc(pid, "stat")
    return bool(stat) and stat.rpartition(")")[2].split()[0] != "Z"


def children_of(pid: int) -> list[int]:
    """Pids of its children."""
    return [int(child) for child in proc(pid, f"task/{pid}/children").split()]


def words_of(pid: int) -> list[str]:
    """Its command line."""
    return proc(pid, "cmdline").split("\0")


def proc(pid: int, name: str) -> str:
    """A file that the system has about the process; "" where it is gone."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/{name}").read_text(encoding="utf-8")
    return ""
