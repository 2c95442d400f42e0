"""URLs (WHATWG URL Standard) in; keys out: canonical form, URL key, host key, registrable domain, shard."""

from __future__ import annotations

import ipaddress
import re
from functools import cache, lru_cache
from hashlib import blake2b
from typing import Final

import ada_url
import msgspec
from publicsuffixlist import PublicSuffixList

from junkai.errors import UrlError

URL_BYTES_MAX: Final = 8_000
SHARDS: Final = 60
SCHEMES: Final = frozenset({"http:", "https:"})

_PERCENT: Final = re.compile(r"%([0-9A-Fa-f]{2})")
_AS_WRITTEN: Final = re.compile(r"(?i:https?)://[^/?#\\\s]+((?:[/?][!$-;=?-Z\[\]_a-z~]*)?)(?:#.*)?")
#: An http(s) URL as the standard serialises it, credentials aside: attribute by attribute it would cost 20 µs more.
_SERIALISED: Final = re.compile(r"(https?)://((\[[^\]]*\]|[^/:@?#]+)(?::([0-9]+))?)(/[^#]*)(?:#.*)?", re.DOTALL)
_C0_AND_SPACE: Final = "".join(map(chr, range(0x21)))
_UNRESERVED: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


class Url(msgspec.Struct, frozen=True, kw_only=True):
    """A parsed http(s) URL, without fragment and credentials."""

    href: str  #: the WHATWG serialisation: what the key is made of
    verbatim: str  #: the same, but path and query as they were written: what is stored, shown and fetched
    scheme: str  #: "http" or "https"
    hostname: str  #: lower case, punycode; an IPv6 literal has its brackets
    port: int  #: the effective port
    host: str  #: host key: the hostname, and the port unless it is the scheme's default


def parse(text: str, base: str | None = None) -> Url:
    """Parse an absolute URL, or a reference against `base` (URL Standard, basic URL parser).

    Raises UrlError for what is no URL, has another scheme than http(s), has credentials in it, or is over
    URL_BYTES_MAX.
    """
    if len(text) > URL_BYTES_MAX:
        raise UrlError(shown(text), f"longer than {URL_BYTES_MAX} characters")
    try:
        href = (ada_url.URL(text, base) if base is not None else ada_url.URL(text)).href
    except ValueError:
        hint = "" if "://" in text else f"not a URL; did you mean https://{shown(text.strip())} ?"
        raise UrlError(shown(text), hint) from None
    match = _SERIALISED.fullmatch(href)
    if match is None:
        raise _refusal(text, href)
    if len(href) > URL_BYTES_MAX:
        raise UrlError(shown(text), f"longer than {URL_BYTES_MAX} characters")
    scheme, host, hostname, port, rest = match.groups()
    origin = f"{scheme}://{host}"
    href = origin + rest
    return Url(
        href=href,
        verbatim=_verbatim(text, origin) or href,
        scheme=scheme,
        hostname=hostname,
        port=int(port) if port else (443 if scheme == "https" else 80),
        host=host,
    )


def _refusal(text: str, href: str) -> UrlError:
    """Why a URL is not one that Junkai visits."""
    parsed = ada_url.URL(href)
    if parsed.protocol not in SCHEMES:
        return UrlError(shown(text), f"scheme {shown(parsed.protocol)} is refused; only http and https are visited")
    if parsed.username or parsed.password:
        return UrlError(
            shown(without_credentials(text)), "user names and passwords do not belong in the URL; remove them"
        )
    return UrlError(shown(text), "no host in it")


def _verbatim(text: str, origin: str) -> str | None:
    """The origin with path and query as written; None where they need the standard's escaping to be sent at all."""
    match = _AS_WRITTEN.fullmatch(text.strip(_C0_AND_SPACE))
    if match is None:
        return None
    rest = match[1]
    return origin + (rest if rest.startswith("/") else f"/{rest}")


def join(base: str, reference: str) -> str | None:
    """`reference` resolved against `base`, or None where it is no URL. Any scheme; for text found in documents."""
    try:
        return ada_url.URL(reference, base).href
    except ValueError:
        return None


def shown(text: str) -> str:
    """`text` made fit for a message: control characters and credentials gone, at most 200 characters."""
    text = without_credentials(text[:201])
    clean = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return clean if len(clean) <= 200 else clean[:199] + "…"


def without_credentials(text: str) -> str:
    """`text` with `user:password@` cut out, for messages."""
    return re.sub(r"//[^/@]*@", "//", text, count=1)


@lru_cache(maxsize=4096)
def canonical(href: str) -> str:
    """The form that decides "the same URL?": only ever a key, never fetched. Idempotent.

    Over the WHATWG serialisation: the fragment goes, `%xx` is upper case, and an escaped unreserved character is
    written plainly (RFC 3986 §6.2.2). Delimiters stay escaped, and the order of a query is left alone.
    """
    return _PERCENT.sub(_normal_escape, parse(href).href)


def _normal_escape(match: re.Match[str]) -> str:
    byte = int(match[1], 16)
    return chr(byte) if byte in _UNRESERVED else match[0].upper()


def url_key(href: str, crawl: int = 0) -> bytes:
    """16 bytes that decide "known?": a hash of the crawl's number and the canonical URL."""
    return blake2b(f"{crawl} {canonical(href)}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


def shard_of(host: str) -> int:
    """0 to SHARDS - 1; all of a host in one shard."""
    return int.from_bytes(blake2b(host.encode(), digest_size=8).digest(), "big") % SHARDS


@cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList(only_icann=True)


@lru_cache(maxsize=65_536)
def domain_of(host: str) -> str:
    """The registrable domain of a host key (ICANN section of the public suffix list).

    An IP address, a name of one label (`localhost`) and a bare suffix are their own domain, port included; the last
    label of a name without a listed suffix counts as the suffix.
    """
    hostname = host if host.endswith("]") else host.rpartition(":")[0] or host
    if is_ip_literal(hostname):
        return host
    return _suffixes().privatesuffix(hostname.rstrip(".")) or host


def is_ip_literal(hostname: str) -> bool:
    """True for `127.0.0.1` and `[::1]`; WHATWG parsing has already turned every other spelling into these."""
    try:
        ipaddress.ip_address(hostname.strip("[]"))
    except ValueError:
        return False
    return True
