"""Settings: defaults < junkai.toml < JUNKAI_* < command line, in; one frozen struct and the origins of its values out.

The only module that reads the environment. An unknown key or a bad value is a SettingsError naming it and its origin.
"""

from __future__ import annotations

import ipaddress
import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_type_hints

import msgspec
from msgspec import Meta

from junkai import url as urls
from junkai.errors import SettingsError, UrlError

CONFIG_FILE: Final = "junkai.toml"
ENV_PREFIX: Final = "JUNKAI_"
LEASE_MARGIN_SECONDS: Final = 0.5
#: The configuration file's own path, and what belongs to the tests.
_ENV_NOT_SETTINGS: Final = frozenset({"JUNKAI_CONFIG", "JUNKAI_CORPORA"})
_ENV_TESTS: Final = "JUNKAI_TEST_"

Seconds = Annotated[float, Meta(gt=0, le=366 * 86_400)]
Count = Annotated[int, Meta(ge=1, le=1_000_000)]


def _doc(text: str) -> Meta:
    return Meta(description=text)


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything an operator can set. `docs/configuration.md` is made from it."""

    store: Annotated[str, _doc("The store's address: sqlite:///relative.db or sqlite:////absolute.db.")] = (
        "sqlite:///junkai.db"
    )
    # who we are
    contact_url: Annotated[str, _doc("A page that says who crawls and how to stop it; part of the User-Agent.")] = (
        "https://junkai.example/about"
    )
    # politeness
    delay_seconds: Annotated[
        float, Meta(ge=0, le=86_400), _doc("Least time between two requests to a host, for hosts seen from now on.")
    ] = 1.0
    domain_in_flight_max: Annotated[Count, _doc("Requests at once per registrable domain.")] = 8
    domain_per_second_max: Annotated[Count, _doc("Requests a second per registrable domain.")] = 20
    address_in_flight_max: Annotated[Count, _doc("Requests at once per IP address; allowed networks are exempt.")] = 8
    retry_after_max_seconds: Annotated[Seconds, _doc("The longest Retry-After that is obeyed.")] = 7 * 86_400.0
    # when
    interval_first_seconds: Annotated[Seconds, _doc("Revisit interval of a feed whose rhythm is not known yet.")] = (
        7_200.0
    )
    interval_min_seconds: Annotated[Seconds, _doc("Shortest revisit interval that Junkai chooses by itself.")] = 3_600.0
    interval_max_seconds: Annotated[
        Seconds, _doc("Longest revisit interval, and the longest wait that a feed's own hints can ask for.")
    ] = 86_400.0
    move_visits_min: Annotated[Count, _doc("Visits that must see a permanent redirect before its URL is stored.")] = 3
    move_seconds_min: Annotated[
        float, Meta(ge=0, le=366 * 86_400), _doc("Time over which a permanent redirect must be seen.")
    ] = 86_400.0
    # turns
    lease_seconds: Annotated[Seconds, _doc("How long a claimed host is ours without renewal.")] = 120.0
    turn_seconds: Annotated[float, Meta(ge=1, le=3_600), _doc("Longest turn at one host while others may wait.")] = 60.0
    turn_sources_max: Annotated[Count, _doc("Sources asked in one turn at a host.")] = 50
    pass_sources_max: Annotated[Count, _doc("Sources visited in one pass of a broker.")] = 1_000
    concurrency: Annotated[int, Meta(ge=1, le=4_096), _doc("Hosts asked at the same time by one broker.")] = 200
    # the system
    brokers: Annotated[int, Meta(ge=0, le=64), _doc("Broker processes; 0: one for each core.")] = 0
    broker_passes_max: Annotated[Count, _doc("Passes after which a broker makes room for a fresh one.")] = 10_000
    broker_megabytes_max: Annotated[
        int, Meta(ge=64, le=1 << 20), _doc("Resident memory at which a broker makes room for a fresh one.")
    ] = 512
    pass_seconds_max: Annotated[Seconds, _doc("A broker whose pass runs longer is killed; sleep does not count.")] = (
        1_200.0
    )
    silence_seconds_max: Annotated[Seconds, _doc("A broker that has said nothing for so long is killed: it hangs.")] = (
        150.0
    )
    drain_seconds_max: Annotated[Seconds, _doc("How long what is in flight may take when the system stops.")] = 30.0
    status_port: Annotated[int, Meta(ge=0, le=65_535), _doc("Loopback port of the status line protocol; 0: any.")] = (
        8421
    )
    web_port: Annotated[int, Meta(ge=0, le=65_535), _doc("Loopback port of the web page; 0: any.")] = 8420
    # fetching
    fetch_deadline_seconds: Annotated[
        Seconds, _doc("Wall-clock limit of one whole exchange: DNS, connect, TLS, body.")
    ] = 30.0
    rate_min_bytes: Annotated[int, Meta(ge=0), _doc("Least bytes a second, over ten seconds; 0 turns it off.")] = 64
    body_bytes_max: Annotated[int, Meta(ge=1, le=1 << 30), _doc("Largest body, decoded.")] = 10 << 20
    redirects_max: Annotated[int, Meta(ge=0, le=20), _doc("Most redirects followed in a visit.")] = 10
    allow_downgrade: Annotated[bool, _doc("Follow redirects from https to http.")] = False
    allow_networks: Annotated[
        tuple[str, ...], _doc("Networks that may be visited although they are private, such as 127.0.0.0/8.")
    ] = ()
    block: Annotated[
        tuple[str, ...], _doc("Never visited: hosts (a.example), domains (*.example.org), networks (192.0.2.0/24).")
    ] = ()
    proxy: Annotated[str, _doc("Proxy for all requests, such as http://127.0.0.1:3128; empty: none.")] = ""
    nameservers: Annotated[tuple[str, ...], _doc("DNS servers; empty: those of the system.")] = ()
    ca_file: Annotated[str, _doc("CA certificates in one PEM file; empty: the certifi package's.")] = ""
    # parsing
    entries_max: Annotated[Count, _doc("Most entries read from one document.")] = 10_000
    # logs
    log_format: Annotated[Literal["auto", "human", "json"], _doc("auto: human on a terminal, else JSON.")] = "auto"


class Effective(msgspec.Struct, frozen=True, kw_only=True):
    """The settings in force, and where each one came from: default, a file's path, JUNKAI_NAME or the command line."""

    settings: Settings
    origins: Mapping[str, str]


def load(
    *,
    command_line: Mapping[str, str] | None = None,
    config_file: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> Effective:
    """Read all layers. Raises SettingsError for an unknown key, a bad value or an unreadable file."""
    environ = os.environ if environ is None else environ
    values: dict[str, Any] = {}
    origins = dict.fromkeys(Settings.__struct_fields__, "default")

    def take(layer: Iterable[tuple[str, Any, str]]) -> None:
        for name, raw, origin in layer:
            values[name] = _converted(name, raw, origin)
            origins[name] = origin

    take(_from_file(config_file, environ))
    take(_from_environment(environ))
    take((_known(name, "command line"), raw, "command line") for name, raw in (command_line or {}).items())
    settings = Settings(**values)
    _check_together(settings, origins)
    return Effective(settings=settings, origins=origins)


def _from_file(config_file: Path | None, environ: Mapping[str, str]) -> Iterable[tuple[str, Any, str]]:
    named = config_file or (Path(environ["JUNKAI_CONFIG"]) if environ.get("JUNKAI_CONFIG") else None)
    path = named or Path(CONFIG_FILE)
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if named is None:
            return
        raise SettingsError(str(path), "no such file") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(str(path), f"not a TOML file that can be read: {error}") from error
    for name, raw in _flat(table, ""):
        yield _known(name, str(path)), raw, str(path)


def _flat(table: Mapping[str, Any], prefix: str) -> Iterable[tuple[str, Any]]:
    """A table is a prefix: `[fetch] deadline_seconds = 9` is `fetch_deadline_seconds = 9`."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}_")
        else:
            yield f"{prefix}{key}", value


def _from_environment(environ: Mapping[str, str]) -> Iterable[tuple[str, Any, str]]:
    for variable in sorted(environ):
        if not variable.startswith(ENV_PREFIX) or variable in _ENV_NOT_SETTINGS or variable.startswith(_ENV_TESTS):
            continue
        yield _known(variable.removeprefix(ENV_PREFIX).lower(), variable), environ[variable], variable


def _known(name: str, origin: str) -> str:
    if name not in Settings.__struct_fields__:
        raise SettingsError(name, f"unknown setting (from {origin}); `junkai config` lists them all")
    return name


def _converted(name: str, raw: Any, origin: str) -> Any:
    hint = get_type_hints(Settings, include_extras=True)[name]
    is_list = name in ("allow_networks", "block", "nameservers")
    if is_list and isinstance(raw, str):
        raw = [part.strip() for part in raw.split(",") if part.strip()]
    try:
        value = msgspec.convert(raw, hint, strict=not isinstance(raw, str))
        if name == "allow_networks":
            for network in value:
                ipaddress.ip_network(network)
        if name == "proxy" and value:
            urls.parse(urls.without_credentials(value))
        if name == "nameservers":
            for address in value:
                ipaddress.ip_address(address)
    except (msgspec.ValidationError, ValueError, UrlError) as error:
        raise SettingsError(name, f"bad value {raw!r} (from {origin}): {error}") from None
    return value


def _check_together(settings: Settings, origins: Mapping[str, str]) -> None:
    if settings.lease_seconds < settings.fetch_deadline_seconds + LEASE_MARGIN_SECONDS:
        raise SettingsError(
            "lease_seconds",
            f"must be more than fetch_deadline_seconds by {LEASE_MARGIN_SECONDS:g} or more:"
            f" {settings.lease_seconds:g} (from {origins['lease_seconds']}) is too short for"
            f" {settings.fetch_deadline_seconds:g} (from {origins['fetch_deadline_seconds']})",
        )
    if settings.interval_min_seconds > settings.interval_max_seconds:
        raise SettingsError(
            "interval_min_seconds",
            f"{settings.interval_min_seconds:g} (from {origins['interval_min_seconds']}) is more than"
            f" interval_max_seconds {settings.interval_max_seconds:g} (from {origins['interval_max_seconds']})",
        )
