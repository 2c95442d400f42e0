"""RSS of every version, and what people make of it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from junkai.document import Category, Document, Enclosure, Person
from junkai.parse import parse_document
from junkai.parse.sanitize import text_of_entry

URL = "https://a.example/blog/feed.xml"
NAMESPACES = (
    'xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/"'
    ' xmlns:atom="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/"'
    ' xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"'
    ' xmlns:feedburner="http://rssnamespace.org/feedburner/ext/1.0"'
)


def channel(inner: str) -> Document:
    return parse_document(f"<rss version='2.0' {NAMESPACES}><channel>{inner}</channel></rss>".encode(), url=URL)


def item(inner: str, before: str = "") -> Document:
    return channel(f"{before}<item>{inner}</item>")


@pytest.mark.parametrize(
    ("root", "end", "version"),
    [
        ("<rss version='0.91'><channel>", "</channel></rss>", "0.91"),
        ("<rss version='2.0'><channel>", "</channel></rss>", "2.0"),
        ("<rss><channel>", "</channel></rss>", ""),
        ("<RSS><Channel>", "</Channel></RSS>", ""),
        ("<rss xmlns='http://backend.userland.com/rss2'><channel>", "</channel></rss>", ""),
        ("<rss xmlns='http://wrong.example/'><channel>", "</channel></rss>", ""),
        ("<rss xmlns='http://www.w3.org/2005/Atom'><channel>", "</channel></rss>", ""),
        ("<a:rss xmlns:a='urn:x'><a:channel xmlns='urn:x'>", "</a:channel></a:rss>", ""),
        ("<channel>", "</channel>", ""),
        ("<rss><channel></channel>", "</rss>", ""),
        ("<rss>", "</rss>", ""),
    ],
)
def test_any_root_that_is_meant_for_rss_is_rss(root: str, end: str, version: str) -> None:
    document = parse_document(f"{root}<item><title>t</title></item>{end}".encode(), url=URL)

    assert ("rss", version, ["t"]) == (document.format, document.version, [entry.title for entry in document.entries])


def test_tags_in_capitals_are_the_same_tags() -> None:
    body = b"<RSS><CHANNEL><TITLE>f</TITLE><ITEM><TITLE>t</TITLE><LINK>/1</LINK></ITEM></CHANNEL></RSS>"
    document = parse_document(body, url=URL)

    assert ("f", "t", "https://a.example/1") == (document.title, document.entries[0].title, document.entries[0].url)


def test_an_empty_feed_is_a_document_without_entries() -> None:
    assert (0, ()) == (channel("").entry_count, channel("").entries)


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Tom &amp; Ann", "Tom & Ann"),
        ("Tom &amp;amp; Ann", "Tom & Ann"),
        ("&lt;b&gt;bold&lt;/b&gt; move", "bold move"),
        ("<![CDATA[<i>x</i> &amp; y]]>", "x & y"),
        ("<![CDATA[a]]> and <![CDATA[b]]>", "a and b"),
        ("maps of &lt;three&gt; lands", "maps of <three> lands"),
        ("1 &lt; 2", "1 < 2"),
        ("\n  folded\n  line ", "folded line"),
        ("<b>real</b> markup", "real markup"),
        ("&amp;#" + "9" * 5_000 + ";", "&#" + "9" * 5_000 + ";"),
    ],
)
def test_a_title_is_one_line_of_plain_text(title: str, expected: str) -> None:
    assert expected == item(f"<title>{title}</title>").entries[0].title


def test_unknown_children_are_skipped_and_a_bare_encoded_is_content() -> None:
    document = item(
        "<title>t</title><encoded>full</encoded><x:y xmlns:x='urn:x'><x:title>no</x:title></x:y>",
        "<cloud><x/></cloud><image><title>no</title></image>",
    )

    assert ("", "t", "full") == (document.title, document.entries[0].title, document.entries[0].content_html)


def test_content_and_summary_are_kept_apart_and_the_text_is_the_contents() -> None:
    entry = item("<description>short</description><content:encoded>&lt;p&gt;long&lt;/p&gt;</content:encoded>").entries[
        0
    ]

    assert ("short", "<p>long</p>", "long") == (entry.summary_html, entry.content_html, text_of_entry(entry))


def test_markup_that_was_not_escaped_is_markup() -> None:
    entry = item("<description>a <b>b</b><br/><a href='/x'>c</a></description>").entries[0]

    assert "a b c" == text_of_entry(entry)
    assert 'href="https://a.example/x"' in entry.summary_html


def test_scripts_do_not_survive() -> None:
    entry = item(
        "<description>&lt;script&gt;x()&lt;/script&gt;&lt;p onclick='x()'&gt;a&lt;/p&gt;</description>"
    ).entries[0]

    assert "<p>a</p>" == entry.summary_html


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("<link>https://a.example/1</link>", "https://a.example/1"),
        ("<link> 1.html </link>", "https://a.example/blog/1.html"),
        ("<link href='/1'/>", "https://a.example/1"),
        ("<atom:link href='/1'/>", "https://a.example/1"),
        ("<atom:link rel='self' href='/0'/><link>/1</link>", "https://a.example/1"),
        ("<link/><guid>https://a.example/1</guid>", "https://a.example/1"),
        ("<guid isPermaLink='true'>https://a.example/1</guid>", "https://a.example/1"),
        ("<guid ispermalink='FALSE'>https://a.example/1</guid>", None),
        ("<guid>1</guid>", None),
        ("<link>http://[bad</link>", None),
        ("<link>at://did:plc:x/1</link><guid>https://a.example/1</guid>", "https://a.example/1"),
        ("<link>javascript:alert(1)</link>", None),
        ("<feedburner:origLink>https://b.example/1</feedburner:origLink><link>/1</link>", "https://b.example/1"),
        ("<link xml:base='https://c.example/d/'>1</link>", "https://c.example/d/1"),
    ],
)
def test_the_url_is_the_best_link_that_can_be_visited(fields: str, expected: str | None) -> None:
    assert expected == item(fields).entries[0].url


def test_one_bad_url_costs_its_own_field_only() -> None:
    entry = item(
        "<title>t</title><enclosure url='http://[bad'/><enclosure url='/a.mp3'/><comments>::</comments>"
    ).entries[0]

    assert (["https://a.example/a.mp3"], "t") == ([each.url for each in entry.enclosures], entry.title)


def test_enclosures_come_once_with_what_is_said_of_them() -> None:
    entry = item(
        "<enclosure url='https://a.example/a.mp3' type='audio/mpeg' length='123'/><itunes:duration>1:02:03</itunes:duration>"
        "<media:group><media:content url='https://a.example/a.mp3' type='audio/mpeg'/>"
        "<media:content url='https://a.example/b.mp4' fileSize='1e400' medium='video' duration='7'/></media:group>"
    ).entries[0]

    assert (
        Enclosure(url="https://a.example/a.mp3", type="audio/mpeg", length=123, duration_s=3723.0),
        Enclosure(url="https://a.example/b.mp4", type="video/*", duration_s=7.0),
    ) == entry.enclosures


@pytest.mark.parametrize(
    "fields",
    [
        "<media:thumbnail url='/i.png'/>",
        "<media:thumbnail>https://a.example/i.png</media:thumbnail>",
        "<media:group><media:thumbnail url='/i.png'/></media:group>",
        "<media:content url='/i.png' medium='image'/>",
        "<itunes:image href='/i.png'/>",
        "<image><url>/i.png</url></image>",
    ],
)
def test_an_image_is_found_wherever_it_is_said(fields: str) -> None:
    assert "https://a.example/i.png" == item(fields).entries[0].image_url


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("<author>ann@a.example (Ann)</author>", [Person(name="Ann", email="ann@a.example")]),
        ("<author>Ann &lt;ann@a.example&gt;</author>", [Person(name="Ann", email="ann@a.example")]),
        ("<author>ann@a.example</author>", [Person(email="ann@a.example")]),
        ("<dc:creator>Ann</dc:creator><dc:creator>Bo</dc:creator>", [Person(name="Ann"), Person(name="Bo")]),
        ("<author>Ann</author><dc:creator>Ann</dc:creator>", [Person(name="Ann")]),
        ("<itunes:author>Ann</itunes:author>", [Person(name="Ann")]),
        ("<atom:author><atom:name>Ann</atom:name></atom:author>", [Person(name="Ann")]),
    ],
)
def test_authors_are_people(fields: str, expected: list[Person]) -> None:
    assert expected == list(item(fields).entries[0].authors)


def test_categories_comments_language_and_dates_are_read() -> None:
    entry = item(
        "<category domain='d'>x</category><category>x</category><dc:subject>y</dc:subject><comments>/c</comments>"
        "<dc:language>pt_BR</dc:language><dc:date>2026-05-04T09:00:00Z</dc:date><atom:updated>2026-05-05</atom:updated>"
    ).entries[0]

    assert (Category(term="x", scheme="d"), Category(term="x"), Category(term="y")) == entry.categories
    assert ("https://a.example/c", "pt-BR") == (entry.comments_url, entry.language)
    assert (datetime(2026, 5, 4, 9, tzinfo=UTC), datetime(2026, 5, 5, tzinfo=UTC)) == (
        entry.published_at,
        entry.updated_at,
    )


def test_a_date_that_cannot_be_read_is_no_date_and_a_problem() -> None:
    document = item("<pubDate>Tue,</pubDate>")

    assert (None, (), ["bad_date"]) == (
        document.entries[0].published_at,
        document.posted_at,
        [problem.code for problem in document.problems],
    )


def test_the_channel_says_when_to_come_back() -> None:
    document = channel(
        "<ttl>90</ttl><skipHours><hour>0</hour><hour>24</hour><hour>13</hour><hour>99</hour></skipHours>"
        "<skipDays><day>Sunday</day><day>monday</day><day>Someday</day></skipDays>"
        "<sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>4</sy:updateFrequency>"
    )

    assert (5_400, (0, 13), (0, 6), 21_600) == (
        document.ttl_s,
        document.skip_hours,
        document.skip_days,
        document.update_period_s,
    )


@pytest.mark.parametrize(
    "hints",
    ["<ttl>soon</ttl>", "<ttl>-5</ttl>", "<ttl>nan</ttl>", "<ttl>0</ttl>", "<sy:updatePeriod>often</sy:updatePeriod>"],
)
def test_hints_that_are_garbage_are_no_hints(hints: str) -> None:
    assert (None, None) == (channel(hints).ttl_s, channel(hints).update_period_s)


def test_the_channel_describes_itself() -> None:
    document = channel(
        "<title>F &amp; G</title><link>https://a.example/</link><description>&lt;i&gt;about&lt;/i&gt;</description>"
        "<language>ja</language><atom:link rel='self' href='feed.xml'/><atom:link rel='hub' href='https://hub.example/'/>"
        "<managingEditor>ann@a.example (Ann)</managingEditor><image><url>/i.png</url></image>"
        "<lastBuildDate>Mon, 04 May 2026 09:00:00 GMT</lastBuildDate>"
    )

    assert ("F & G", "https://a.example/", "about", "ja") == (
        document.title,
        document.site_url,
        document.description,
        document.language,
    )
    assert (URL, ("https://hub.example/",), "https://a.example/i.png") == (
        document.feed_url,
        document.hub_urls,
        document.icon_url,
    )
    assert ((Person(name="Ann", email="ann@a.example"),), datetime(2026, 5, 4, 9, tzinfo=UTC)) == (
        document.authors,
        document.updated_at,
    )


def test_posts_are_listed_newest_first() -> None:
    document = channel(
        "".join(f"<item><guid>{n}</guid><pubDate>0{n} May 2026 00:00:00 GMT</pubDate></item>" for n in (2, 3, 1))
    )

    assert [3, 2, 1] == [moment.day for moment in document.posted_at]


def test_over_the_bound_the_first_entries_are_kept_with_a_problem() -> None:
    body = f"<rss><channel>{'<item><title>a</title></item><item><title>b</title></item>'}</channel></rss>".encode()
    document = parse_document(body, url=URL, entries_max=1)

    assert (["a"], ["too_many_entries"]) == (
        [entry.title for entry in document.entries],
        [problem.code for problem in document.problems],
    )


def test_without_a_url_only_absolute_links_are_links() -> None:
    body = b"<rss><channel><item><link>/1</link></item><item><link>https://a.example/2</link></item></channel></rss>"

    assert [None, "https://a.example/2"] == [entry.url for entry in parse_document(body, url="").entries]


def test_a_frequency_next_to_nothing_is_the_longest_period() -> None:
    document = channel("<sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>1e-320</sy:updateFrequency>")

    assert 10 * 365 * 86_400 == document.update_period_s


def test_a_base_within_markup_stands_against_the_one_around_it() -> None:
    document = item(
        '<description><div xml:base="/a/"><p xml:base="b/"><a href="c">x</a></p><a href="d">y</a></div></description>'
    )

    assert 'href="https://a.example/a/b/c"' in document.entries[0].summary_html
    assert 'href="https://a.example/a/d"' in document.entries[0].summary_html


@pytest.mark.parametrize("scheme", ["javascript:x", "JavaScript:x", " java&#10;script:x", "data:x", "vbscript:x"])
def test_the_scheme_of_a_category_is_no_script(scheme: str) -> None:
    document = item(f"<category domain='{scheme}'>x</category><category domain='dewey'>y</category>")

    assert (Category(term="x"), Category(term="y", scheme="dewey")) == document.entries[0].categories
