"""One request against sockets that say anything: what the client accepts, refuses and ends."""

from __future__ import annotations

import asyncio
import gzip
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from integration.fetch.raw_server import RawServer, ok
from junkai import url as urls
from junkai.config import Settings
from junkai.errors import FailureKind, FetchError
from junkai.fetch import client as client_module
from junkai.fetch.client import Client, ConnectError
from junkai.fetch.message import Request, Response
from junkai.fetch.watch import SelectorWatch

Answer = TypeVar("Answer")

BODY = b"<rss version='2.0'></rss>"
FIELDS = (("User-Agent", "junkai/test"), ("Accept-Encoding", "gzip"))


def run(job: Callable[[], Awaitable[Answer]]) -> Answer:
    async def limited() -> Answer:
        return await asyncio.wait_for(job(), 20)

    return asyncio.run(limited())


def request_for(url: str, **other: Any) -> Request:
    parsed = urls.parse(url)
    values: dict[str, Any] = {
        "url": parsed,
        "fields": FIELDS,
        "address": parsed.hostname.strip("[]"),
        "deadline_s": 5.0,
        "connect_s": 5.0,
        "body_bytes_max": 1 << 20,
    }
    return Request(**(values | other))


def get(answer: Any, *, path: str = "/feed.xml", settings: Settings | None = None, **other: Any) -> Response:
    async def job() -> Response:
        async with RawServer(answer) as server, Client(settings or Settings()) as client:
            return await client.get(request_for(server.url(path), **other))

    return run(job)


def failure_of(answer: Any, **other: Any) -> FailureKind:
    with pytest.raises(FetchError) as caught:
        get(answer, **other)
    return caught.value.kind


# ── what is odd but readable ─────────────────────────────────────────────────────────────────────────────────────

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(ok(BODY), id="plain"),
        pytest.param(ok(BODY).replace(b"\r\n", b"\n"), id="bare LF"),
        pytest.param(ok(BODY, length=False), id="close-delimited"),
        pytest.param(b"HTTP/1.0 200 OK\r\n\r\n" + BODY, id="HTTP 1.0"),
        pytest.param(b"HTTP/1.1 200\r\n\r\n" + BODY, id="no reason phrase"),
        pytest.param(b"http/1.1 200 ok\r\ncontent-length: %d\r\n\r\n" % len(BODY) + BODY, id="lower case"),
        pytest.param(ok(BODY, b"Bad Name: x", b": y"), id="bad names"),
        pytest.param(ok(BODY, b"X-Long: a", b"   folded"), id="obs-fold"),
        pytest.param(ok(BODY, b"X: \x1b[31m"), id="control character"),
        pytest.param(ok(BODY, b"Content-Length: %d" % len(BODY)), id="Content-Length twice"),
        pytest.param(b"HTTP/1.1 103 Early Hints\r\nETag: early\r\n\r\n" + ok(BODY), id="1xx first"),
        pytest.param(CHUNKED + b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY), id="chunked"),
        pytest.param(CHUNKED + b"%x\n%s\n0\n\n" % (len(BODY), BODY), id="chunked with LF"),
        pytest.param(CHUNKED + b"%x\r\n%s\r\n0\r\nHTTP/1.1: trailer\r\n\r\n" % (len(BODY), BODY), id="trailer"),
        pytest.param(ok(BODY) + b"excess", id="more than announced"),
    ],
)
def test_an_odd_answer_is_read(answer: bytes) -> None:
    response = get(answer)

    assert (200, BODY, len(BODY)) == (response.status, response.body, response.bytes_received)


def test_what_is_odd_is_flagged() -> None:
    assert ("bare_lf",) == get(ok(BODY).replace(b"\r\n", b"\n")).flags
    assert ("bad_header_line",) == get(ok(BODY, b"Bad Name: x")).flags
    assert ("coding_unlabelled",) == get(ok(gzip.compress(BODY))).flags
    assert () == get(ok(BODY)).flags


def test_only_the_final_answers_fields_count() -> None:
    response = get(b'HTTP/1.1 103 Early Hints\r\nETag: "early"\r\n\r\n' + ok(BODY, b"Last-Modified: whenever"))

    assert (None, "whenever") == (response.fields.get("etag"), response.fields.get("last-modified"))


def test_field_values_keep_their_bytes() -> None:
    response = get(ok(BODY, b'ETag: W/"caf\xe9 \xff"  '))

    assert 'W/"caf\xe9 \xff"' == response.fields.get("ETag")


# ── what is cut short, broken or not HTTP ────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        pytest.param(FailureKind.INCOMPLETE, ok(BODY)[:-3], id="Content-Length too great"),
        pytest.param(FailureKind.INCOMPLETE, CHUNKED + b"2\r\nhi\r\n", id="no last chunk"),
        pytest.param(FailureKind.INCOMPLETE, CHUNKED + b"9\r\nhi", id="half a chunk"),
        pytest.param(FailureKind.INCOMPLETE, b"HTTP/1.1 200 OK\r\nETag: x\r\n", id="half a header"),
        pytest.param(
            FailureKind.INCOMPLETE, ok(gzip.compress(BODY * 9)[:-20], b"Content-Encoding: gzip"), id="half a gzip"
        ),
        pytest.param(FailureKind.CONNECT, b"", id="nothing"),
        pytest.param(FailureKind.PROTOCOL, b"<rss/>", id="HTTP 0.9"),
        pytest.param(FailureKind.PROTOCOL, b"SSH-2.0-x\r\n", id="not HTTP"),
        pytest.param(FailureKind.PROTOCOL, b"HTTP/1.1 20 OK\r\n\r\n", id="status of two digits"),
        pytest.param(FailureKind.PROTOCOL, ok(BODY, b"Content-Length: 3"), id="two lengths"),
        pytest.param(FailureKind.PROTOCOL, ok(BODY, b"Content-Length: -2"), id="negative length"),
        pytest.param(FailureKind.PROTOCOL, ok(BODY, b"Transfer-Encoding: gzip, chunked"), id="transfer coding"),
        pytest.param(FailureKind.TOO_LARGE, ok(BODY, *[b"A: b"] * 201), id="201 header lines"),
        pytest.param(FailureKind.TOO_LARGE, ok(BODY, b"A: " + b"x" * 70_000), id="a long header line"),
        pytest.param(FailureKind.TOO_LARGE, b"HTTP/1.1 102 P\r\n\r\n" * 500 + ok(BODY), id="a flood of 1xx"),
        pytest.param(FailureKind.TOO_LARGE, ok(b"x" * (1 << 21)), id="a large body"),
        pytest.param(FailureKind.TOO_LARGE, ok(b"x" * (1 << 21), length=False), id="a large body without length"),
        pytest.param(
            FailureKind.TOO_LARGE, ok(gzip.compress(bytes(1 << 24)), b"Content-Encoding: gzip"), id="a gzip bomb"
        ),
    ],
)
def test_a_bad_answer_is_refused(kind: FailureKind, answer: bytes) -> None:
    assert kind == failure_of(answer)


def test_a_compressed_body_that_came_to_its_own_end_is_whole_whatever_its_length_field_says() -> None:
    packed = gzip.compress(BODY)
    response = get(ok(packed, b"Content-Encoding: gzip", b"Content-Length: 10000", length=False))

    assert (BODY, ("incomplete_body",)) == (response.body, response.flags)


def test_a_status_counts_even_where_its_body_is_cut_or_endless() -> None:
    cut = get(b"HTTP/1.1 429 Slow\r\nRetry-After: 30\r\nContent-Length: 999\r\n\r\nsorry")
    endless = get(b"HTTP/1.1 404 No\r\n\r\n" + b"x" * 3_000_000)

    assert (429, "30", b"") == (cut.status, cut.fields.get("retry-after"), cut.body)
    assert (404, b"") == (endless.status, endless.body)


# ── time ─────────────────────────────────────────────────────────────────────────────────────────────────────────


async def drip(head: bytes, writer: asyncio.StreamWriter) -> bool:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    while not writer.is_closing():
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.02)
    return False


async def drip_headers(head: bytes, writer: asyncio.StreamWriter) -> bool:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while not writer.is_closing():
        writer.write(b"A: b\r\n")
        await writer.drain()
        await asyncio.sleep(0.02)
    return False


async def silence(head: bytes, writer: asyncio.StreamWriter) -> bool:
    await asyncio.Event().wait()
    return False


@pytest.mark.parametrize("handler", [drip, drip_headers, silence])
def test_nothing_outlasts_the_deadline(handler: Any) -> None:
    assert FailureKind.DEADLINE == failure_of(handler, deadline_s=0.3, connect_s=0.3)


def test_deadlines_hold_while_other_requests_come_and_go() -> None:
    async def job() -> list[FailureKind | int]:
        async with RawServer(silence) as silent, RawServer(ok(BODY)) as server, Client(Settings()) as client:

            async def ends(deadline_s: float) -> FailureKind | int:
                try:
                    await client.get(request_for(silent.url(), deadline_s=deadline_s, connect_s=deadline_s))
                except FetchError as failure:
                    return failure.kind
                return 0

            stuck = [asyncio.create_task(ends(deadline_s)) for deadline_s in (0.5, 0.2, 0.4, 0.3)]
            while not all(task.done() for task in stuck):
                await client.get(request_for(server.url()))
            return await asyncio.gather(*stuck)

    assert [FailureKind.DEADLINE] * 4 == run(job)


def test_a_deadline_moved_out_is_not_forgotten() -> None:
    async def job() -> FailureKind:
        async with RawServer(silence) as silent, RawServer(ok(BODY)) as server, Client(Settings()) as client:
            short = request_for(silent.url(), deadline_s=0.1, connect_s=0.1)
            cancelled = asyncio.create_task(client.get(short))
            await silent.asked.wait()
            long = asyncio.create_task(client.get(request_for(silent.url(), deadline_s=0.4, connect_s=0.4)))
            await client.get(request_for(server.url()))
            cancelled.cancel()
            with pytest.raises(FetchError) as caught:
                await long
            return caught.value.kind

    assert FailureKind.DEADLINE == run(job)


# ── connections ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_connection_is_kept_within_a_turn_and_closed_after_its_last_request() -> None:
    async def job() -> tuple[int, int]:
        async with RawServer(ok(BODY), keeps_open=True) as server, Client(Settings()) as client:
            for is_last in (False, False, True):
                await client.get(request_for(server.url(), is_last=is_last))
            await server.closed.wait()
            return server.connections, len(server.heads)

    assert (1, 3) == run(job)


def test_a_kept_connection_that_the_server_closed_is_made_anew() -> None:
    async def job() -> int:
        async with RawServer(ok(BODY)) as server, Client(Settings()) as client:
            for _ in range(3):
                await client.get(request_for(server.url()))
            return server.connections

    assert 3 == run(job)


def test_a_refused_connection_says_that_nothing_was_sent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

    async def job() -> None:
        async with Client(Settings()) as client:
            await client.get(request_for(f"http://127.0.0.1:{port}/"))

    with pytest.raises(ConnectError):
        run(job)


def test_only_the_checked_address_is_connected_to() -> None:
    async def job() -> Response:
        async with RawServer(ok(BODY), address="127.0.0.9") as server, Client(Settings()) as client:
            url = f"http://rebound.example:{server.port}/"
            response = await client.get(request_for(url, address="127.0.0.9"))
            assert b"rebound.example:%d" % server.port == server.field(b"host")
            return response

    assert "127.0.0.9" == run(job).address


def test_an_ipv6_literal_is_asked() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("needs ::1")

    async def job() -> tuple[str, bytes | None]:
        async with RawServer(ok(BODY), address="::1") as server, Client(Settings()) as client:
            response = await client.get(request_for(server.url()))
            return response.address, server.field(b"host")

    address, host = run(job)

    assert "::1" == address
    assert host is not None
    assert host.startswith(b"[::1]:")


def test_a_cancelled_request_lets_go_at_once_and_harms_no_other() -> None:
    async def job() -> tuple[list[Response], int]:
        async with RawServer(silence) as silent, RawServer(ok(BODY)) as server, Client(Settings()) as client:
            stuck = [asyncio.create_task(client.get(request_for(silent.url()))) for _ in range(5)]
            while len(silent.heads) < 5:
                await asyncio.wait_for(silent.asked.wait(), 5)
                silent.asked.clear()
            answers = [asyncio.create_task(client.get(request_for(server.url()))) for _ in range(5)]
            for task in stuck:
                task.cancel()
            ended = await asyncio.gather(*stuck, return_exceptions=True)
            assert all(isinstance(each, asyncio.CancelledError) for each in ended)
            return await asyncio.gather(*answers), client.running

    responses, running = run(job)

    assert [BODY] * 5 == [response.body for response in responses]
    assert 0 == running


def test_closing_the_client_ends_what_still_runs() -> None:
    async def job() -> FailureKind:
        async with RawServer(silence) as server:
            async with Client(Settings()) as client:
                stuck = asyncio.create_task(client.get(request_for(server.url())))
                await server.asked.wait()
            with pytest.raises(FetchError) as caught:
                await stuck
            return caught.value.kind

    assert FailureKind.INTERNAL == run(job)


# ── what is sent, and what must not be ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "path",
    [
        "/a/../b/./c",
        "/%7euser/%2f%aa?x=%7e",
        "/?",
        "/a//b",
        "/x;y=1?a=/../b&c=%0a",
        "/a|b{c}^[d]?q=[1]|{}",
        "/~u/$!*()+,@:",
    ],
)
def test_a_path_is_sent_as_it_was_subscribed(path: str) -> None:
    async def job() -> bytes:
        async with RawServer(ok(BODY)) as server, Client(Settings()) as client:
            parsed = urls.parse(server.url(path))
            await client.get(request_for(parsed.verbatim))
            assert parsed.verbatim.endswith(server.heads[0].split(b" ")[1].decode())
            return server.heads[0].split(b" ")[1]

    sent = run(job).decode()

    assert urls.parse(f"http://x{path}").verbatim.removeprefix("http://x") == sent


def test_a_request_has_its_fields_byte_for_byte_and_no_others() -> None:
    async def job() -> list[bytes]:
        fields = (("User-Agent", "junkai/test"), ("If-None-Match", 'W/"caf\xe9"'), ("If-Modified-Since", "Foo, 99  x"))
        async with RawServer(ok(BODY)) as server, Client(Settings()) as client:
            await client.get(request_for(server.url("/"), fields=fields))
            return [line for line in server.heads[0].split(b"\r\n") if line and not line.startswith(b"Host: ")]

    expected = [
        b"GET / HTTP/1.1",
        b"User-Agent: junkai/test",
        b'If-None-Match: W/"caf\xe9"',
        b"If-Modified-Since: Foo, 99  x",
    ]
    assert {*expected, b"Accept: */*"} >= set(run(job)) >= set(expected)


def test_a_field_cannot_smuggle_a_line_in() -> None:
    assert FailureKind.INTERNAL == failure_of(ok(BODY), fields=(("If-None-Match", "x\r\nCookie: y"),))


def test_proxies_and_passwords_of_the_environment_are_ignored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    netrc = tmp_path / ".netrc"
    netrc.write_text("machine 127.0.0.1 login someone password secret\n")
    netrc.chmod(0o600)
    for name in ("http_proxy", "all_proxy", "ALL_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(netrc))

    async def job() -> bytes:
        async with RawServer(ok(BODY, b"Set-Cookie: a=b"), keeps_open=True) as server, Client(Settings()) as client:
            for _ in range(2):
                await client.get(request_for(server.url()))
            return b"".join(server.heads).lower()

    sent = run(job)

    assert b"authorization" not in sent
    assert b"cookie" not in sent
    assert b"referer" not in sent


def test_a_proxy_is_used_where_the_settings_name_one() -> None:
    async def job() -> bytes:
        async with RawServer(ok(BODY)) as proxy:
            async with Client(Settings(proxy=proxy.url("/"))) as client:
                await client.get(request_for("http://feeds.example/%7ea?b", address=""))
            return proxy.heads[0].split(b"\r\n")[0]

    assert run(job) in (b"GET http://feeds.example/%7ea?b HTTP/1.1", b"GET http://feeds.example/%7Ea?b HTTP/1.1")


def test_the_client_works_without_epoll_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "new_watch", SelectorWatch)

    assert get(ok(BODY)).body == BODY
