"""Bytes in, bytes out on loopback sockets: a server that says exactly what a test tells it to, well-formed or not."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Final, Self

HEAD_BYTES_MAX: Final = 1 << 20

#: What answers one request: its head in, writes as it likes. When it returns False the connection is closed.
Handler = Callable[[bytes, asyncio.StreamWriter], Awaitable[bool]]


class RawServer:
    """Serves one handler, and remembers every request head and connection. An async context manager."""

    def __init__(
        self,
        answer: bytes | Handler,
        *,
        address: str = "127.0.0.1",
        keeps_open: bool = False,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._answer = answer
        self._address = address
        self._keeps_open = keeps_open
        self._tls = tls
        self.heads: list[bytes] = []
        self.connections = 0
        self.closed = asyncio.Event()  #: the client has closed a connection
        self.asked = asyncio.Event()  #: a request has come
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, self._address, 0, limit=HEAD_BYTES_MAX, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    @property
    def host(self) -> str:
        """Its host key."""
        literal = f"[{self._address}]" if ":" in self._address else self._address
        return f"{literal}:{self.port}"

    def answer_with(self, answer: bytes | Handler) -> None:
        """Say this from now on."""
        self._answer = answer

    def url(self, path: str = "/feed.xml") -> str:
        """A URL of it."""
        return f"http{'s' if self._tls else ''}://{self.host}{path}"

    def field(self, name: bytes, number: int = -1) -> bytes | None:
        """A field of a request, byte for byte; None where it was not sent."""
        for line in self.heads[number].split(b"\r\n")[1:]:
            key, _, value = line.partition(b": ")
            if key.lower() == name.lower():
                return value
        return None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                self.heads.append(head)
                self.asked.set()
                if isinstance(self._answer, bytes):
                    writer.write(self._answer)
                    await writer.drain()
                    stays = self._keeps_open
                else:
                    stays = await self._answer(head, writer)
                if not stays:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            self.closed.set()
        except asyncio.CancelledError:  # by us; asyncio's own callback would complain
            pass
        finally:
            self._tasks.discard(task)
            writer.close()


def ok(body: bytes, *fields: bytes, length: bool = True) -> bytes:
    """A 200 with these field lines."""
    lines = [b"HTTP/1.1 200 OK", *fields]
    if length:
        lines.append(b"Content-Length: %d" % len(body))
    return b"\r\n".join([*lines, b"", b""]) + body


def redirect(to: str, status: int = 302) -> bytes:
    """A redirect without a body."""
    return f"HTTP/1.1 {status} Moved\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n".encode()
