"""Who is answered, and with which safety headers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from junkai.web import guard

HOST = (b"host", b"127.0.0.1:8420")


async def never() -> Any:
    raise AssertionError("nothing is received")


async def application(scope: Any, _receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"x-method", scope["method"].encode())]})
    await send({"type": "http.response.body", "body": b"a page"})


def answer(
    method: str = "GET", *fields: tuple[bytes, bytes], path: bytes = b"/"
) -> tuple[int, dict[bytes, bytes], bytes]:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": method, "raw_path": path, "query_string": b"", "headers": list(fields)}
    asyncio.run(guard.Guard(application)(scope, never, send))
    return sent[0]["status"], dict(sent[0]["headers"]), sent[1]["body"]


@pytest.mark.parametrize(
    "host",
    ["localhost", "LocalHost:8420", "127.0.0.1", "127.0.0.1:1", "127.77.0.3:65535", "[::1]", "[::1]:8420"],
)
def test_the_names_of_this_machine_are_answered(host: str) -> None:
    assert guard.is_loopback(host)


@pytest.mark.parametrize(
    "host",
    [
        "", "evil.example", "evil.example:8420", "localhost.evil.example", "127.0.0.1.evil.example", "127.1", "2130706433",
        "0.0.0.0", "192.168.1.2", "[::]", "[::ffff:192.0.2.1]", "::1", "localhost:", "localhost:8420:1", "localhost:port",
        "127.0.0.1@evil.example", "127.0.0.1/", "127.0.0.1:8420 ", "localhost\x00", "127.0.0.１", "[::1", "127.0.0.1:123456",
    ],
)  # fmt: skip
def test_any_other_name_is_not(host: str) -> None:
    assert not guard.is_loopback(host)


def test_a_foreign_host_is_told_so_in_a_sentence() -> None:
    status, fields, body = answer("GET", (b"host", b"evil.example"))

    assert 421 == status
    assert body.startswith(b"This page answers only under the names of this machine")
    assert b"no-store" == fields[b"cache-control"]


@pytest.mark.parametrize("hosts", [(), (HOST, HOST), (HOST, (b"host", b"evil.example"))])
def test_none_or_two_hosts_are_refused(hosts: tuple[tuple[bytes, bytes], ...]) -> None:
    assert 421 == answer("GET", *hosts)[0]


@pytest.mark.parametrize(
    "name",
    [
        b"forwarded",
        b"x-forwarded-for",
        b"x-forwarded-host",
        b"x-forwarded-proto",
        b"x-real-ip",
        b"via",
        b"cf-connecting-ip",
    ],
)
def test_what_came_through_a_proxy_is_refused(name: bytes) -> None:
    status, _, body = answer("GET", HOST, (name, b"192.0.2.1"))

    assert 403 == status
    assert name in body


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "get"])
def test_nothing_can_be_done_but_read(method: str) -> None:
    status, fields, _ = answer(method, HOST)

    assert (405, b"GET, HEAD") == (status, fields[b"allow"])


def test_head_asks_the_page_as_get_does() -> None:
    status, fields, _ = answer("HEAD", HOST)

    assert (200, b"GET") == (status, fields[b"x-method"])


def test_an_endless_address_is_refused() -> None:
    assert 414 == answer("GET", HOST, path=b"/" + b"a" * 5_000)[0]


@pytest.mark.parametrize("fields", [(HOST,), ((b"host", b"evil.example"),)])
def test_every_answer_has_the_safety_headers(fields: tuple[tuple[bytes, bytes], ...]) -> None:
    _, received, _ = answer("GET", *fields)

    assert dict(guard.SAFETY_FIELDS).items() <= received.items()
    policy = received[b"content-security-policy"].decode()
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert "http" not in policy


def test_a_websocket_is_closed_at_once() -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(guard.Guard(application)({"type": "websocket"}, never, send))

    assert [{"type": "websocket.close", "code": 1008}] == sent
