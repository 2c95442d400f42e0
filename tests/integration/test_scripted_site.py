"""The scripted site itself: what it serves, and that its log can be believed."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from asked_log import Asked
from scripted_site import Answer, ScriptedSite

SCRIPT = Path(__file__).parent.parent / "scripted_site.py"


@pytest.fixture
def site() -> Iterator[ScriptedSite]:
    """A running site without paths."""
    with ScriptedSite() as running:
        yield running


def get(url: str, method: str = "GET", **fields: str) -> tuple[int, dict[str, str], bytes]:
    """Status, fields and body of one exchange on a connection of its own."""
    host, path = url.removeprefix("http://").split("/", 1)
    connection = http.client.HTTPConnection(host, timeout=5)
    try:
        connection.request(
            method, f"/{path}", headers={name.replace("_", "-"): value for name, value in fields.items()}
        )
        response = connection.getresponse()
        return response.status, dict(response.getheaders()), response.read()
    finally:
        connection.close()


def test_a_document_is_served_with_an_etag_and_then_as_not_modified(site: ScriptedSite) -> None:
    url = site.put(1, "/feed.xml", b"<rss/>", ("Content-Type", "application/rss+xml"))

    status, fields, body = get(url)
    again, _, nothing = get(url, If_None_Match=fields["ETag"])
    changed = get(site.put(1, "/feed.xml", "<rss>new</rss>"), If_None_Match=fields["ETag"])

    assert (200, b"<rss/>", "application/rss+xml") == (status, body, fields["Content-Type"])
    assert (304, b"") == (again, nothing)
    assert (200, b"<rss>new</rss>") == (changed[0], changed[2])
    assert [False, True, True] == [asked.is_conditional for asked in site.asked]


def test_each_host_number_is_an_address_of_its_own(site: ScriptedSite) -> None:
    hosts = [site.host(number) for number in range(1, 301)]
    site.put(260, "/", b"two hundred and sixty")

    assert 300 == len(set(hosts))
    assert b"two hundred and sixty" == get(f"http://{hosts[259]}/")[2]
    assert 404 == get(f"http://{hosts[0]}/")[0]
    assert ([hosts[259]], [hosts[0]]) == ([asked.host for asked in site.asked_at(260)], [site.asked[1].host])


def test_a_list_is_answered_in_turn_and_a_function_sees_the_request(site: ScriptedSite) -> None:
    url = site.put(1, "/flaky", [Answer(status=503, fields=(("Retry-After", "9"),)), b"ok"])
    echo = site.put(1, "/echo", lambda asked: asked.fields["user-agent"])

    answers = [get(url) for _ in range(3)]

    assert [503, 200, 200] == [status for status, _, _ in answers]
    assert "9" == answers[0][1]["Retry-After"]
    assert b"an agent" == get(f"{echo}?query=is+ignored", User_Agent="an agent")[2]


def test_only_get_is_answered(site: ScriptedSite) -> None:
    url = site.put(1, "/feed.xml", b"<rss/>")

    assert 405 == get(url, "HEAD")[0]
    assert ["HEAD"] == [asked.method for asked in site.asked]


def test_chunks_and_drips_arrive_whole_and_a_cut_body_does_not(site: ScriptedSite) -> None:
    body = b"0123456789" * 20
    chunked = site.put(1, "/chunked", Answer(body=body, is_chunked=True, piece_bytes=33))
    drip = site.put(1, "/drip", Answer(body=body, piece_bytes=100, piece_pause_s=0.01))
    close = site.put(1, "/close", Answer(body=body, is_close_delimited=True))
    raw = site.put(1, "/raw", Answer(raw=b"HTTP/1.0 200 OK\n\nbare"))
    cut = site.put(1, "/cut", Answer(body=body, cut_after_bytes=50))
    cut_chunks = site.put(1, "/cut-chunks", Answer(body=body, cut_after_bytes=50, is_chunked=True))

    assert [body, body, body, b"bare"] == [get(url)[2] for url in (chunked, drip, close, raw)]
    for url in (cut, cut_chunks):
        with pytest.raises(http.client.IncompleteRead) as caught:
            get(url)
        assert 50 == len(caught.value.partial)


def test_a_connection_is_kept_for_the_next_request(site: ScriptedSite) -> None:
    site.put(1, "/a", b"a")
    connection = http.client.HTTPConnection(site.host(1), timeout=5)
    bodies = []
    for _ in range(3):
        connection.request("GET", "/a")
        bodies.append(connection.getresponse().read())
    connection.close()

    assert [b"a"] * 3 == bodies
    assert [] == site.overlaps()
    assert 2 == len(site.gaps_below(60))
    assert [] == site.gaps_below(0)


def test_requests_at_the_same_time_overlap_only_on_the_same_host(site: ScriptedSite) -> None:
    waiting = [http.client.HTTPConnection(site.host(number), timeout=5) for number in (1, 1, 2)]
    for number in (1, 2):
        site.put(number, "/slow", Answer(body=b"late", delay_s=0.1))
    for connection in waiting:
        connection.request("GET", "/slow")
    bodies = [connection.getresponse().read() for connection in waiting]
    for connection in waiting:
        connection.close()

    assert [b"late"] * 3 == bodies
    assert [(site.host(1), site.host(1))] == [(a.host, b.host) for a, b in site.overlaps()]
    assert all(duration(asked) >= 0.1 for asked in site.asked)


def test_a_client_that_goes_away_ends_its_request(site: ScriptedSite) -> None:
    site.put(1, "/never", Answer(delay_s=600))
    connection = http.client.HTTPConnection(site.host(1), timeout=5)
    connection.request("GET", "/never")
    site.wait_for(1)
    connection.close()
    site.wait_until_idle()

    [asked] = site.asked

    assert (True, 0) == (asked.is_aborted, asked.status)
    assert duration(asked) < 60


def test_a_large_answer_ends_when_the_client_has_taken_it(site: ScriptedSite) -> None:
    site.put(1, "/large", b"x" * (32 << 20))
    connection = http.client.HTTPConnection(site.host(1), timeout=5)
    connection.request("GET", "/large")
    response = connection.getresponse()
    response.read(1)
    [asked] = site.asked

    assert asked.ended_at is None

    response.read()
    connection.close()
    site.wait_until_idle()

    assert not asked.is_aborted


def test_it_runs_as_a_process_of_its_own(tmp_path: Path) -> None:
    spec, log = tmp_path / "spec.json", tmp_path / "log.jsonl"
    spec.write_text(json.dumps({"1": {"/a": {"body": "A"}}, "2": {"/gone": {"status": 410, "fields": {"X": "y"}}}}))
    command = [sys.executable, str(SCRIPT), "--spec", str(spec), "--log", str(log)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        hosts: dict[str, Any] = json.loads(process.stdout.readline())
        first, second = get(f"http://{hosts['1']}/a"), get(f"http://{hosts['2']}/gone")
        process.communicate(timeout=10)

    assert (0, b"A", 410, "y") == (process.returncode, first[2], second[0], second[1]["X"])
    assert ["/a", "/gone"] == [json.loads(line)["path"] for line in log.read_text().splitlines()]


def duration(asked: Asked) -> float:
    """Seconds that an ended request took."""
    assert asked.ended_at is not None
    return asked.ended_at - asked.started_at
