"""Certificates: the operator's own authority is believed, nobody else's."""

from __future__ import annotations

import asyncio
import ssl
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from integration.fetch.raw_server import RawServer, ok, redirect
from junkai.clock import utc_now
from junkai.config import Settings
from junkai.errors import FailureKind
from junkai.fetch import Exchange, Fetcher
from junkai.model import TurnSource


class Turn:
    """A Pacing without limits."""

    async def before_request(self, host: str) -> bool:
        return True

    def after_request(self) -> None:
        pass


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory, require_program: Callable[[str], str]) -> Path:
    """Key and self-signed certificate for 127.0.0.1 in one PEM file."""
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    options = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1"
    subprocess.run(
        [
            require_program("openssl"),
            *options.split(),
            *("-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", str(path), "-out", str(path.with_suffix(".crt"))),
        ],
        check=True,
        capture_output=True,
    )
    path.write_text(path.read_text() + path.with_suffix(".crt").read_text())
    return path


def asked(certificate: Path, answer: bytes, times: int = 1, ca_file: str = "") -> tuple[Exchange, RawServer]:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)

    async def job() -> tuple[Exchange | None, RawServer]:
        exchange = None
        own = Settings(allow_networks=("127.0.0.0/8",), ca_file=ca_file)
        async with RawServer(answer, keeps_open=True, tls=tls) as server, Fetcher(own, now=utc_now) as fetcher:
            for _ in range(times):
                source = TurnSource(source_id=1, url=server.url())
                exchange = await fetcher.exchange(source, host=server.host, pacing=Turn(), is_last=False)
            return exchange, server

    exchange, server = asyncio.run(asyncio.wait_for(job(), 20))
    assert exchange is not None
    return exchange, server


def test_a_certificate_of_nobody_we_know_is_refused(certificate: Path) -> None:
    exchange, server = asked(certificate, ok(b"<rss/>"))

    assert exchange.failure is not None
    assert (FailureKind.TLS, []) == (exchange.failure.kind, server.heads)


def test_the_operators_own_authority_is_believed_and_the_connection_kept(certificate: Path) -> None:
    exchange, server = asked(certificate, ok(b"<rss/>"), times=3, ca_file=str(certificate))

    assert exchange.response is not None
    assert (b"<rss/>", 1, 3) == (exchange.response.body, server.connections, len(server.heads))


def test_a_redirect_from_https_to_http_is_refused_unless_allowed(certificate: Path) -> None:
    exchange, _ = asked(certificate, redirect("http://127.0.0.9/"), ca_file=str(certificate))

    assert exchange.failure is not None
    assert (FailureKind.REDIRECTS, 302) == (exchange.failure.kind, exchange.status)
