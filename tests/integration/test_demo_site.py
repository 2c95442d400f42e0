"""The demo site as a process: it serves on addresses of its own, and does not outlive who started it."""

from __future__ import annotations

import http.client
import subprocess
import sys

import pytest

from junkai.demo import start_demo_site
from junkai.parse.opml import read_opml

#: A process that starts a site, says where, and waits.
STARTER = (
    "import sys; from junkai.demo import start_demo_site\n"
    "with start_demo_site(feeds=3) as site: print(site.feeds[0].url, flush=True); sys.stdin.read()"
)


def status(url: str) -> int:
    """The status of a GET; ConnectionRefusedError where nobody listens."""
    host, path = url.removeprefix("http://").split("/", 1)
    connection = http.client.HTTPConnection(host, timeout=5)
    try:
        connection.request("GET", f"/{path}")
        return connection.getresponse().status
    finally:
        connection.close()


def is_refused_at_last(url: str) -> bool:
    """Ask until nobody listens: the site has seen its standard input end."""
    try:
        for _ in range(100_000):
            status(url)
    except (ConnectionError, http.client.RemoteDisconnected):
        return True
    return False


def test_the_site_serves_each_feed_at_its_own_address_until_the_block_is_left() -> None:
    with start_demo_site(feeds=20) as site:
        urls = [feed.url for feed in site.feeds]
        listed = read_opml(site.opml, "the demo").feeds
        statuses = [status(url) for url in urls[:6]]

    assert 20 == len({url.removeprefix("http://").split("/")[0] for url in urls})
    assert [200] * 6 == statuses
    assert sorted(urls) == sorted(feed.url for feed in listed)
    assert {feed.title for feed in site.feeds} == {feed.title for feed in listed}
    with pytest.raises(ConnectionRefusedError):
        status(urls[0])


def test_the_site_ends_when_the_process_that_started_it_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", STARTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as starter:
        assert starter.stdout is not None
        url = starter.stdout.readline().decode().strip()
        before = status(url)
        starter.kill()

    assert 200 == before
    assert is_refused_at_last(url)


def test_a_site_that_cannot_start_says_so() -> None:
    too_few_files = f"ulimit -n 40; exec '{sys.executable}' -c '{STARTER.replace('feeds=3', 'feeds=300')}'"

    ended = subprocess.run(["/bin/sh", "-c", too_few_files], capture_output=True, text=True, check=False, timeout=30)

    assert 1 == ended.returncode
    assert "JunkaiError: demo site: ended while it started" in ended.stderr
    assert "demo site: cannot listen on loopback" in ended.stderr
