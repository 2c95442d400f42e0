"""Lines of words in (`status`, `brokers`, `feeds due`), as a person on telnet or a script writes them; answers out.

Each answer ends with an empty line, so that a script knows where it ends; lines end as those of the question do.
"""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime
from typing import Final

import msgspec

from junkai import wording
from junkai.clock import monotonic
from junkai.fleet import LINE_BYTES_MAX, Backlog, BrokerRow, Snapshot, encode
from junkai.terminal import safe, safe_json

CONNECTIONS_MAX: Final = 32
COMMAND_BYTES_MAX: Final = 1_000
IDLE_SECONDS_MAX: Final = 300.0
#: Who does not read its answer for so long is let go.
WRITE_SECONDS_MAX: Final = 10.0

#: A browser, whatever the method: a page in it may be anybody's, and must neither ask nor learn anything here. Methods
#: are any token (RFC 9110 §9.1), so that a page can write `status / HTTP/1.1`.
_HTTP: Final = re.compile(rb"\S+ .*HTTP/\d|(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|CONNECT|TRACE|PRI) ", re.IGNORECASE)
_NO_PAGE: Final = (
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"
    b"This is Junkai's status port, for telnet; `status` there tells the page's address.\n"
)
_BROKER_COLUMNS: Final = ("Broker", "Pid", "Does", "In turn", "Visits", "Memory", "Version", "Started")
_HELP: Final = (
    ("status", "whether it runs, and how fast"),
    ("brokers", "each broker, and what it does"),
    ("feeds due", "what is due, and what it waits for"),
    ("json", "all that the manager knows, as one line"),
    ("help", "these words"),
    ("quit", "end the connection"),
)


class _RefusedError(Exception):
    """A line that ends the connection."""

    def __init__(self, last_words: bytes) -> None:
        super().__init__(last_words)
        self.last_words = last_words


class StatusPort:
    """Answers on a listening socket from what the manager knows."""

    def __init__(self, snapshot: Callable[[], Snapshot], backlog: Callable[[], Awaitable[Backlog | None]]) -> None:
        """`backlog` looks at what is due; None where no broker answers it."""
        self._snapshot = snapshot
        self._backlog = backlog
        self._server: asyncio.Server | None = None
        self._conversations: set[asyncio.Task[None]] = set()

    async def serve(self, listener: socket.socket) -> None:
        """Begin to answer; returns at once. The socket is the port's from then on."""
        self._server = await asyncio.start_server(self._connected, sock=listener, limit=COMMAND_BYTES_MAX)

    async def close(self) -> None:
        """Stop listening and end all connections, whatever they wait for. Idempotent."""
        if self._server is not None:
            self._server.close()
        for conversation in self._conversations:
            conversation.cancel()
        await asyncio.gather(*self._conversations, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._conversations) >= CONNECTIONS_MAX:
            writer.write(f"The status port is full: {CONNECTIONS_MAX} connections are open.\r\n\r\n".encode())
            writer.close()
            return
        writer.transport.set_write_buffer_limits(high=0)  # so that `drain` waits until all is on its way
        conversation = asyncio.create_task(self._converse(reader, writer))
        self._conversations.add(conversation)
        conversation.add_done_callback(self._conversations.discard)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (line := await _next_line(reader)) and line.lower().split() != [b"quit"]:
                await _say(writer, await self._answer(line))
            writer.close()
        except _RefusedError as refused:
            writer.write(refused.last_words)
            writer.close()
        except (OSError, TimeoutError):
            pass
        finally:
            if not writer.is_closing():  # it broke, nobody reads, or the port is closed
                writer.transport.abort()

    async def _answer(self, line: bytes) -> bytes:
        """What a line asks for, with an empty line after it."""
        words = line.decode("utf-8", "replace")
        match words.lower().split():
            case []:
                return b""
            case ["json"]:
                return safe_json(encode(self._snapshot())) + b"\n"
            case ["status"]:
                lines = _status(self._snapshot())
            case ["brokers"]:
                lines = _brokers(self._snapshot())
            case ["feeds", "due"]:
                lines = _due(await self._backlog())
            case ["help"]:
                lines = _aligned(_HELP)
            case _:
                lines = [f"Unknown: {safe(words)[:80]}; `help` lists what can be asked."]
        end = "\r\n" if line.endswith(b"\r\n") else "\n"
        return "".join(f"{line}{end}" for line in (*lines, "")).encode()


async def _next_line(reader: asyncio.StreamReader) -> bytes:
    """The next line; b"" at the end. Raises _RefusedError, OSError, and TimeoutError where none comes."""
    async with asyncio.timeout(IDLE_SECONDS_MAX):
        try:
            line = await reader.readline()
        except ValueError:
            raise _RefusedError(f"A line has at most {COMMAND_BYTES_MAX:,} bytes.\n\n".encode()) from None
    if _HTTP.match(line):
        raise _RefusedError(_NO_PAGE)
    return line


async def _say(writer: asyncio.StreamWriter, answer: bytes) -> None:
    """Raises OSError, and TimeoutError where nobody reads it."""
    async with asyncio.timeout(WRITE_SECONDS_MAX):
        writer.write(answer)
        await writer.drain()


# ── answers ──────────────────────────────────────────────────────────────────────────────────────────────────────


def sentence(snapshot: Snapshot) -> str:
    """Whether the system runs, as its manager alone can tell."""
    standing = wording.fleet_standing(snapshot)
    if standing is not None:
        return f"{standing.word}. {standing.sentence}"
    heard = wording.heard_of(snapshot)
    number = f"{heard} of {snapshot.brokers_wanted}" if heard < snapshot.brokers_wanted else f"{heard}"
    brokers = "broker" if number == "1" else "brokers"
    return f"Running: {number} {brokers}, {_a_minute(snapshot)} visits a minute."


def facts(snapshot: Snapshot) -> list[tuple[str, str]]:
    """What the manager knows, in words: name and value, safe to show; what there is nothing to say of is left out."""
    work = snapshot.work
    failed = f"{wording.count(work.failed)}, {100 * work.failed / work.visits:.1f} %" if work.failed else "none"
    killed = f", {wording.count(snapshot.killed)} of them killed: overdue, or silent" if snapshot.killed else ""
    up_s = (snapshot.at - snapshot.started_at).total_seconds()
    named = (
        ("Brokers", f"{wording.heard_of(snapshot)} of {snapshot.brokers_wanted}"),
        ("Visits", f"{wording.count(work.visits)}, {_a_minute(snapshot)} a minute"),
        ("New entries", wording.count(work.entries_new)),
        ("Failed", failed),
        ("Lost", f"{wording.count(work.lost)}, to be made again" if work.lost else "none"),
        ("Restarts", f"{wording.count(snapshot.restarts)}{killed}" if snapshot.restarts else "none"),
        ("Up", f"{wording.span(up_s)}, since {wording.clock(snapshot.started_at, snapshot.at)}"),
        ("Version", snapshot.version),
        ("Page", snapshot.page),
        ("Trouble", snapshot.trouble),
    )
    return [(name, safe(value)) for name, value in named if value]


def _broker(row: BrokerRow, now: datetime) -> tuple[str, ...]:
    """A broker under _BROKER_COLUMNS, safe to show."""
    return (
        safe(row.name),
        str(row.pid),
        wording.broker_doing(row),
        wording.hosts(row.heartbeat.in_turn),
        f"{wording.rate(row.visits_a_minute)} a minute",
        wording.size(row.heartbeat.memory_bytes),
        safe(row.version),
        wording.relative(row.started_at, now),
    )


def _a_minute(snapshot: Snapshot) -> str:
    return wording.rate(sum(row.visits_a_minute for row in snapshot.brokers))


def _status(snapshot: Snapshot) -> list[str]:
    return [sentence(snapshot), *_aligned(facts(snapshot))]


def _brokers(snapshot: Snapshot) -> list[str]:
    if not snapshot.brokers:
        return ["No broker runs."]
    return _aligned([_BROKER_COLUMNS, *(_broker(row, snapshot.at) for row in snapshot.brokers)])


def _due(backlog: Backlog | None) -> list[str]:
    if backlog is None:
        return ["What is due is not known: no broker answers. `junkai status` asks the store itself."]
    due = backlog.free + backlog.turn
    more = " or more" if backlog.is_capped else ""
    longest_s, free_s = (
        None if since is None else max((backlog.at - since).total_seconds(), 0.0)
        for since in (backlog.oldest_due_at, backlog.oldest_free_at)
    )
    free = wording.count(backlog.free) + ("" if free_s is None else f", one for {wording.span(free_s)}")
    return [
        f"{wording.feeds(due)}{more} {'is' if due == 1 else 'are'} due." if due else "Nothing is due.",
        *_aligned(
            (
                ("Wait for a broker", free),
                ("Wait for their host's turn", wording.count(backlog.turn)),
                ("Longest wait of these", wording.span(longest_s)),
                ("On held hosts, not counted", wording.count(backlog.held)),
            )
        ),
    ]


def _aligned(rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Columns, two spaces apart."""
    cells = [*rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in cells]


# ── asking ───────────────────────────────────────────────────────────────────────────────────────────────────────


def ask(port: int, *, timeout_s: float = 2.0) -> Snapshot | None:
    """The snapshot of the manager whose status port that is, on loopback; None where nothing answers in time, or
    something else does. Blocks, for `timeout_s` seconds at most."""
    line, until_s = bytearray(), monotonic() + timeout_s
    try:
        with socket.create_connection(("127.0.0.1", port), timeout_s) as connection:
            connection.sendall(b"json\n")
            while not line.endswith(b"\n"):  # the answer's one line, and the empty one after it
                left_s = until_s - monotonic()
                if left_s <= 0 or len(line) > LINE_BYTES_MAX:
                    return None
                connection.settimeout(left_s)
                received = connection.recv(65_536)
                if not received:
                    return None
                line += received
        return msgspec.json.decode(line, type=Snapshot)
    except (OSError, RecursionError, msgspec.DecodeError):
        return None
