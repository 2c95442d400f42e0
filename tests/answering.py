"""A snapshot in; a status port on loopback that tells it, and nothing more of a manager, out."""

from __future__ import annotations

import asyncio
import socket
import threading
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Self

from junkai.fleet import Backlog, BrokerRow, Heartbeat, Phase, Snapshot, Work
from junkai.status_port import StatusPort

AT = datetime(2026, 11, 27, 13, 48, tzinfo=UTC)


def broker(number: int, *, silent_s: float = 0.2, phase: Phase = Phase.SLEEPING) -> BrokerRow:
    """A broker that does well, unless it is silent."""
    return BrokerRow(
        name=f"broker {number}",
        pid=4_000 + number,
        version="1.2",
        started_at=AT - timedelta(hours=2),
        heartbeat=Heartbeat(phase=phase, in_turn=17, memory_bytes=58_000_000),
        silent_s=silent_s,
        visits_a_minute=602.0,
    )


def snapshot(*brokers: BrokerRow, wanted: int = 2, **facts: object) -> Snapshot:
    """A system of two brokers that has run for two hours."""
    plain: dict[str, object] = {
        "at": AT,
        "pid": 4_000,
        "version": "1.2",
        "started_at": AT - timedelta(hours=2),
        "store": "sqlite:///junkai.db",
        "page": "http://127.0.0.1:8420/",
        "brokers_wanted": wanted,
        "brokers": brokers,
        "work": Work(visits=2_000, failed=50, entries_new=1_234),
    }
    return Snapshot(**(plain | facts))  # type: ignore[arg-type]  # a test says which of its fields it wants


class Answering:
    """The status port of a manager that says `told`, in a thread; its number is `port`."""

    def __init__(self, told: Snapshot, backlog: Backlog | None = None) -> None:
        self._told = told
        self._backlog = backlog
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._is_listening = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))
        self.port: int = self._listener.getsockname()[1]

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._is_listening.wait(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._is_over.set)
        self._thread.join(10)

    async def _serve(self) -> None:
        self._loop, self._is_over = asyncio.get_running_loop(), asyncio.Event()
        port = StatusPort(lambda: self._told, self._look)
        await port.serve(self._listener)
        self._is_listening.set()
        await self._is_over.wait()
        await port.close()

    async def _look(self) -> Backlog | None:
        return self._backlog
