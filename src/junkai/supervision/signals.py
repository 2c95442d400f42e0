"""Signals to this process in; calls to drain and to deploy out."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def obeyed(*, drain: Callable[[], None], deploy: Callable[[], None]) -> Iterator[None]:
    """SIGTERM and SIGINT drain, SIGHUP deploys, on the running loop; but a SIGHUP because the terminal went away
    drains too."""
    loop = asyncio.get_running_loop()
    had_terminal = _has_terminal()

    def hang_up() -> None:
        if had_terminal and not _has_terminal():
            drain()
        else:
            deploy()

    reactions = {signal.SIGTERM: drain, signal.SIGINT: drain, signal.SIGHUP: hang_up}
    for number, react in reactions.items():
        loop.add_signal_handler(number, react)
    try:
        yield
    finally:
        for number in reactions:
            loop.remove_signal_handler(number)


def _has_terminal() -> bool:
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True
