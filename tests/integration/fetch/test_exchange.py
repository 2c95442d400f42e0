"""One visit: redirects, spacing, the guard on every hop, and one deadline over it all."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest

from integration.fetch.dns_server import SERVFAIL, DnsServer
from integration.fetch.raw_server import RawServer, ok, redirect
from junkai.clock import utc_now
from junkai.config import Settings
from junkai.errors import FailureKind, SettingsError
from junkai.fetch import Exchange, Fetcher, Resolver
from junkai.model import Hop, TurnSource, Validators

Answer = TypeVar("Answer")
BODY = b"<rss/>"
LOOPBACK: dict[str, Any] = {"allow_networks": ("127.0.0.0/8",), "nameservers": ("127.0.0.1",)}


class Turn:
    """A Pacing that lets so many requests start, and remembers them."""

    def __init__(self, requests_max: int = 100) -> None:
        self.left = requests_max
        self.log: list[str] = []

    async def before_request(self, host: str) -> bool:
        self.left -= 1
        if self.left < 0:
            return False
        self.log.append(host.partition(":")[0])
        return True

    def after_request(self) -> None:
        self.log.append("after")


def run(job: Callable[[], Awaitable[Answer]]) -> Answer:
    async def limited() -> Answer:
        return await asyncio.wait_for(job(), 20)

    return asyncio.run(limited())


def paths(answers: Mapping[str, bytes], otherwise: bytes = ok(BODY)) -> Any:
    """A handler that answers by path."""

    async def answer(head: bytes, writer: asyncio.StreamWriter) -> bool:
        writer.write(answers.get(head.split(b" ")[1].decode(), otherwise))
        await writer.drain()
        return True

    return answer


async def visit(
    url: str, host: str, *, pacing: Turn | None = None, dns_port: int = 1, is_last: bool = True, **other: Any
) -> Exchange | None:
    """One exchange with a fetcher of its own; keywords beyond TurnSource's are settings."""
    of_source = {name: other.pop(name) for name in list(other) if name in TurnSource.__struct_fields__}
    settings = Settings(**(LOOPBACK | other))
    resolver = Resolver(settings, port=dns_port, hosts_file=Path("/nonexistent"))
    async with Fetcher(settings, now=utc_now, resolver=resolver) as fetcher:
        source = TurnSource(source_id=1, url=url, **of_source)
        return await fetcher.exchange(source, host=host, pacing=pacing or Turn(), is_last=is_last)


def visited(answer: Any, path: str = "/feed.xml", **other: Any) -> tuple[Exchange, RawServer]:
    """One exchange with one server."""

    async def job() -> tuple[Exchange | None, RawServer]:
        async with RawServer(answer, keeps_open=True) as server:
            return await visit(server.url(path), server.host, **other), server

    exchange, server = run(job)
    assert exchange is not None
    return exchange, server


def kind_of(exchange: Exchange | None) -> FailureKind | None:
    assert exchange is not None
    return exchange.failure.kind if exchange.failure else None


# ── what is sent ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_first_visit_is_one_request_without_conditions() -> None:
    exchange, server = visited(ok(BODY), subscribers=7, contact_url="https://op.example/bot")

    assert exchange.response is not None
    assert (200, BODY, 1, len(BODY)) == (
        exchange.response.status,
        exchange.response.body,
        exchange.requests,
        exchange.bytes_received,
    )
    assert 1 == len(server.heads)
    assert {b"Host", b"User-Agent", b"Accept", b"Accept-Encoding"} == {
        line.partition(b":")[0] for line in server.heads[0].split(b"\r\n")[1:] if line
    }
    agent = server.field(b"user-agent")
    assert agent is not None
    assert agent.startswith(b"junkai/")
    assert agent.endswith(b" (+https://op.example/bot; 7 subscribers)")
    assert b"gzip, deflate, br, zstd" == server.field(b"accept-encoding")


def test_validators_go_out_byte_for_byte_and_only_to_their_own_url() -> None:
    async def job() -> list[bytes | None]:
        async with RawServer(paths({"/old": redirect("/new")}), keeps_open=True) as server:
            held = Validators(url=server.url("/new"), etag='W/"caf\xe9"', last_modified="Someday, 1 Foo")
            await visit(server.url("/old"), server.host, validators=held)
            return [server.field(name, n) for n in (0, 1) for name in (b"if-none-match", b"if-modified-since")]

    assert [None, None, b'W/"caf\xe9"', b"Someday, 1 Foo"] == run(job)


def test_a_304_is_an_answer_and_ends_the_visit() -> None:
    exchange, server = visited(b'HTTP/1.1 304 Not Modified\r\nETag: "b"\r\n\r\n')

    assert exchange.response is not None
    assert (304, '"b"', b"", 1) == (
        exchange.status,
        exchange.response.fields.get("etag"),
        exchange.response.body,
        len(server.heads),
    )


def test_a_contact_url_with_a_line_break_is_a_settings_error() -> None:
    with pytest.raises(SettingsError):
        Fetcher(Settings(contact_url="https://x/\r\nCookie: a"), now=utc_now)


# ── redirects ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_redirects_at_the_same_host_are_followed_and_spaced() -> None:
    pacing = Turn()
    answers = {"/a": redirect("b", 301), "/b": redirect("/c?x#fragment", 308)}
    exchange, server = visited(paths(answers), "/a", pacing=pacing, is_last=False)

    assert [(server.url("/a"), 301, True), (server.url("/b"), 308, True)] == [
        (hop.url, hop.status, hop.is_permanent) for hop in exchange.hops
    ]
    assert (server.url("/c?x"), 3, 1) == (exchange.url, exchange.requests, server.connections)
    assert ["127.0.0.1", "after"] * 3 == pacing.log


def test_a_redirect_to_a_sibling_host_is_not_followed_because_that_host_may_be_in_a_turn_of_its_own() -> None:
    pacing = Turn()

    async def job() -> Exchange | None:
        zone = {"a.site.example": ["127.0.0.1"], "b.site.example": ["127.0.0.1"]}
        async with RawServer(ok(BODY), keeps_open=True) as server, DnsServer(zone) as dns:
            server.answer_with(paths({"/a": redirect(f"http://b.site.example:{server.port}/b")}))
            url = f"http://a.site.example:{server.port}/a"
            return await visit(url, f"a.site.example:{server.port}", pacing=pacing, dns_port=dns.port)

    exchange = run(job)

    assert exchange is not None
    assert exchange.redirected_to is not None
    assert exchange.redirected_to.startswith("http://b.site.example")
    assert ["a.site.example", "after"] == pacing.log


def test_a_redirect_to_another_host_ends_the_visit() -> None:
    exchange, server = visited(redirect("http://127.0.0.2:9/x#y", 301))

    assert ("http://127.0.0.2:9/x", 301, 1) == (exchange.redirected_to, exchange.status, exchange.requests)
    assert (Hop(url=server.url(), status=301, to="http://127.0.0.2:9/x"),) == exchange.hops
    assert exchange.response is None


def test_a_hop_that_the_turn_has_no_time_for_waits_for_the_next_turn() -> None:
    exchange, server = visited(paths({"/a": redirect("/b")}), "/a", pacing=Turn(requests_max=1))

    assert (server.url("/b"), 302, 1) == (exchange.redirected_to, exchange.status, len(server.heads))


def test_a_turn_that_is_over_sends_nothing() -> None:
    async def job() -> tuple[Exchange | None, int]:
        async with RawServer(ok(BODY)) as server:
            return await visit(server.url(), server.host, pacing=Turn(requests_max=0)), server.connections

    assert (None, 0) == run(job)


@pytest.mark.parametrize(
    "location",
    ["///{host}/b", "/b", "b", "?x", "//{host}/b", "\\b", "http:/b", "http:b", " /b\t", "/caf\u00e9"],
)
def test_a_location_is_resolved_as_browsers_do(location: str) -> None:
    async def job() -> Exchange | None:
        async with RawServer(ok(BODY), keeps_open=True) as server:
            server.answer_with(paths({"/a": redirect(location.format(host=server.host))}))
            return await visit(server.url("/a"), server.host)

    exchange = run(job)

    assert exchange is not None
    assert exchange.response is not None
    assert "/caf%C3%A9" in exchange.url or not location.startswith("/c")


@pytest.mark.parametrize(
    ("answers", "status"),
    [
        ({"/a": redirect("/a")}, 302),
        ({"/a": redirect("/b", 301), "/b": redirect("/a", 307)}, 307),
        ({"/a": redirect("")}, 302),
        ({"/a": b"HTTP/1.1 303 See\r\nContent-Length: 0\r\n\r\n"}, 303),
        ({"/a": redirect("http://[bad/")}, 302),
        ({"/a": redirect("file:///etc/passwd")}, 302),
        ({"/a": redirect("gopher://127.0.0.1/")}, 302),
        ({"/a": redirect("http://me:secret@127.0.0.1/")}, 302),
        ({f"/{'a' * n}": redirect(f"/{'a' * (n + 1)}") for n in range(1, 30)}, 302),
    ],
    ids=["self", "circle", "empty", "none", "no URL", "file", "gopher", "password", "endless"],
)
def test_a_redirect_that_leads_nowhere_is_a_failure_with_its_status(answers: dict[str, bytes], status: int) -> None:
    exchange, server = visited(paths(answers), "/a")

    assert (FailureKind.REDIRECTS, status) == (kind_of(exchange), exchange.status)
    assert len(server.heads) <= 11


def test_hops_of_earlier_turns_count_and_make_loops() -> None:
    earlier = tuple(Hop(url=f"http://x{n}.example/", status=302, to="…") for n in range(10))
    exchange, server = visited(paths({"/a": redirect("/b")}), "/a", hops=earlier)
    circle, _ = visited(redirect("http://x3.example/"), hops=earlier[:5])

    assert (FailureKind.REDIRECTS, 11, 1) == (kind_of(exchange), len(exchange.hops), len(server.heads))
    assert FailureKind.REDIRECTS == kind_of(circle)


@pytest.mark.parametrize(
    "target",
    ["http://169.254.169.254/latest", "http://10.0.0.1/", "http://[::1]/", "http://0x0a.1/", "http://bad.example/"],
)
def test_the_guard_looks_at_every_hop(target: str) -> None:
    exchange, _ = visited(redirect(target), block=("bad.example",))

    assert (FailureKind.BLOCKED, 302) == (kind_of(exchange), exchange.status)


# ── addresses ────────────────────────────────────────────────────────────────────────────────────────────────────


def resolved(zone: Mapping[str, Sequence[str] | int], **other: Any) -> tuple[Exchange | None, int]:
    """One exchange with `a.example`; with the number of connections that came."""

    async def job() -> tuple[Exchange | None, int]:
        async with RawServer(ok(BODY), address="127.0.0.3") as server, DnsServer(zone) as dns:
            host = f"a.example:{server.port}"
            exchange = await visit(f"http://{host}/", host, dns_port=dns.port, **other)
            return exchange, server.connections

    return run(job)


def test_a_name_at_a_private_address_is_blocked_and_not_connected_to() -> None:
    exchange, connections = resolved({"a.example": ["127.0.0.3"]}, allow_networks=("10.0.0.0/8",))

    assert exchange is not None
    assert (FailureKind.BLOCKED, 0, 0) == (kind_of(exchange), connections, exchange.requests)


def test_the_next_checked_address_is_tried_where_one_fails() -> None:
    exchange, connections = resolved({"a.example": ["127.0.0.2", "192.168.0.1", "127.0.0.3"]})

    assert exchange is not None
    assert exchange.response is not None
    assert ("127.0.0.3", 1) == (exchange.response.address, connections)


def test_a_resolvers_failure_is_told_from_a_name_that_does_not_exist() -> None:
    assert FailureKind.DNS_TEMPORARY == kind_of(resolved({"a.example": SERVFAIL})[0])
    assert FailureKind.DNS_UNKNOWN == kind_of(resolved({})[0])


# ── time ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_one_deadline_spans_all_hops_and_the_right_to_ask_is_given_back() -> None:
    async def never(head: bytes, writer: asyncio.StreamWriter) -> bool:
        if b" /a " in head:
            writer.write(redirect("/b"))
            return True
        await asyncio.Event().wait()
        return False

    pacing = Turn()
    exchange, _ = visited(never, "/a", pacing=pacing, fetch_deadline_seconds=0.3)

    assert (FailureKind.DEADLINE, 2) == (kind_of(exchange), exchange.requests)
    assert ["127.0.0.1", "after"] * 2 == pacing.log
    assert timedelta(0) < exchange.ended_at - exchange.started_at < timedelta(seconds=5)


def test_waiting_for_the_right_to_ask_is_not_on_the_deadline() -> None:
    class Slow(Turn):
        async def before_request(self, host: str) -> bool:
            await asyncio.sleep(0.3)
            return await super().before_request(host)

    exchange, _ = visited(ok(BODY), pacing=Slow(), fetch_deadline_seconds=0.25)

    assert exchange.response is not None


def test_a_cancelled_exchange_gives_the_right_to_ask_back() -> None:
    pacing = Turn()

    async def never(head: bytes, writer: asyncio.StreamWriter) -> bool:
        await asyncio.Event().wait()
        return False

    async def job() -> None:
        async with RawServer(never) as server:
            task = asyncio.create_task(visit(server.url(), server.host, pacing=pacing))
            await server.asked.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    run(job)

    assert ["127.0.0.1", "after"] == pacing.log


def test_moments_are_aware_utc() -> None:
    exchange, _ = visited(ok(BODY))

    assert (UTC, UTC) == (exchange.started_at.tzinfo, exchange.ended_at.tzinfo)
    assert exchange.started_at <= exchange.ended_at <= datetime.now(UTC)
