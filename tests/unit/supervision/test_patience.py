"""How long a place waits for its next process, and how one that will not end is ended."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys

from junkai.supervision.patience import wait_seconds, wait_stopped


def test_the_first_start_is_at_once_and_the_wait_doubles_up_to_a_minute() -> None:
    assert [0, 0, 1, 2, 4, 8, 16, 32, 60, 60] == [wait_seconds(deaths) for deaths in range(10)]
    assert 60 == wait_seconds(1_000_000)


def test_a_process_that_will_not_end_is_killed_and_waited_for() -> None:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], stdin=subprocess.PIPE)

    asyncio.run(wait_stopped(process, seconds_max=0.05))

    assert -signal.SIGKILL == process.returncode


def test_a_process_that_ends_with_its_input_is_only_waited_for() -> None:
    process = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)

    asyncio.run(wait_stopped(process, seconds_max=30))

    assert 0 == process.returncode
