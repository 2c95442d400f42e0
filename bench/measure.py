"""A command in; its output, the CPU time of its whole process tree, and its peak memory, out."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple


class Run(NamedTuple):
    """What a command cost."""

    output: str
    user_s: float  #: all of the tree, reaped children included
    system_s: float
    wall_s: float
    peak_mb: float  #: the peak of the tree's summed PSS, sampled every 0.2 s

    @property
    def cpu_s(self) -> float:
        """User and system seconds."""
        return self.user_s + self.system_s


def pinned(command: Sequence[str], core: int | None) -> list[str]:
    """The command, kept on one core with all that it starts, where the system has taskset."""
    taskset = shutil.which("taskset")
    return [taskset, "-c", str(core), *command] if taskset and core is not None else [*command]


def run(command: Sequence[str], *, folder: Path, environ: Mapping[str, str], core: int | None) -> Run:
    """Run it to its end. Raises SystemExit where it fails."""
    began = time.monotonic()
    before = os.times()
    with subprocess.Popen(
        pinned(command, core),
        cwd=folder,
        env={**os.environ, **environ},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        peak = Peak(process.pid)
        output = process.communicate()[0]
        peak.stop()
    after = os.times()
    if process.returncode:
        raise SystemExit(f"bench: {' '.join(command)} ended with {process.returncode}")
    return Run(
        output=output,
        user_s=after.children_user - before.children_user,
        system_s=after.children_system - before.children_system,
        wall_s=time.monotonic() - began,
        peak_mb=peak.mb,
    )


class Peak:
    """The peak of the summed PSS of a process tree, sampled until it is stopped."""

    def __init__(self, pid: int) -> None:
        self.mb = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._sample, args=(pid,), daemon=True)
        self._thread.start()

    def stop(self) -> float:
        """End; megabytes."""
        self._ended.set()
        self._thread.join()
        return self.mb

    def _sample(self, pid: int) -> None:
        while not self._ended.wait(0.2):
            self.mb = max(self.mb, sum(map(_pss_mb, tree(pid))))


def tree(pid: int) -> Iterator[int]:
    """A process and all that descend from it."""
    yield pid
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return
    for child in children:
        yield from tree(int(child))


def _pss_mb(pid: int) -> float:
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in rollup.splitlines() if line.startswith("Pss:")), 0.0)
