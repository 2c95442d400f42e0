"""Publishers in, an HTTP/1.1 origin on loopback addresses out, each publisher on an address of its own."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Final

from junkai.clock import utc_now
from junkai.demo.feeds import Publisher, Quirk
from junkai.demo.replies import FEED_PATH, Desk, Reply
from junkai.errors import JunkaiError

_HEAD_BYTES_MAX: Final = 16_384
_IDLE_SECONDS_MAX: Final = 30.0
_WRITE_SECONDS_MAX: Final = 60.0
_PORT_TRIES: Final = 10
_NOT_ALLOWED: Final = Reply(status=405, fields=(("Allow", "GET"),))


async def open_site(publishers: Sequence[Publisher]) -> tuple[list[asyncio.Server], list[str]]:
    """Listen for all publishers. Returns the servers, which serve while they are held, and the feeds' URLs in order.

    Raises JunkaiError when loopback addresses or ports run out.
    """
    movers = [publisher for publisher in publishers if publisher.quirk in {Quirk.MOVED_AWAY, Quirk.AWAY_FOR_NOW}]
    listeners = _listeners(len(publishers) + len(movers))
    bases = [_base(listener) for listener in listeners]
    away = {mover.number: len(publishers) + place for place, mover in enumerate(movers)}
    started_at = utc_now()
    servers = []
    for publisher, listener in zip(publishers, listeners, strict=False):
        second = away.get(publisher.number)
        desk = Desk(publisher, started_at, away=bases[second] if second is not None else "")
        servers.append(await _serve(desk, listener, is_away=False))
        if second is not None:
            servers.append(await _serve(desk, listeners[second], is_away=True))
    return servers, [base + FEED_PATH for base in bases[: len(publishers)]]


def _base(listener: socket.socket) -> str:
    address, port = listener.getsockname()
    return f"http://{address}:{port}"


def _listeners(count: int) -> list[socket.socket]:
    """That many sockets on 127.77.x.y and one port; where a system has 127.0.0.1 only, a port for each."""
    for _ in range(_PORT_TRIES):
        opened: list[socket.socket] = []
        try:
            for number in range(count):
                port = opened[0].getsockname()[1] if opened else 0
                opened.append(_listener(f"127.77.{number // 250}.{number % 250 + 1}", port))
        except OSError:  # the port is taken on one of the addresses, or there are no such addresses
            for listener in opened:
                listener.close()
            if not opened:
                break
        else:
            return opened
    try:
        return [_listener("127.0.0.1", 0) for _ in range(count)]
    except OSError as error:
        raise JunkaiError("demo site", f"cannot listen on loopback: {error}") from error


def _listener(address: str, port: int) -> socket.socket:
    listener = socket.socket()
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
    except OSError:
        listener.close()
        raise
    return listener


async def _serve(desk: Desk, listener: socket.socket, *, is_away: bool) -> asyncio.Server:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await _exchange(desk, reader, writer, is_away=is_away):
                pass
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            pass  # the client went away, is too slow, or does not speak HTTP
        except asyncio.CancelledError:
            pass  # the site ends; Python 3.11's streams would print a traceback for each open connection
        finally:
            writer.close()

    return await asyncio.start_server(serve, sock=listener, limit=_HEAD_BYTES_MAX)


async def _exchange(desk: Desk, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_away: bool) -> bool:
    """Answer one request; whether the connection is good for another. Raises ValueError for what is not HTTP."""
    async with asyncio.timeout(_IDLE_SECONDS_MAX):
        head = await reader.readuntil(b"\r\n\r\n")
    method, target, fields = _request(head)
    is_get = method == "GET"
    reply = desk.reply(target.partition("?")[0], fields, utc_now(), is_away=is_away) if is_get else _NOT_ALLOWED
    if reply.delay_seconds:
        await asyncio.sleep(reply.delay_seconds)
    is_last = not is_get or reply.length_claimed is not None or fields.get("connection", "").lower() == "close"
    writer.write(_head(reply, is_last=is_last))
    if reply.drip_seconds:
        await _drip(reply, writer)
    else:
        for _ in range(reply.repeats):
            writer.write(reply.body)
            await _drained(writer)
    return not is_last


async def _drained(writer: asyncio.StreamWriter) -> None:
    async with asyncio.timeout(_WRITE_SECONDS_MAX):
        await writer.drain()


async def _drip(reply: Reply, writer: asyncio.StreamWriter) -> None:
    for place in range(len(reply.body)):
        writer.write(reply.body[place : place + 1])
        await _drained(writer)
        await asyncio.sleep(reply.drip_seconds)


def _request(head: bytes) -> tuple[str, str, Mapping[str, str]]:
    request, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    method, target, _version = request.split(" ")
    pairs = (line.partition(":") for line in lines)
    return method, target, {name.lower(): value.strip() for name, _, value in pairs}


def _head(reply: Reply, *, is_last: bool) -> bytes:
    lines = [f"HTTP/1.1 {reply.status} {HTTPStatus(reply.status).phrase}"]
    lines += [f"{name}: {value}" for name, value in reply.fields]
    if reply.status != HTTPStatus.NOT_MODIFIED:
        length = len(reply.body) * reply.repeats if reply.length_claimed is None else reply.length_claimed
        lines.append(f"Content-Length: {length}")
    if is_last:
        lines.append("Connection: close")
    return "\r\n".join([*lines, "", ""]).encode("latin-1")
