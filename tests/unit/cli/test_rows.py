"""The objects that --json prints: every key, every time."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import msgspec

from junkai import visitlog
from junkai.backend.listed import FeedRow, HostRow, StoredEntry
from junkai.cli import rows
from junkai.document import Document, Enclosure, Entry, IdSource, Person
from junkai.errors import FailureKind
from junkai.model import CrawlState, Failed, Hop, NotModified, Source, SourceState, Validators, Visit

NOW = datetime(2026, 11, 27, 13, 48, tzinfo=UTC)
URL = "https://blog.example/feed"


def as_printed(keys: rows.Keys) -> dict[str, Any]:
    printed: dict[str, Any] = json.loads(msgspec.json.encode(keys))
    return printed


def feed_row(state: SourceState) -> FeedRow:
    source = Source(source_id=1, url=URL, host="blog.example", state=state)
    return FeedRow(source=source, owners=(), groups=(), title="", entries=0)


def test_a_feed_has_the_promised_keys_when_nothing_is_known_of_it() -> None:
    actual = as_printed(rows.feed_keys(feed_row(SourceState())))

    promised = (
        "url state owners groups title site_url http_status etag last_modified last_visit_at next_visit_at"
        " next_visit_why interval_s failures error entries"
    )
    assert set() == set(promised.split()) - set(actual)
    assert (URL, "discovered", [], None, 0) == (
        actual["url"],
        actual["state"],
        actual["owners"],
        actual["etag"],
        actual["failures"],
    )


def test_a_feed_carries_its_validators_byte_for_byte_and_its_moments_in_utc() -> None:
    state = SourceState(
        state=CrawlState.FETCHED,
        due_at=NOW,
        validators=Validators(url=URL, etag='W/"a"', last_modified="Thu, 26 Nov 2026 22:02:11 GMT"),
        last_visit_at=NOW,
    )

    actual = as_printed(rows.feed_keys(feed_row(state)))

    assert ('W/"a"', "Thu, 26 Nov 2026 22:02:11 GMT") == (actual["etag"], actual["last_modified"])
    assert ("2026-11-27T13:48:00Z", "2026-11-27T13:48:00Z") == (actual["last_visit_at"], actual["next_visit_at"])


def test_a_feed_page_has_its_visits_newest_first() -> None:
    recent = b""
    for second, status in ((1, 404), (2, 304)):
        outcome = Failed(kind=FailureKind.NOT_FOUND, status=404) if status == 404 else NotModified()
        at = NOW.replace(second=second)
        recent = visitlog.appended(recent, Visit(source_id=1, url=URL, started_at=at, ended_at=at, outcome=outcome))

    actual = as_printed(rows.feed_page_keys(feed_row(SourceState(recent=recent)), NOW))

    assert [("not_modified", 304), ("failed", 404)] == [
        (visit["outcome"], visit["status"]) for visit in actual["visits"]
    ]


def test_a_bare_entry_has_every_key() -> None:
    stored = StoredEntry(
        seq=7, feed_url=URL, entry=Entry(id="a", id_source=IdSource.ID, id_hash=b"x"), first_seen_at=NOW, revision=1
    )

    actual = as_printed(rows.entry_keys(stored))

    promised = (
        "feed_url id url title authors published_at updated_at first_seen_at content_html summary_html categories"
        " enclosures revision"
    )
    assert set() == set(promised.split()) - set(actual)
    assert ("", None, [], [], 1) == (
        actual["title"],
        actual["url"],
        actual["authors"],
        actual["enclosures"],
        actual["revision"],
    )
    assert set() == {"id_hash", "content_hash"} & set(actual)


def test_a_document_has_every_key_down_to_its_entries_parts_and_no_bytes() -> None:
    entry = Entry(
        id="a",
        id_source=IdSource.ID,
        authors=(Person(name="Aki"),),
        enclosures=(Enclosure(url="https://blog.example/a.mp3"),),
    )

    actual = as_printed(rows.document_keys(Document(format="rss", entries=(entry,), known=b"k")))

    (printed,) = actual["entries"]
    assert [{"name": "Aki", "email": "", "uri": ""}] == printed["authors"]
    assert {
        "url": "https://blog.example/a.mp3",
        "type": "",
        "length": None,
        "title": "",
        "duration_s": None,
    } == printed["enclosures"][0]
    assert ("", [], "known" in actual) == (actual["title"], actual["problems"], False)


def test_a_visit_says_its_hops_and_its_failure() -> None:
    hop = Hop(url="http://blog.example/", status=301, to=URL)
    visit = Visit(
        source_id=0,
        url=URL,
        started_at=NOW,
        ended_at=NOW,
        outcome=Failed(kind=FailureKind.TLS, detail="certificate expired"),
        hops=(hop,),
    )

    actual = as_printed(rows.visit_keys(visit))

    assert ("tls", None, "certificate expired") == (actual["outcome"], actual["status"], actual["detail"])
    assert [{"url": "http://blog.example/", "status": 301, "to": URL}] == actual["hops"]


def test_a_host_has_its_hold_in_two_keys() -> None:
    row = HostRow(
        host="blog.example",
        domain="blog.example",
        slots=1,
        delay_s=1.0,
        sources=1,
        due=0,
        ready_at=None,
        not_before=None,
        hold=None,
        lease_until=None,
        owner=None,
        is_exempt=False,
        is_blocked=False,
    )

    actual = as_printed(rows.host_keys(row))

    assert (None, None, 1.0) == (actual["hold_until"], actual["hold_why"], actual["delay_s"])
