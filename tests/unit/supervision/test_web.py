"""The web process as its manager keeps it: restarted with patience, and said to be in trouble where that is of no use."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess

from junkai.launch import Launch
from junkai.supervision.web import WebKeeper

#: A program that lives until its input ends, and one that ends at once.
LASTING, SHORT = ("sh", "-c", "read line"), ("true",)


def process_of(keeper: WebKeeper) -> subprocess.Popen[bytes]:
    assert keeper._now is not None
    return keeper._now._process


def pid_of(keeper: WebKeeper) -> int:
    return process_of(keeper).pid


def replaced(keeper: WebKeeper, program: tuple[str, ...]) -> None:
    """Once its process has ended: another one, without the wait."""
    process_of(keeper).wait()
    keeper.look(Launch(program=program), 1)
    if keeper._now is None:
        keeper._not_before_s = 0.0
        keeper.look(Launch(program=program), 1)


def test_without_a_socket_no_process_is_started() -> None:
    async def kept() -> bool:
        keeper = WebKeeper(None)
        keeper.keep(Launch(program=LASTING), 1)
        keeper.look(Launch(program=LASTING), 1)
        await keeper.stop()
        return keeper._now is None

    assert asyncio.run(kept())


def test_a_process_that_was_killed_is_started_again() -> None:
    async def kept() -> tuple[int, int]:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            keeper = WebKeeper(listener)
            keeper.keep(Launch(program=LASTING), 1)
            before = pid_of(keeper)
            os.kill(before, signal.SIGKILL)
            replaced(keeper, LASTING)
            after = pid_of(keeper)
            await keeper.stop()
            return before, after

    before, after = asyncio.run(kept())
    assert before != after


def test_one_that_ends_again_and_again_is_trouble_until_it_has_lived_for_a_minute() -> None:
    async def kept() -> list[str]:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            keeper = WebKeeper(listener)
            keeper.keep(Launch(program=SHORT), 1)
            for program in (SHORT, SHORT, SHORT, SHORT, LASTING):
                replaced(keeper, program)
            troubled = keeper.trouble
            assert keeper._now is not None
            keeper._now.started_s -= 61
            keeper.look(Launch(program=LASTING), 1)
            await keeper.stop()
            return [troubled, keeper.trouble]

    assert ["The web process ends again and again; see the log.", ""] == asyncio.run(kept())


def test_a_new_process_that_ends_at_once_leaves_the_old_one_in_place() -> None:
    async def kept() -> tuple[bool, str]:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            keeper = WebKeeper(listener)
            keeper.keep(Launch(program=LASTING), 1)
            before = pid_of(keeper)
            keeper.renew(Launch(program=SHORT), 1)
            assert keeper._next is not None
            keeper._next._process.wait()
            keeper.look(Launch(program=LASTING), 1)
            is_same = before == pid_of(keeper)
            await keeper.stop()
            return is_same, keeper.trouble

    is_same, trouble = asyncio.run(kept())
    assert is_same
    assert trouble.startswith("The page is still of the old version")
