"""The settings and the machine they run on in; checks with a finding and what to do out. Harmless, and fine offline."""

from __future__ import annotations

import asyncio
import resource
import shutil
import ssl
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal

import certifi
import msgspec

from junkai import clock, url, wording
from junkai.app import files_wanted
from junkai.backend import open_store
from junkai.config import Settings
from junkai.errors import FailureKind, FetchError, JunkaiError
from junkai.fetch.dns import Resolver

Level = Literal["ok", "warning", "failed"]

#: Junkai is not older than this; a clock that is has lost its battery.
_CLOCK_MIN_AT: Final = datetime(2026, 1, 1, tzinfo=UTC)
_CLOCK_BACK_SECONDS_MAX: Final = 5.0
_FREE_BYTES_FAIL: Final = 50_000_000
_FREE_BYTES_WARN: Final = 1_000_000_000
_DNS_SECONDS_MAX: Final = 4.0


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a crawl needs, and how it stands."""

    name: str
    level: Level
    finding: str
    remedy: str = ""


def examine(settings: Settings, now: datetime) -> list[Check]:
    """All checks: the store and what is around it first, the network last."""
    return [
        check_store(settings, now),
        check_disk(settings),
        check_clock(settings, now),
        check_open_files(settings),
        check_ca_file(settings),
        check_dns(settings),
    ]


def check_store(settings: Settings, now: datetime) -> Check:
    """The store opens, or can be made where it would be."""
    file = _store_file(settings)
    if file is not None and not file.exists():
        folder = file.parent
        if not folder.is_dir():
            return Check(
                name="store",
                level="failed",
                finding=f"{settings.store}: no folder {folder}",
                remedy="Make it, or name another place with --store.",
            )
        return Check(name="store", level="ok", finding=f"{settings.store}: not made yet; the first `junkai add` does")
    try:
        with closing(open_store(settings.store, is_read_only=True)) as store:
            counts = store.statistics.counts(now)
    except JunkaiError as error:
        return Check(
            name="store", level="failed", finding=str(error), remedy="Mend that, or name another store with --store."
        )
    finding = f"{settings.store}: {wording.sources(counts.sources)}, {wording.entries(counts.entries)}"
    return Check(name="store", level="ok", finding=finding)


def check_disk(settings: Settings) -> Check:
    """There is room where the store is."""
    file = _store_file(settings)
    folder = file.parent if file is not None else Path()
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return Check(name="disk", level="failed", finding=f"{folder}: {error.strerror}", remedy="Make the folder.")
    finding = f"{wording.size(free)} free where the store is"
    if free < _FREE_BYTES_WARN:
        level: Level = "failed" if free < _FREE_BYTES_FAIL else "warning"
        return Check(name="disk", level=level, finding=finding, remedy="Make room: a full disk stops the crawl.")
    return Check(name="disk", level="ok", finding=finding)


def check_clock(settings: Settings, now: datetime) -> Check:
    """The clock is not in the past: not before Junkai was made, not before the store was last written."""
    file = _store_file(settings)
    written_at = _modified_at(file)
    remedy = "Set the clock, and keep it set (NTP): every next visit is a moment of this clock."
    if now < _CLOCK_MIN_AT:
        return Check(name="clock", level="failed", finding=f"it says {now:%Y-%m-%d}, which has passed", remedy=remedy)
    if written_at is not None and (written_at - now).total_seconds() > _CLOCK_BACK_SECONDS_MAX:
        ahead = wording.span((written_at - now).total_seconds())
        finding = f"the store was last written {ahead} ahead of now: the clock has gone back"
        return Check(name="clock", level="failed", finding=finding, remedy=remedy)
    return Check(name="clock", level="ok", finding=f"{now:%Y-%m-%d %H:%M:%S} UTC")


def check_open_files(settings: Settings) -> Check:
    """The limit on open files lets `concurrency` hosts be asked at the same time."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = files_wanted(settings)
    if hard == resource.RLIM_INFINITY or hard >= wanted:
        shown = "no limit" if hard == resource.RLIM_INFINITY else f"up to {wording.count(hard)}"
        return Check(
            name="open files", level="ok", finding=f"{shown}; {settings.concurrency} hosts at once want {wanted}"
        )
    return Check(
        name="open files",
        level="warning",
        finding=f"at most {hard}; {settings.concurrency} hosts at once want {wanted}, so fewer are asked at once",
        remedy=f"Raise the limit (ulimit -Hn {wanted}), or set concurrency lower.",
    )


def check_ca_file(settings: Settings) -> Check:
    """The CA certificates can be read, and there are some."""
    file = settings.ca_file or certifi.where()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    remedy = "Set ca_file to a PEM file of CA certificates, or leave it empty for those of certifi."
    try:
        context.load_verify_locations(cafile=file)
    except (OSError, ssl.SSLError) as error:
        return Check(name="CA file", level="failed", finding=f"{file}: {error.strerror or error}", remedy=remedy)
    number = len(context.get_ca_certs())
    if number == 0:
        return Check(name="CA file", level="failed", finding=f"{file}: no CA certificate in it", remedy=remedy)
    return Check(name="CA file", level="ok", finding=f"{number} certificates in {file}")


def check_dns(settings: Settings, *, port: int = 53) -> Check:
    """A name server answers; that it does not know the name is an answer too. Without one, feeds cannot be visited, but
    everything else works: a warning."""
    if settings.proxy:
        return Check(name="DNS", level="ok", finding="names are resolved by the proxy")
    hostname = url.parse(settings.contact_url).hostname
    asked = ", ".join(settings.nameservers) or "the system's name servers"
    try:
        addresses = asyncio.run(_resolve(settings, hostname, port))
    except FetchError as error:
        if error.kind is FailureKind.DNS_UNKNOWN:
            return Check(name="DNS", level="ok", finding=f"{asked} answered, with no address for {hostname}")
        return Check(
            name="DNS",
            level="warning",
            finding=f"{asked} did not answer: {error.detail}",
            remedy="Look at the network and /etc/resolv.conf, or set nameservers. Visits wait until then.",
        )
    return Check(name="DNS", level="ok", finding=f"{asked} answered: {hostname} is at {addresses[0]}")


async def _resolve(settings: Settings, hostname: str, port: int) -> tuple[str, ...]:
    async with Resolver(settings, port=port) as resolver:
        return await resolver.resolve(hostname, _DNS_SECONDS_MAX)


def _store_file(settings: Settings) -> Path | None:
    """The file of a store that is a file."""
    scheme, mark, path = settings.store.partition(":///")
    return Path(path) if mark and scheme == "sqlite" else None


def _modified_at(file: Path | None) -> datetime | None:
    """When the store's file was last written; None where there is none."""
    if file is None or not file.exists():
        return None
    return clock.from_ms(int(file.stat().st_mtime * 1000))
