"""Messages of `fleet` in, one JSON line each over a socket pair; the other side's messages out, until its end."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import Any, Final, Generic, Self, TypeVar

import msgspec

from junkai.fleet import LINE_BYTES_MAX, Heartbeat, encode

Incoming = TypeVar("Incoming")

#: What waits for a side that does not read, bytes; heartbeats may take half of it, so that a farewell finds room.
UNSENT_BYTES_MAX: Final = 1 << 18


class Pipe(Generic[Incoming]):
    """One end of a socket pair, on the running event loop. The socket is the pipe's from then on."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, incoming: Any) -> None:
        self._reader = reader
        self._writer = writer
        self._decoder: msgspec.json.Decoder[Incoming] = msgspec.json.Decoder(incoming)
        self._is_ended = False

    @classmethod
    async def opened(cls, end: socket.socket, incoming: Any) -> Self:
        """The pipe over `end`, whose other side sends messages of the type `incoming` (a union of tagged structs)."""
        reader, writer = await asyncio.open_connection(sock=end, limit=LINE_BYTES_MAX)
        writer.transport.set_write_buffer_limits(high=0)  # so that `flush` waits for all of it
        return cls(reader, writer, incoming)

    def send(self, message: msgspec.Struct) -> None:
        """Queue a message. Never waits and never fails: where the other side does not read, heartbeats are dropped
        first; where it is gone, all are."""
        transport = self._writer.transport
        line = encode(message)
        room = UNSENT_BYTES_MAX // 2 if isinstance(message, Heartbeat) else UNSENT_BYTES_MAX
        if not transport.is_closing() and transport.get_write_buffer_size() + len(line) <= room:
            self._writer.write(line)

    async def receive(self) -> Incoming | None:
        """The next message; None once the other side is gone, or has sent what is no message. May be cancelled."""
        if self._is_ended:
            return None
        try:
            line = await self._reader.readline()
            if line.endswith(b"\n"):  # else the end of file, or half a line of a process that was killed
                return self._decoder.decode(line)
        except (OSError, ValueError, msgspec.MsgspecError):  # ValueError: a line over LINE_BYTES_MAX
            pass
        self._is_ended = True
        return None

    async def flush(self, seconds_max: float) -> None:
        """Wait until the system has taken what was sent, or the other side is gone, or that much time has passed."""
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(seconds_max):
                await self._writer.drain()

    def close(self) -> None:
        """Close the socket; what was not flushed is dropped. Idempotent."""
        self._is_ended = True
        self._writer.transport.abort()
