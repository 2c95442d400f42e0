"""Scripted answers in, real HTTP/1.1 on many loopback addresses out, with a log of who asked what and when.

In a test (a thread serves; leaving the block stops it)::

    with ScriptedSite() as site:
        site.put(1, "/feed.xml", b"<rss>…", ("Content-Type", "application/rss+xml"))  # ETag and 304 by itself
        site.put(2, "/feed.xml", Answer(status=429, fields=(("Retry-After", "30"),)))
        site.put(3, "/feed.xml", [Answer(status=503), b"<rss>…"])                     # in turn; the last one stays
        url = site.url(1, "/feed.xml")                                                # http://127.5.0.1:PORT/feed.xml
        …
        assert [] == site.overlaps()

As a process of its own: `python tests/scripted_site.py --spec site.json --log asked.jsonl`; it prints one line of JSON
(host number → host:port) when it listens, and ends when its standard input does.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, cast

from asked_log import Asked, AskedLog
from scripted_answers import (
    NOT_ALLOWED,
    NOT_FOUND,
    Answer,
    Script,
    Simple,
    answering,
    asked_from,
    ends_connection,
    head_of,
    pieces_of,
)

__all__ = ["Answer", "Asked", "ScriptedSite"]

HEAD_BYTES_MAX: Final = 65_536
HOSTS_MAX: Final = 65_534


@dataclass
class _Host:
    """One address with its paths."""

    name: str
    listener: socket.socket
    paths: dict[str, Callable[[Asked], Answer]] = field(default_factory=dict)


class ScriptedSite(AskedLog):
    """Any number of loopback hosts, on one port, served by one thread. Use it as a context manager."""

    def __init__(self) -> None:
        super().__init__()
        self._hosts: dict[int, _Host] = {}
        self._port = 0
        self._lock = threading.Lock()
        self.connections: set[_Connection] = set()  #: those that are open; the serving thread's
        self._servers: list[asyncio.Server] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="scripted-site", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop)
        self._thread.join(10)
        self._loop.close()

    def _stop(self) -> None:
        for server in self._servers:
            server.close()
        for connection in tuple(self.connections):
            connection.transport.abort()
        self._loop.call_later(0.01, self._loop.stop)  # once the connections have heard that they are lost

    # ── what is served ──

    def host(self, number: int) -> str:
        """The host key (`127.5.0.1:PORT`) of host 1…65534; it listens from the first time that it is named."""
        if not 1 <= number <= HOSTS_MAX:
            raise ValueError(f"host number {number} is not in 1…{HOSTS_MAX}")
        with self._lock:
            if number not in self._hosts:
                self._hosts[number] = host = self._listening(number)
                asyncio.run_coroutine_threadsafe(self._serve(host), self._loop).result(10)
            return self._hosts[number].name

    def url(self, number: int, path: str) -> str:
        """The http:// URL of a path on that host."""
        return f"http://{self.host(number)}{path}"

    def put(self, number: int, path: str, script: Script, *fields: tuple[str, str]) -> str:
        """Serve it there from now on; the URL comes back.

        Bytes or text are a document: 200 with these fields and an ETag of its own, 304 when that is named. A list is
        answered in turn, and its last one stays. A function is called with what was asked, in the serving thread.
        """
        self.host(number)
        self._hosts[number].paths[path] = answering(script, fields)
        return self.url(number, path)

    def drop(self, number: int, path: str) -> None:
        """404 there from now on."""
        self._hosts[number].paths.pop(path, None)

    def asked_at(self, number: int, path: str | None = None) -> list[Asked]:
        """The requests to one host, or to one path of it."""
        name = self.host(number)
        return [asked for asked in self.asked if asked.host == name and path in (None, asked.path)]

    def _listening(self, number: int) -> _Host:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((f"127.5.{number >> 8}.{number & 255}", self._port))
            self._port = int(listener.getsockname()[1])
        except OSError:  # a system with 127.0.0.1 only: each host has a port of its own
            listener.bind(("127.0.0.1", 0))
        address, port = listener.getsockname()
        return _Host(f"{address}:{port}", listener)

    async def _serve(self, host: _Host) -> None:
        self._servers.append(
            await self._loop.create_server(lambda: _Connection(self, host), sock=host.listener, backlog=1024)
        )


class _Connection(asyncio.Protocol):
    """One connection: requests are answered one after the other until a side closes."""

    transport: asyncio.Transport

    def __init__(self, site: ScriptedSite, host: _Host) -> None:
        self._site = site
        self._host = host
        self._received = b""
        self._current: Asked | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._is_last = False  # close when the current answer has ended
        self._is_sent = False  # the whole of the current answer was given to the transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport; ask to hear when its buffer is empty."""
        self.transport = cast("asyncio.Transport", transport)
        self.transport.set_write_buffer_limits(high=0)
        self._site.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """An answer that has not ended is aborted."""
        self._site.connections.discard(self)
        if self._timer is not None:
            self._timer.cancel()
        if self._current is not None:
            self._site.note_ended(self._current, is_aborted=True)
            self._current = None

    def data_received(self, data: bytes) -> None:
        """Take what came; start on it unless an answer is being given."""
        self._received += data
        if self._current is None:
            self._take()

    def resume_writing(self) -> None:
        """The kernel has taken all that was written."""
        if self._is_sent:
            self._end()

    def _take(self) -> None:
        head, found, rest = self._received.partition(b"\r\n\r\n")
        if not found:
            if len(head) > HEAD_BYTES_MAX:
                self.transport.abort()
            return
        self._received = rest
        asked = asked_from(head, self._host.name)
        if asked is None:
            self.transport.abort()
            return
        self._current, self._is_sent = asked, False
        self._site.note_started(asked)
        script = self._host.paths.get(asked.path) or self._host.paths.get(asked.path.partition("?")[0])
        answer = script(asked) if script else NOT_FOUND
        if asked.method != "GET":
            answer = NOT_ALLOWED
        self._is_last = ends_connection(asked, answer)
        self._later(answer.delay_s, lambda: self._begin(asked, answer))

    def _later(self, seconds: float, step: Callable[[], None]) -> None:
        if seconds > 0:
            self._timer = asyncio.get_running_loop().call_later(seconds, step)
        else:
            step()

    def _begin(self, asked: Asked, answer: Answer) -> None:
        asked.status = answer.status
        if answer.raw is not None:
            self._pieces(iter([answer.raw]), 0.0)
            return
        head = head_of(answer, is_last=self._is_last)
        if answer.piece_bytes or answer.is_chunked or answer.cut_after_bytes is not None:
            self._pieces(itertools.chain([head], pieces_of(answer)), answer.piece_pause_s)
        else:
            self._pieces(iter([head + answer.body]), 0.0)

    def _pieces(self, pieces: Iterator[bytes], pause_s: float) -> None:
        """Write the pieces, a pause between two; without a pause, all at once."""
        piece = next(pieces, None)
        while piece is not None:
            self.transport.write(piece)
            piece = next(pieces, None)
            if piece is not None and pause_s > 0:
                self._later(pause_s, partial(self._pieces, itertools.chain([piece], pieces), pause_s))
                return
        self._is_sent = True
        if self.transport.get_write_buffer_size() == 0:
            self._end()

    def _end(self) -> None:
        if self._current is not None:
            self._site.note_ended(self._current, is_aborted=False)
            self._current = None
        if self._is_last:
            self.transport.close()
        elif self._received:
            self._take()


# ── as a process of its own ──


def _spec_answer(spec: Mapping[str, Any]) -> Simple:
    """`{"body": "text"}` is a document; with any other of Answer's names it is that answer."""
    if set(spec) == {"body"}:
        return str(spec["body"])
    fields = tuple((str(name), str(value)) for name, value in dict(spec.get("fields", {})).items())
    return Answer(**{**spec, "body": str(spec.get("body", "")).encode(), "fields": fields})


def main(arguments: Sequence[str]) -> None:
    """Serve `{"host number": {"/path": {"body": …, "status": …}}}` until standard input ends; then write the log."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spec", type=Path, required=True, help="JSON: host number → path → answer")
    parser.add_argument("--log", type=Path, help="where the requests go, a line of JSON each, when the site ends")
    options = parser.parse_args(arguments)
    with ScriptedSite() as site:
        names = {}
        for number, paths in json.loads(options.spec.read_text(encoding="utf-8")).items():
            names[number] = site.host(int(number))
            for path, spec in paths.items():
                site.put(int(number), path, _spec_answer(spec))
        sys.stdout.write(json.dumps(names) + "\n")
        sys.stdout.flush()
        sys.stdin.buffer.read()
    if options.log:
        options.log.write_text("".join(json.dumps(asdict(asked)) + "\n" for asked in site.asked), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
