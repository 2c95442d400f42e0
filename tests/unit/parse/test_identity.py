"""Entries must neither merge nor come back as new."""

from __future__ import annotations

import pytest

from junkai.document import Document, IdSource
from junkai.parse import parse_document

URL = "https://a.example/feed.xml"


def feed(*items: str) -> bytes:
    return f"<rss version='2.0'><channel>{''.join(f'<item>{item}</item>' for item in items)}</channel></rss>".encode()


def parsed(*items: str, known: bytes = b"") -> Document:
    return parse_document(feed(*items), url=URL, known=known)


def ids(document: Document) -> list[tuple[str, IdSource]]:
    return [(entry.id, entry.id_source) for entry in document.entries]


def test_the_guid_is_the_id() -> None:
    assert [("tag:1", IdSource.ID)] == ids(
        parsed("<guid isPermaLink='false'> tag:1 </guid><link>https://a.example/1</link>")
    )


def test_without_a_guid_the_canonical_link_is_the_id() -> None:
    document = parsed("<link>https://A.example:443/%7Eann?x=1#top</link>", "<guid> </guid><link>/2</link>")

    assert [("https://a.example/~ann?x=1", IdSource.LINK), ("https://a.example/2", IdSource.LINK)] == ids(document)


def test_without_guid_and_link_it_is_a_fingerprint_of_title_date_and_content() -> None:
    items = ("<title>a</title>", "<title>b</title>", "<title>a</title><pubDate>Mon, 04 May 2026 09:00:00 GMT</pubDate>")
    document = parsed(*items)

    assert [IdSource.FINGERPRINT] * 3 == [entry.id_source for entry in document.entries]
    assert 3 == len({entry.id for entry in document.entries})
    assert ids(document) == ids(parsed(*items))


def test_an_item_with_nothing_in_it_has_an_id() -> None:
    assert IdSource.FINGERPRINT == parsed("").entries[0].id_source


@pytest.mark.parametrize("link", ["<link>https://a.example/{}</link>", "<title>t{}</title>"])
def test_one_guid_for_all_items_merges_none(link: str) -> None:
    items = [f"<guid>N/A</guid><pubDate>Invalid Date</pubDate>{link.format(number)}" for number in range(3)]
    document = parsed(*items)

    assert {IdSource.COMPOSITE} == {entry.id_source for entry in document.entries}
    assert 3 == len({entry.id_hash for entry in document.entries})
    assert [] == list(parsed(*reversed(items), known=document.known).entries)


def test_one_link_for_all_items_without_guid_merges_none() -> None:
    document = parsed(*(f"<link>https://a.example/</link><title>t{number}</title>" for number in range(3)))

    assert 3 == len({entry.id_hash for entry in document.entries})


def test_the_same_item_twice_is_one_entry() -> None:
    document = parsed("<guid>1</guid><title>t</title>", "<guid>1</guid><title>t</title>")

    assert (1, 1, ["repeated_entry"]) == (
        len(document.entries),
        document.entry_count,
        [problem.code for problem in document.problems],
    )


def test_an_entry_whose_id_comes_to_repeat_stays_what_it_was() -> None:
    one = "<guid>x</guid><link>https://a.example/1</link>"
    two = "<guid>x</guid><link>https://a.example/2</link>"
    first = parsed(one)
    second = parsed(two, one, known=first.known)

    assert [IdSource.COMPOSITE] == [entry.id_source for entry in second.entries]
    assert "https://a.example/2" == second.entries[0].url
    assert first.known in second.known


def test_an_entry_whose_id_repeats_no_longer_stays_what_it_was() -> None:
    one = "<guid>x</guid><link>https://a.example/1</link>"
    two = "<guid>x</guid><link>https://a.example/2</link>"
    edited = f"{one}<title>edited</title>"
    first = parsed(two, one)
    later = parsed(edited, known=first.known)

    assert [first.entries[1].id_hash] == [entry.id_hash for entry in later.entries]


def test_ids_that_differ_by_scheme_or_tracking_query_stay_apart() -> None:
    document = parsed(
        "<guid>http://a.example/1</guid>",
        "<guid>https://a.example/1</guid>",
        "<guid>https://a.example/1?utm_source=x</guid>",
    )

    assert 3 == len({entry.id_hash for entry in document.entries})


def test_the_hash_of_a_long_id_is_over_all_of_it() -> None:
    document = parsed(f"<guid>{'x' * 5_000}1</guid>", f"<guid>{'x' * 5_000}2</guid>")

    assert 2 == len({entry.id_hash for entry in document.entries})
    assert {4_000} == {len(entry.id) for entry in document.entries}


def test_known_entries_are_counted_and_left_out() -> None:
    items = [
        f"<guid>{number}</guid><pubDate>Mon, 0{number} May 2026 09:00:00 GMT</pubDate><title>t</title>"
        for number in (1, 2, 3)
    ]
    first = parsed(*items)
    second = parsed(*items, known=first.known)
    changed = parsed(items[0], f"{items[1]}<description>more</description>", items[2], known=first.known)

    assert (3, 48) == (len(first.entries), len(first.known))
    assert ((), first.known, 3, first.posted_at) == (
        second.entries,
        second.known,
        second.entry_count,
        second.posted_at,
    )
    assert [first.entries[1].id_hash] == [entry.id_hash for entry in changed.entries]
    assert first.entries[1].content_hash != changed.entries[0].content_hash


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<pubDate>Mon, 04 May 2026 09:00:00 GMT</pubDate>", "<pubDate>Mon, 04 May 2026 09:05:00 GMT</pubDate>"),
        ("<link>https://a.example/1?t=1</link>", "<link>https://a.example/1?t=2</link>"),
        ("<enclosure url='https://a.example/1.mp3?t=1'/>", "<enclosure url='https://a.example/1.mp3?t=2'/>"),
        ("<slash:comments xmlns:slash='http://purl.org/rss/1.0/modules/slash/'>1</slash:comments>", ""),
    ],
)
def test_what_varies_by_itself_is_no_edit(before: str, after: str) -> None:
    first, second = (parsed(f"<guid>1</guid><title>t</title>{varying}").entries[0] for varying in (before, after))

    assert first.content_hash == second.content_hash


def test_the_content_hash_does_not_depend_on_where_the_feed_was_found() -> None:
    body = feed("<guid>1</guid><description>&lt;a href='/x'&gt;x&lt;/a&gt;</description>")
    here, there = (parse_document(body, url=url).entries[0] for url in (URL, "https://b.example/"))

    assert (here.content_hash, here.id_hash) == (there.content_hash, there.id_hash)
    assert here.summary_html != there.summary_html


def test_long_ids_that_begin_alike_are_shown_apart() -> None:
    document = parsed(*(f"<guid isPermaLink='false'>{'x' * 5_000}{number}</guid>" for number in range(3)))

    assert 3 == len({entry.id for entry in document.entries})
    assert [4_000] * 3 == [len(entry.id) for entry in document.entries]
