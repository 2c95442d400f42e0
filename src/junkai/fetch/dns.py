"""A host name in; its addresses, A and AAAA in turns, out, remembered for as long as their records live."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from itertools import chain, zip_longest
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import aiodns
import pycares

from junkai import clock
from junkai.config import Settings
from junkai.errors import FailureKind, FetchError
from junkai.fetch.guard import literal_of
from junkai.immutable import Struct

ENTRIES_MAX: Final = 50_000
TTL_MIN_S: Final = 30.0
TTL_MAX_S: Final = 3_600.0
TTL_NEGATIVE_S: Final = 60.0
ADDRESSES_MAX: Final = 16
_HOSTS_FILE: Final = Path("/etc/hosts")
_HOSTS_BYTES_MAX: Final = 1 << 20
_QUERY_S: Final = 3.0
_QUERY_TRIES: Final = 2
_LOOPBACK: Final = ("127.0.0.1", "::1")
#: The name or its records do not exist. All else is our trouble or the resolver's.
_UNKNOWN: Final = frozenset({pycares.errno.ARES_ENOTFOUND, pycares.errno.ARES_ENODATA, pycares.errno.ARES_EBADNAME})


class _Answer(Struct, frozen=True, kw_only=True):
    """What is known of a name, until a moment of the monotonic clock."""

    until: float
    addresses: tuple[str, ...]  #: none: the name is unknown


class Resolver:
    """An async context manager: /etc/hosts, then DNS. Its channel is made with the first name that needs it."""

    def __init__(self, settings: Settings, *, port: int = 53, hosts_file: Path = _HOSTS_FILE) -> None:
        self._nameservers = settings.nameservers
        self._port = port
        self._hosts = _HostsFile(hosts_file)
        self._answers: OrderedDict[str, _Answer] = OrderedDict()
        self._queries: dict[str, asyncio.Task[_Answer]] = {}
        self._channel: aiodns.DNSResolver | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        queries = list(self._queries.values())
        for query in queries:
            query.cancel()
        await asyncio.gather(*queries, return_exceptions=True)
        if self._channel is not None:
            await self._channel.close()

    @property
    def has_channel(self) -> bool:
        """True once a name has been asked of DNS."""
        return self._channel is not None

    async def resolve(self, hostname: str, deadline_s: float) -> tuple[str, ...]:
        """The addresses of a WHATWG host, at most ADDRESSES_MAX, in the order to try them.

        Raises FetchError: DNS_UNKNOWN where there are none, DNS_TEMPORARY where nobody could say in time.
        """
        literal = literal_of(hostname)
        if literal is not None:
            return (literal,)
        name = hostname.rstrip(".")
        if name == "localhost" or name.endswith(".localhost"):  # RFC 6761 §6.3
            return self._hosts.addresses(name) or _LOOPBACK
        listed = self._hosts.addresses(name)
        if listed:
            return listed
        answer = self._answers.get(name)
        if answer is None or answer.until <= clock.monotonic():
            answer = await self._asked(name, deadline_s)
        if not answer.addresses:
            raise FetchError(hostname, FailureKind.DNS_UNKNOWN, "the name has no address")
        return answer.addresses

    async def _asked(self, name: str, deadline_s: float) -> _Answer:
        """One query for all who wait for a name; it outlives a waiter that gives up."""
        query = self._queries.get(name)
        if query is None:
            query = self._queries[name] = asyncio.create_task(self._query(name))
            query.add_done_callback(lambda task: self._on_done(name, task))
        try:
            async with asyncio.timeout(deadline_s):
                return await asyncio.shield(query)
        except TimeoutError:
            raise FetchError(name, FailureKind.DNS_TEMPORARY, "no answer from DNS in time") from None

    def _on_done(self, name: str, query: asyncio.Task[_Answer]) -> None:
        del self._queries[name]
        if query.cancelled() or query.exception() is not None:
            return
        self._answers[name] = query.result()
        self._answers.move_to_end(name)
        if len(self._answers) > ENTRIES_MAX:
            self._answers.popitem(last=False)

    async def _query(self, name: str) -> _Answer:
        if self._channel is None:
            self._channel = aiodns.DNSResolver(
                nameservers=self._nameservers or None,
                timeout=_QUERY_S,
                tries=_QUERY_TRIES,
                udp_port=self._port,
                tcp_port=self._port,
            )
        results = await asyncio.gather(
            self._channel.query_dns(name, "A"), self._channel.query_dns(name, "AAAA"), return_exceptions=True
        )
        addresses: list[list[str]] = []
        ttl_s = TTL_MAX_S
        troubles = []
        for result in results:
            if isinstance(result, aiodns.error.DNSError):
                troubles.append(result)
            elif isinstance(result, BaseException):
                raise result
            else:
                addresses.append(_addresses_in(result))
                ttl_s = min([ttl_s, *(record.ttl for record in result.answer)])
        found = _interleaved(addresses)
        if found:
            return _Answer(until=clock.monotonic() + max(ttl_s, TTL_MIN_S), addresses=found)
        for trouble in troubles:
            if trouble.args[0] not in _UNKNOWN:
                raise FetchError(name, FailureKind.DNS_TEMPORARY, f"DNS: {trouble.args[1]}")
        return _Answer(until=clock.monotonic() + TTL_NEGATIVE_S, addresses=())


def _addresses_in(result: pycares.DNSResult) -> list[str]:
    return [
        record.data.addr
        for record in result.answer
        if isinstance(record.data, pycares.ARecordData | pycares.AAAARecordData)
    ]


def _interleaved(families: list[list[str]]) -> tuple[str, ...]:
    """One of each family in turns, so that a family without a route costs one attempt (RFC 8305 §4)."""
    turns = chain.from_iterable(zip_longest(*families))
    return tuple(dict.fromkeys(address for address in turns if address is not None))[:ADDRESSES_MAX]


class _HostsFile:
    """The names in a hosts(5) file, read again when it changes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp: tuple[int, int] | None = None
        self._names: dict[str, tuple[str, ...]] = {}

    def addresses(self, name: str) -> tuple[str, ...]:
        """What the file says of a lower-case name; nothing where there is no file."""
        try:
            status = self._path.stat()
            stamp = (status.st_mtime_ns, status.st_size)
            if stamp != self._stamp:
                self._names = self._read()
                self._stamp = stamp
        except OSError:
            return ()
        return self._names.get(name, ())

    def _read(self) -> dict[str, tuple[str, ...]]:
        with self._path.open("rb") as file:
            text = file.read(_HOSTS_BYTES_MAX).decode("utf-8", "replace")
        names: dict[str, tuple[str, ...]] = {}
        for line in text.splitlines():
            address, *listed = line.partition("#")[0].split() or [""]
            for name in listed:
                names[name.lower()] = (*names.get(name.lower(), ()), address)
        return names
