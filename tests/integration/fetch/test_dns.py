"""Names against a small DNS server of our own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from integration.fetch.dns_server import SERVFAIL, DnsServer
from junkai.config import Settings
from junkai.errors import FailureKind, FetchError
from junkai.fetch.dns import Resolver

Answer = TypeVar("Answer")
LOCAL = Settings(nameservers=("127.0.0.1",))


def resolver_at(port: int, hosts_file: Path = Path("/nonexistent")) -> Resolver:
    return Resolver(LOCAL, port=port, hosts_file=hosts_file)


def run(job: Callable[[], Awaitable[Answer]]) -> Answer:
    async def limited() -> Answer:
        return await asyncio.wait_for(job(), 20)

    return asyncio.run(limited())


def test_both_families_are_asked_and_take_turns() -> None:
    zone = {"a.example": ["192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2"], "six.example": ["2001:db8::6"]}

    async def job() -> list[tuple[str, ...]]:
        async with DnsServer(zone) as server, resolver_at(server.port) as resolver:
            return [await resolver.resolve(name, 5) for name in ("a.example", "six.example", "A.example".lower() + ".")]

    mixed, six, dotted = run(job)

    assert {"192.0.2.1", "192.0.2.2"} == {mixed[0], mixed[2]}
    assert {"2001:db8::1", "2001:db8::2"} == {mixed[1], mixed[3]}
    assert ("2001:db8::6",) == six
    assert set(mixed) == set(dotted)


def test_an_answer_is_remembered_and_a_name_is_asked_once_for_all_who_wait() -> None:
    async def job() -> list[str]:
        async with DnsServer({"a.example": ["192.0.2.1"]}) as server, resolver_at(server.port) as resolver:
            await asyncio.gather(*(resolver.resolve("a.example", 5) for _ in range(20)))
            await resolver.resolve("a.example", 5)
            return server.queries

    assert ["a.example", "a.example"] == run(job)  # A and AAAA


def test_a_name_that_does_not_exist_or_has_no_address_is_unknown_and_remembered() -> None:
    async def job() -> tuple[list[FailureKind], int]:
        kinds = []
        async with DnsServer({"empty.example": []}) as server, resolver_at(server.port) as resolver:
            for name in ("none.example", "empty.example", "none.example"):
                with pytest.raises(FetchError) as caught:
                    await resolver.resolve(name, 5)
                kinds.append(caught.value.kind)
            return kinds, len(server.queries)

    assert ([FailureKind.DNS_UNKNOWN] * 3, 4) == run(job)


def test_a_server_failure_is_temporary_and_not_remembered() -> None:
    async def job() -> tuple[FailureKind, tuple[str, ...]]:
        async with DnsServer({"a.example": SERVFAIL}) as server, resolver_at(server.port) as resolver:
            with pytest.raises(FetchError) as caught:
                await resolver.resolve("a.example", 5)
            server.zone["a.example"] = ["192.0.2.1"]
            return caught.value.kind, await resolver.resolve("a.example", 5)

    assert (FailureKind.DNS_TEMPORARY, ("192.0.2.1",)) == run(job)


def test_silence_is_temporary_and_ends_by_the_deadline() -> None:
    async def job() -> FailureKind:
        async with DnsServer({}, silent=["a.example"]) as server, resolver_at(server.port) as resolver:
            with pytest.raises(FetchError) as caught:
                await resolver.resolve("a.example", 0.1)
            return caught.value.kind

    assert FailureKind.DNS_TEMPORARY == run(job)


def test_literals_and_localhost_ask_nobody() -> None:
    async def job() -> tuple[list[tuple[str, ...]], bool]:
        async with resolver_at(1) as resolver:
            names = ("192.0.2.1", "[2001:db8::1]", "localhost", "x.localhost.")
            return [await resolver.resolve(name, 5) for name in names], resolver.has_channel

    literals, has_channel = run(job)

    assert [("192.0.2.1",), ("2001:db8::1",), ("127.0.0.1", "::1"), ("127.0.0.1", "::1")] == literals
    assert not has_channel


def test_the_hosts_file_comes_first_and_is_read_again_when_it_changes(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("192.0.2.7 A.example other # comment\n2001:db8::7 a.example\n# 192.0.2.9 no.example\nbroken\n")

    async def job() -> list[tuple[str, ...]]:
        async with DnsServer({"a.example": ["192.0.2.1"]}) as server, resolver_at(server.port, hosts) as resolver:
            first = await resolver.resolve("a.example", 5)
            hosts.write_text("192.0.2.88 a.example\n")
            second = await resolver.resolve("a.example", 5)
            hosts.unlink()
            return [first, second, await resolver.resolve("a.example", 5)]

    assert [("192.0.2.7", "2001:db8::7"), ("192.0.2.88",), ("192.0.2.1",)] == run(job)


@pytest.mark.parametrize("name", ["a" * 64 + ".example", "a..example", "x" * 300])
def test_a_name_that_dns_cannot_hold_is_unknown(name: str) -> None:
    async def job() -> FailureKind:
        async with DnsServer({}) as server, resolver_at(server.port) as resolver:
            with pytest.raises(FetchError) as caught:
                await resolver.resolve(name, 5)
            return caught.value.kind

    assert FailureKind.DNS_UNKNOWN == run(job)
