"""URLs and addresses in; BlockedError, or those that may be asked, out (rule 39).

What is not public is blocked, unless the operator allows its network; what the operator blocks stays blocked.
"""

from __future__ import annotations

import ipaddress
import socket
from bisect import bisect_right
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from junkai import url as urls
from junkai.config import Settings
from junkai.errors import BlockedError, SettingsError, UrlError
from junkai.url import Url

_ADDRESSES_CACHED: Final = 16_384

#: Not for the public internet: IANA's special-purpose registries, and the clouds' metadata services.
_V4_BLOCKED: Final = {
    "0.0.0.0/8": "this network",
    "10.0.0.0/8": "private",
    "100.64.0.0/10": "carrier-grade NAT",
    "127.0.0.0/8": "loopback",
    "168.63.129.16/32": "cloud metadata",
    "169.254.0.0/16": "link-local, cloud metadata",
    "172.16.0.0/12": "private",
    "192.0.0.0/24": "protocol assignments",
    "192.0.2.0/24": "documentation",
    "192.88.99.0/24": "6to4 relay",
    "192.168.0.0/16": "private",
    "198.18.0.0/15": "benchmarking",
    "198.51.100.0/24": "documentation",
    "203.0.113.0/24": "documentation",
    "224.0.0.0/4": "multicast",
    "240.0.0.0/4": "reserved",
}
#: IPv6 is the other way round: only 2000::/3 is given out, so all but it is blocked, and these parts of it.
_V6_PUBLIC: Final = ipaddress.IPv6Network("2000::/3")
_V6_BLOCKED: Final = {
    "2001::/23": "Teredo and protocol assignments",
    "2001:db8::/32": "documentation",
    "2002::/16": "6to4",
    "3fff::/20": "documentation",
}
_V6_NAMES: Final = {
    ipaddress.IPv6Network("::/128"): "unspecified",
    ipaddress.IPv6Network("::1/128"): "loopback",
    ipaddress.IPv6Network("::/96"): "IPv4-compatible",
    ipaddress.IPv6Network("::ffff:0:0/96"): "IPv4-mapped",
    ipaddress.IPv6Network("fc00::/7"): "unique local",
    ipaddress.IPv6Network("fe80::/10"): "link-local",
    ipaddress.IPv6Network("fec0::/10"): "site-local",
    ipaddress.IPv6Network("ff00::/8"): "multicast",
}
#: NAT64: stands for the IPv4 address in its last 32 bits, and is judged as that (RFC 6052 §3.1).
ON_THE_LIST: Final = "on the block list"
_NAT64_PREFIX: Final = ipaddress.IPv6Network("64:ff9b::/96").network_address.packed[:12]


class Guard:
    """What the settings allow to be asked. Immutable; cheap to ask, since addresses are remembered."""

    def __init__(self, settings: Settings) -> None:
        self._allowed = _Ranges((network, "") for network in settings.allow_networks)
        self._hosts: set[str] = set()
        self._domains: set[str] = set()
        networks: list[str] = []
        for entry in settings.block:
            self._add_block(entry.strip().lower(), networks)
        self._blocked = _Ranges((network, ON_THE_LIST) for network in networks)
        self._why_not = lru_cache(maxsize=_ADDRESSES_CACHED)(self._judge)

    def _add_block(self, entry: str, networks: list[str]) -> None:
        if _is_network(entry.strip("[]")):
            networks.append(entry.strip("[]"))
            return
        is_domain = entry.startswith("*.")
        if "/" in entry or "*" in entry.removeprefix("*.") or "@" in entry:
            raise SettingsError("block", f"neither a host, a domain nor a network: {urls.shown(entry)}")
        try:
            named = urls.parse(f"http://{entry.removeprefix('*.')}/")
        except UrlError as error:
            raise SettingsError("block", f"neither a host, a domain nor a network: {urls.shown(entry)}") from error
        if is_domain:
            self._domains.add(named.hostname)
        else:
            self._hosts.add(named.host)

    def check_url(self, url: Url | str) -> None:
        """Raise BlockedError for a host or domain on the block list, and for an IP literal that may not be asked.

        Asks no resolver. Raises UrlError where a text is no URL.
        """
        if isinstance(url, str):
            url = urls.parse(url)
        hostname = url.hostname
        if hostname in self._hosts or url.host in self._hosts or (self._domains and self._is_in_domain(hostname)):
            raise BlockedError(url.verbatim, f"{hostname} is on the block list")
        literal = literal_of(hostname)
        if literal is not None:
            why = self._why_not(literal)
            if why is not None:
                raise BlockedError(url.verbatim, f"{literal} may not be visited: {explained(why)}")

    def _is_in_domain(self, hostname: str) -> bool:
        name = hostname.rstrip(".")
        while name:
            if name in self._domains:
                return True
            name = name.partition(".")[2]
        return False

    def checked(self, addresses: Iterable[str]) -> tuple[str, ...]:
        """Those of the addresses that may be asked, in the same order."""
        why_not = self._why_not
        return tuple([address for address in addresses if why_not(address) is None])

    def why_not(self, address: str) -> str | None:
        """Why an address may not be asked, in a few words; None where it may."""
        return self._why_not(address)

    def is_allowed_network(self, address: str) -> bool:
        """True for an address that the operator has allowed although it is not public."""
        packed = _packed(address)
        return packed is not None and self._allowed.get(packed) is not None

    def _judge(self, address: str) -> str | None:
        packed = _packed(address)
        if packed is None:
            return "not an IP address"
        blocked = self._blocked.get(packed)
        if blocked is not None:
            return blocked
        if self._allowed.get(packed) is not None:
            return None
        if len(packed) == 4:
            return _SPECIAL.get(packed)
        if packed.startswith(_NAT64_PREFIX):
            return self._judge(socket.inet_ntop(socket.AF_INET, packed[12:]))
        return _why_not_v6(packed)


def explained(why: str) -> str:
    """Why an address may not be asked, and what an operator can do who wants it to be."""
    return why if why == ON_THE_LIST else f"{why}; list its network in the setting allow_networks if you want that"


def literal_of(hostname: str) -> str | None:
    """The address in a WHATWG host that is an IP literal, without brackets; None for a name."""
    if hostname.startswith("["):
        return hostname[1:-1]
    # The URL Standard has turned every spelling of an IPv4 address into the dotted one.
    return hostname if hostname[-1:].isdigit() and _packed(hostname) is not None else None


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def _packed(address: str) -> bytes | None:
    try:
        return socket.inet_pton(socket.AF_INET6 if ":" in address else socket.AF_INET, address)
    except (OSError, ValueError):
        return None


class _Ranges:
    """Networks as sorted, separate address ranges: finding an address takes one bisection."""

    def __init__(self, networks: Iterable[tuple[str, str]]) -> None:
        self._starts: list[bytes] = []
        self._ends: list[bytes] = []
        self._whys: list[str] = []
        ranges = []
        for text, why in networks:
            network = ipaddress.ip_network(text, strict=False)
            ranges.append((network.prefixlen, _key(network[0].packed), _key(network[-1].packed), why))
        for _, start, end, why in sorted(ranges):  # the wide ones first: what lies within one is in it already
            if self._find(start) is None:
                index = bisect_right(self._starts, start)
                self._starts.insert(index, start)
                self._ends.insert(index, end)
                self._whys.insert(index, why)

    def get(self, packed: bytes) -> str | None:
        """What the network was given with that the address lies in; None where it is in none."""
        return self._find(_key(packed))

    def _find(self, key: bytes) -> str | None:
        index = bisect_right(self._starts, key) - 1
        return self._whys[index] if index >= 0 and key <= self._ends[index] else None


def _key(packed: bytes) -> bytes:
    """The families apart, and each in numeric order."""
    return bytes((len(packed),)) + packed


_SPECIAL: Final = _Ranges([*_V4_BLOCKED.items(), *_V6_BLOCKED.items()])


def _why_not_v6(packed: bytes) -> str | None:
    """The law for IPv6: outside 2000::/3 all is blocked, whatever it is called."""
    address = ipaddress.IPv6Address(packed)
    if address in _V6_PUBLIC:
        return _SPECIAL.get(packed)
    for network, name in _V6_NAMES.items():
        if address in network:
            return name
    return "reserved"
