"""Deaths in a row in; how long to wait before the next start out. And how long a process is given to end."""

from __future__ import annotations

import asyncio
import subprocess
from typing import Final

from junkai.clock import monotonic

LIVED_SECONDS: Final = 60.0  #: a process that lived so long starts again with a clean slate
_BACK_OFF_SECONDS_MAX: Final = 60.0
_POLL_SECONDS: Final = 0.02


def wait_seconds(deaths: int) -> float:
    """How long a place stays empty after so many deaths in a row: at once, then 1, 2, 4 … 60 s."""
    return 0.0 if deaths <= 1 else min(2.0 ** min(deaths - 2, 16), _BACK_OFF_SECONDS_MAX)


async def wait_stopped(process: subprocess.Popen[bytes], *, seconds_max: float) -> None:
    """Give the process so long to end, then kill it; it is waited for."""
    if process.stdin is not None:
        process.stdin.close()
    until_s = monotonic() + seconds_max
    while process.poll() is None and monotonic() < until_s:  # noqa: ASYNC110  # a process sets no event
        await asyncio.sleep(_POLL_SECONDS)
    if process.poll() is None:
        process.kill()
        process.wait()
