"""A pipe between two processes, both ends in one here: what crosses, and what a dead or mad other side does."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from junkai.fleet import (
    LINE_BYTES_MAX,
    BrokerMessage,
    End,
    Farewell,
    Heartbeat,
    ManagerMessage,
    Phase,
    TellBacklog,
    encode,
)
from junkai.pipe import UNSENT_BYTES_MAX, Pipe


@asynccontextmanager
async def both() -> AsyncIterator[tuple[Pipe[ManagerMessage], Pipe[BrokerMessage]]]:
    ours, theirs = socket.socketpair()
    broker: Pipe[ManagerMessage] = await Pipe.opened(ours, ManagerMessage)
    manager: Pipe[BrokerMessage] = await Pipe.opened(theirs, BrokerMessage)
    try:
        yield broker, manager
    finally:
        broker.close()
        manager.close()


def test_messages_cross_both_ways_in_order() -> None:
    async def cross() -> list[object]:
        async with both() as (broker, manager):
            broker.send(Heartbeat(phase=Phase.PASS, pass_no=3, shard=0))
            broker.send(Farewell(why="told to"))
            manager.send(TellBacklog())
            manager.send(End(seconds_max=5))
            return [await pipe.receive() for pipe in (manager, manager, broker, broker)]

    got = asyncio.run(cross())

    assert [
        Heartbeat(phase=Phase.PASS, pass_no=3, shard=0),
        Farewell(why="told to"),
        TellBacklog(),
        End(seconds_max=5),
    ] == got


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"no json\n",
        b'{"type":"unknown"}\n',
        b'{"type":"end","seconds_max":"x"}\n',
        b'{"type":"end"}',
        b"\xff\n",
        b'"' + b"x" * (LINE_BYTES_MAX + 10) + b'"\n',
    ],
    ids=["nothing", "garbage", "unknown", "bad value", "half a line", "no utf-8", "too long"],
)
def test_what_is_no_message_ends_the_pipe(raw: bytes) -> None:
    async def read() -> list[object]:
        ours, theirs = socket.socketpair()
        pipe: Pipe[ManagerMessage] = await Pipe.opened(ours, ManagerMessage)
        _, writer = await asyncio.open_connection(sock=theirs)
        writer.write(raw + (encode(End()) if raw.endswith(b"\n") else b""))
        writer.write_eof()
        got: list[object] = [await pipe.receive(), await pipe.receive()]
        pipe.close()
        writer.transport.abort()
        await asyncio.sleep(0)
        return got

    got = asyncio.run(read())

    assert [None, None] == got


def test_sending_to_a_side_that_is_gone_does_nothing() -> None:
    async def send() -> object:
        async with both() as (broker, manager):
            manager.close()
            got = await broker.receive()
            for _ in range(10):
                broker.send(Heartbeat(phase=Phase.PASS))
            await broker.flush(1)
            return got

    got = asyncio.run(send())

    assert got is None


def unsent(pipe: Pipe[Any]) -> int:
    return pipe._writer.transport.get_write_buffer_size()


def fill(pipe: Pipe[Any], message: Callable[[], Any]) -> int:
    """Send until nothing more is taken; how much waits then."""
    taken = -1
    while unsent(pipe) > taken or taken <= 0:
        taken = unsent(pipe)
        pipe.send(message())
    return taken


def test_a_side_that_does_not_read_costs_heartbeats_but_no_farewell() -> None:
    async def send() -> tuple[int, list[object]]:
        async with both() as (broker, manager):
            manager._writer.transport.pause_reading()  # type: ignore[attr-defined]  # it is a socket's transport
            waiting = fill(broker, lambda: Heartbeat(phase=Phase.PASS))
            broker.send(Farewell(why="told to"))
            manager._writer.transport.resume_reading()  # type: ignore[attr-defined]  # it is a socket's transport
            got: list[object] = []
            while not got or not isinstance(got[-1], Farewell):
                got.append(await manager.receive())
            return waiting, got

    waiting, got = asyncio.run(send())

    assert waiting <= UNSENT_BYTES_MAX // 2
    assert {Heartbeat(phase=Phase.PASS)} == set(got[:-1])


def test_no_message_at_all_is_kept_beyond_the_bound() -> None:
    async def send() -> int:
        async with both() as (broker, manager):
            manager._writer.transport.pause_reading()  # type: ignore[attr-defined]  # it is a socket's transport
            return fill(broker, lambda: Farewell(why="x" * 1000))

    waiting = asyncio.run(send())

    assert waiting <= UNSENT_BYTES_MAX


def test_a_flush_ends_in_time_where_nobody_reads() -> None:
    async def send() -> int:
        async with both() as (broker, manager):
            manager._writer.transport.pause_reading()  # type: ignore[attr-defined]  # it is a socket's transport
            fill(broker, lambda: Farewell(why="x" * 1000))
            await broker.flush(0.01)
            return unsent(broker)

    waiting = asyncio.run(send())

    assert waiting > 0


def test_what_was_flushed_arrives_although_the_sender_closes() -> None:
    async def send() -> list[object]:
        async with both() as (broker, manager):
            broker.send(Farewell(why="x" * 100_000))
            reading = asyncio.create_task(manager.receive())
            await broker.flush(5)
            broker.close()
            return [await reading, await manager.receive()]

    first, second = asyncio.run(send())

    assert isinstance(first, Farewell)
    assert second is None
