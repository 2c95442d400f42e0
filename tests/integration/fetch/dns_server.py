"""Names and records in; a DNS server over UDP on loopback that knows just these, out."""

from __future__ import annotations

import asyncio
import ipaddress
import struct
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Final, Self

NOERROR: Final = 0
SERVFAIL: Final = 2
NXDOMAIN: Final = 3
_TYPES: Final = {1: 4, 28: 6}  # A, AAAA: IP version

#: name → addresses, or a response code
Zone = Mapping[str, Sequence[str] | int]


class DnsServer(asyncio.DatagramProtocol):
    """Answers A and AAAA; unknown names are NXDOMAIN. Remembers what was asked; silent for names in `silent`."""

    def __init__(self, zone: Zone, *, ttl_s: int = 300, silent: Sequence[str] = ()) -> None:
        self.zone = dict(zone)
        self.queries: list[str] = []
        self._ttl_s = ttl_s
        self._silent = silent

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.create_datagram_endpoint(lambda: self, local_addr=("127.0.0.1", 0))
        self.port: int = self._transport.get_extra_info("sockname")[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._transport.close()

    def datagram_received(self, data: bytes, peer: tuple[str | int, ...]) -> None:
        labels, position = [], 12
        while data[position]:
            labels.append(data[position + 1 : position + 1 + data[position]].decode())
            position += 1 + data[position]
        position += 5
        kind = struct.unpack("!H", data[position - 4 : position - 2])[0]
        name = ".".join(labels).lower()
        self.queries.append(name)
        if name in self._silent:
            return
        known = self.zone.get(name, NXDOMAIN)
        code = known if isinstance(known, int) else NOERROR
        addresses = [] if isinstance(known, int) else [ipaddress.ip_address(each) for each in known]
        packed = [each.packed for each in addresses if each.version == _TYPES.get(kind)]
        head = data[:2] + struct.pack("!HHHHH", 0x8180 | code, 1, len(packed), 0, 0)
        records = [b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, self._ttl_s, len(each)) + each for each in packed]
        # c-ares maps names case by case (0x20): the question goes back as it came
        self._transport.sendto(head + data[12:position] + b"".join(records), peer)
