"""The web process as a browser, a scraper and an attacker meet it: real sockets, a real store."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
import uvicorn
from selectolax.lexbor import LexborHTMLParser

from contract.scene import add, claim, entry, visit_all
from junkai import __version__
from junkai.backend import open_store
from junkai.clock import utc_now
from junkai.fleet import Snapshot
from junkai.model import CrawlState
from junkai.web import guard, server
from junkai.web.site import application
from scene_of_the_page import snapshot, the

HOSTILE = "<script>alert(1)</script>"


class Answer:
    """A response, read to its end."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.fields = {name.lower(): value for name, value in response.getheaders()}
        self.body = response.read()
        self.text = self.body.decode()


class Page:
    """The application, served in a thread on a free loopback port."""

    def __init__(self, address: str, ask: Callable[[], Snapshot | None], now: Callable[[], datetime] = utc_now) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._server = uvicorn.Server(server.config(application(address, ask, now)))
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._listener]})

    def __enter__(self) -> Page:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(10)
        self._listener.close()

    def ask(self, path: str, method: str = "GET", **fields: str) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        with contextlib.closing(connection):
            connection.request(method, path, headers={name.replace("_", "-"): value for name, value in fields.items()})
            return Answer(connection.getresponse())


@pytest.fixture
def address(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'junkai.db'}"


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store with two hosts, visited two minutes ago: one has new entries, the other did not answer."""
    address = f"sqlite:///{tmp_path_factory.mktemp('store') / 'junkai.db'}"
    now = utc_now() - timedelta(minutes=2)
    with contextlib.closing(open_store(address)) as store:
        add(store, "https://a.example/feed", "https://b.example/feed", now=now, title=f"{HOSTILE} blog")
        claims = sorted(claim(store, now), key=lambda each: each.host)
        entries = [entry(HOSTILE, url="javascript:alert(2)"), entry("A plain title", url="https://a.example/1")]
        visit_all(store, claims[:1], now, entries=entries)
        visit_all(store, claims[1:], now, state=CrawlState.FETCH_ERROR, error=f"{HOSTILE} said the server", attempts=2)
    return address


@pytest.fixture(scope="module")
def page(filled: str) -> Iterator[Page]:
    with Page(filled, snapshot) as page:
        yield page


def metric(page: Page, name: str) -> float:
    found = re.search(rf"^{re.escape(name)} (\S+)$", page.ask("/metrics").text, re.MULTILINE)
    assert found is not None, name
    return float(found[1])


def numbers(html: str) -> dict[str, str]:
    stats = LexborHTMLParser(html).css(".stat")
    return {the(stat, "dt").text(): the(stat, ".big").text(deep=True).strip() for stat in stats}


# ── what is answered ─────────────────────────────────────────────────────────────────────────────────────────────


def test_page_metrics_and_store_tell_the_same_numbers(page: Page, filled: str) -> None:
    html = page.ask("/").text
    with contextlib.closing(open_store(filled, is_read_only=True)) as store:
        counts = store.statistics.counts(utc_now())
        totals = {total.name: total.value for total in store.statistics.totals()}

    shown = numbers(html)
    assert (2, 2, 2) == (counts.sources, counts.hosts, counts.entries)
    assert "2" == shown["Feeds on the rounds"]
    assert "2" == shown["New entries an hour"]
    assert (2, 2) == (totals["entries_new"], metric(page, "junkai_entries_new_total"))
    assert (1, 1) == (
        metric(page, 'junkai_sources{state="fetch_error"}'),
        metric(page, 'junkai_sources{state="fetched"}'),
    )
    assert "1 50 %" == shown["Failing feeds"]
    assert "2 in the past hour" in html


def test_what_feeds_say_is_shown_as_they_said_it_and_runs_nowhere(page: Page) -> None:
    html = page.ask("/").text

    parsed = LexborHTMLParser(html)
    assert 1 == len(parsed.css("script"))
    assert HOSTILE in the(parsed, "#newest").text()
    assert f"{HOSTILE} said the server" in the(parsed, "#failing").text()
    assert ["https://a.example/1"] == [link.attributes["href"] for link in parsed.css("#newest a")]


def test_a_page_is_small_and_needs_three_more_requests(page: Page) -> None:
    answer = page.ask("/")

    own = set(re.findall(r'(?:href|src)="(/static/[^"]+)"', answer.text))
    assert len(answer.body) < 150_000
    assert 3 == len(own)
    assert [200] * 3 == [page.ask(path).status for path in own]


@pytest.mark.parametrize("span", ["1h", "6h", "24h", "7d", "nonsense", ""])
@pytest.mark.parametrize("view", ["", "table"])
def test_every_span_is_shown_as_a_picture_and_as_a_table(page: Page, span: str, view: str) -> None:
    answer = page.ask(f"/?span={span}&view={view}")

    parsed = LexborHTMLParser(answer.text)
    assert 200 == answer.status
    assert bool(view) == (parsed.css_first("#visits table") is not None)
    assert 1 == len(parsed.css(".seg a[aria-current]"))


def test_static_files_are_kept_for_ever_and_pages_never(page: Page) -> None:
    [path] = re.findall(r'href="(/static/page\.[0-9a-f]{12}\.css)"', page.ask("/").text)

    style = page.ask(path)
    assert "public, max-age=31536000, immutable" == style.fields["cache-control"]
    assert "text/css; charset=utf-8" == style.fields["content-type"]
    assert "no-store" == page.ask("/").fields["cache-control"]
    assert "image/svg+xml" == page.ask("/favicon.ico").fields["content-type"]


def test_metrics_are_of_the_type_that_scrapers_expect(page: Page) -> None:
    answer = page.ask("/metrics")

    assert "text/plain; version=0.0.4; charset=utf-8" == answer.fields["content-type"]
    assert f'junkai_build_info{{version="{__version__}"}} 1\n' in answer.text


def test_head_has_the_fields_and_no_body(page: Page) -> None:
    for path in ("/", "/metrics", "/healthz"):
        answer = page.ask(path, "HEAD")

        assert (200, b"") == (answer.status, answer.body)
        assert int(answer.fields["content-length"]) > 10


def test_a_theme_is_kept_in_a_cookie_that_no_script_reads(page: Page) -> None:
    chosen = page.ask("/?theme=dark&span=6h")

    assert (303, "/?span=6h") == (chosen.status, chosen.fields["location"])
    assert {"theme=dark", "httponly", "samesite=strict"} <= {
        part.strip().lower() for part in chosen.fields["set-cookie"].split(";")
    }
    assert '<html lang="en" data-theme="dark">' in page.ask("/", Cookie="theme=dark").text
    assert '<html lang="en">' in page.ask("/", Cookie='theme="><script>').text
    assert "max-age=0" in page.ask("/?theme=system").fields["set-cookie"].lower()


# ── what is not ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_foreign_name_and_a_proxy_learn_nothing(page: Page) -> None:
    for path in ("/", "/metrics", "/healthz", "/static/x"):
        assert 421 == page.ask(path, Host="evil.example").status
        assert 403 == page.ask(path, X_Forwarded_For="192.0.2.1").status
    assert "blog" not in page.ask("/", Host=f"evil.example:{page.port}").text
    assert 200 == page.ask("/", Host=f"localhost:{page.port}").status


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_other_methods_are_refused(page: Page, method: str) -> None:
    answer = page.ask("/", method)

    assert (405, "GET, HEAD") == (answer.status, answer.fields["allow"])


@pytest.mark.parametrize(
    "path", ["/nothing", "/static/../site.py", "/static/page.css", "/static/", "/%2e%2e/etc/passwd"]
)
def test_what_is_not_there_is_not_found(page: Page, path: str) -> None:
    answer = page.ask(path)

    assert 404 == answer.status
    assert "Traceback" not in answer.text


def test_every_answer_carries_the_safety_headers(page: Page) -> None:
    for answer in (
        page.ask("/"),
        page.ask("/metrics"),
        page.ask("/nothing"),
        page.ask("/", "POST"),
        page.ask("/?theme=dark"),
    ):
        for name, value in guard.SAFETY_FIELDS:
            assert value.decode() == answer.fields[name.decode()]
        assert "server" not in answer.fields


def test_headers_without_an_end_are_not_kept(page: Page) -> None:
    with socket.create_connection(("127.0.0.1", page.port), 10) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ")
        with contextlib.suppress(OSError):  # it may close before all is sent
            connection.sendall(b"a" * 200_000)
        received = b""
        with contextlib.suppress(ConnectionResetError):
            while more := connection.recv(65_536):
                received += more

    assert received[:12] in (b"HTTP/1.1 400", b"")


# ── troubles ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_new_store_says_what_to_do(address: str) -> None:
    open_store(address).close()
    with Page(address, lambda: snapshot(brokers=())) as page:
        html = page.ask("/").text

    assert "No broker runs." in html
    assert "None runs." in html
    assert "No entry so far." in html
    assert "No visit in the past hour" in html


def test_a_store_that_is_not_there_is_a_page_that_says_so(address: str) -> None:
    with Page(address, snapshot) as page:
        answer, health, metrics = page.ask("/"), page.ask("/healthz"), page.ask("/metrics")

    assert (503, 503, 200) == (answer.status, health.status, metrics.status)
    assert "The store cannot be read" in answer.text
    assert "no such store yet" in answer.text
    assert "no such store yet" in json.loads(health.body)["why"]
    assert "junkai_store_readable 0\n" in metrics.text
    assert "junkai_brokers_alive 2\n" in metrics.text


@pytest.mark.parametrize(
    ("told", "status", "why"),
    [
        (snapshot(), 200, None),
        (snapshot(brokers=()), 503, "No broker runs and answers."),
        (None, 503, "The manager does not answer."),
    ],
)
def test_health_is_a_readable_store_and_a_broker_that_answers(
    filled: str, told: Snapshot | None, status: int, why: str | None
) -> None:
    with Page(filled, lambda: told) as page:
        answer = page.ask("/healthz")

    assert (status, why) == (answer.status, json.loads(answer.body).get("why"))
    assert "application/json" == answer.fields["content-type"]


def test_a_fault_of_ours_is_told_in_the_log_and_not_to_the_viewer(
    filled: str, caplog: pytest.LogCaptureFixture
) -> None:
    def ask() -> Snapshot:
        raise ZeroDivisionError("secret")

    with Page(filled, ask) as page:
        answer = page.ask("/")

    assert (500, "A fault of ours; the log tells more.\n") == (answer.status, answer.text)
    assert ["web_fault"] == [
        getattr(record, "event", "") for record in caplog.records if record.name.startswith("junkai")
    ]


# ── the process ──────────────────────────────────────────────────────────────────────────────────────────────────

PROGRAM = """
import socket, sys
from junkai import config
from junkai.web.server import serve
listener = socket.socket(fileno=int(sys.argv[1]))
serve(config.load(command_line={"store": sys.argv[2]}).settings, listener, status_port=0)
print("ended")
"""


def test_the_process_ends_at_once_and_cleanly_when_told_to(filled: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(listener.fileno()), filled],
            pass_fds=(listener.fileno(),),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        try:
            connection = http.client.HTTPConnection("127.0.0.1", listener.getsockname()[1], timeout=20)
            connection.request("GET", "/healthz")  # kept open: an idle connection must not hold the end up
            health = Answer(connection.getresponse())
            process.send_signal(signal.SIGTERM)
            output, errors = process.communicate(timeout=10)
            connection.close()
        finally:
            process.kill()

    assert (503, "The manager does not answer.") == (health.status, json.loads(health.body)["why"])
    assert (0, b"ended\n", b"") == (process.returncode, output, errors)
