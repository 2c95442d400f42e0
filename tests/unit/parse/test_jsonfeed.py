"""JSON Feed 1.0 and 1.1."""

from __future__ import annotations

import json
from typing import Any

import pytest

from junkai.document import Document, Enclosure, Person
from junkai.errors import NotADocumentError
from junkai.parse import parse_document

URL = "https://a.example/feed.json"


def feed(*items: Any, **fields: Any) -> Document:
    body = {"version": "https://jsonfeed.org/version/1.1", "items": items} | fields
    return parse_document(json.dumps(body).encode(), url=URL)


def test_the_feed_describes_itself() -> None:
    document = feed(
        title="f",
        home_page_url="https://a.example/",
        feed_url="feed.json",
        description="d",
        language="en",
        icon="/i.png",
        authors=[{"name": "Ann", "url": "https://ann.example/"}],
        hubs=[{"type": "WebSub", "url": "https://hub.example/"}, 7],
    )

    assert ("json", "1.1", "f", "d", "en") == (
        document.format,
        document.version,
        document.title,
        document.description,
        document.language,
    )
    assert ("https://a.example/", URL, "https://a.example/i.png", ("https://hub.example/",)) == (
        document.site_url,
        document.feed_url,
        document.icon_url,
        document.hub_urls,
    )
    assert (Person(name="Ann", uri="https://ann.example/"),) == document.authors


@pytest.mark.parametrize(
    ("written", "expected"), [("x", "x"), (7, "7"), (7.0, "7"), (1.5, "1.5"), (10**20, str(10**20)), (" y ", "y")]
)
def test_an_id_of_any_type_is_a_string(written: Any, expected: str) -> None:
    assert expected == feed({"id": written}).entries[0].id


@pytest.mark.parametrize("written", [None, True, [], {}, "", 10**400])
def test_what_is_no_id_is_no_fault(written: Any) -> None:
    assert "https://a.example/1" == feed({"id": written, "url": "/1"}).entries[0].id


def test_html_wins_over_text_and_text_is_escaped() -> None:
    document = feed(
        {"id": 1, "content_html": "<p>h</p>", "content_text": "t"}, {"id": 2, "content_text": "1 < 2\n& <script>"}
    )

    assert ["<p>h</p>", "1 &lt; 2<br>&amp; &lt;script&gt;"] == [entry.content_html for entry in document.entries]


def test_date_modified_is_read_by_the_name_that_the_standard_gives_it() -> None:
    entry = feed({"id": 1, "date_published": "2026-05-04T09:00:00Z", "date_modified": "2026-05-05T09:00:00Z"}).entries[
        0
    ]

    assert entry.published_at is not None
    assert entry.updated_at is not None
    assert (4, 5) == (entry.published_at.day, entry.updated_at.day)


def test_attachments_are_enclosures_and_a_huge_size_is_none() -> None:
    entry = feed(
        {
            "id": 1,
            "image": "/i.png",
            "tags": ["x", 7, None],
            "attachments": [
                {
                    "url": "/a.mp3",
                    "mime_type": "audio/mpeg",
                    "size_in_bytes": 5,
                    "duration_in_seconds": 1.5,
                    "title": "A",
                },
                {"url": "/b.mp3", "size_in_bytes": 1e300},
                {"url": "javascript:x"},
                "odd",
            ],
        }
    ).entries[0]

    assert (
        Enclosure(url="https://a.example/a.mp3", type="audio/mpeg", length=5, title="A", duration_s=1.5),
        Enclosure(url="https://a.example/b.mp3"),
    ) == entry.enclosures
    assert ("https://a.example/i.png", ["x", "7"]) == (
        entry.image_url,
        [category.term for category in entry.categories],
    )


def test_an_author_of_version_1_counts_and_the_feeds_stand_in() -> None:
    document = feed({"id": 1, "author": {"name": "Bo"}}, {"id": 2}, author={"name": "Ann"})

    assert [(Person(name="Bo"),), (Person(name="Ann"),)] == [entry.authors for entry in document.entries]


@pytest.mark.parametrize("value", [None, 7, "x", [], {}, [7], {"a": []}, True])
def test_no_type_of_any_field_makes_it_fail(value: Any) -> None:
    names = "id url title content_html summary date_published authors author tags attachments image language".split()
    top = dict.fromkeys("title home_page_url feed_url hubs icon language authors author description".split(), value)

    assert 1 == feed(dict.fromkeys(names, value), **top).entry_count


def test_characters_that_no_store_holds_are_left_out() -> None:
    body = b'{"version": "https://jsonfeed.org/version/1", "title": "a\\u0000b\\ud800c", "items": []}'

    assert "ab\ufffdc" == parse_document(body, url=URL).title


def test_json_with_small_faults_is_read_with_a_problem() -> None:
    document = parse_document(b'{"version": "https://jsonfeed.org/version/1", "title": "a\tb", "items": []}', url=URL)

    assert ("a b", ["bad_json"]) == (document.title, [problem.code for problem in document.problems])


@pytest.mark.parametrize(
    "body", [b"{}", b'{"items": 7}', b'{"version": "2"}', b"{", b'{"a": tru}', b'{"items": [1e999999]']
)
def test_json_of_another_kind_is_no_document(body: bytes) -> None:
    with pytest.raises(NotADocumentError):
        parse_document(body, url=URL)


def test_a_number_of_thousands_of_digits_costs_its_own_field_only() -> None:
    body = b'{"version": "https://jsonfeed.org/version/1.1", "x": %s, "items": [{"id": %s}]}'
    document = parse_document(body % (b"9" * 5_000, b"9" * 30), url=URL)

    assert ["9" * 30] == [entry.id for entry in document.entries]
