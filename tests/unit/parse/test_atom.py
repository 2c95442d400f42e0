"""Atom 1.0 and 0.3."""

from __future__ import annotations

import pytest

from junkai.document import Category, Document, Entry, Person
from junkai.parse import parse_document
from junkai.parse.sanitize import text_of_entry

URL = "https://a.example/blog/atom.xml"
ATOM = "http://www.w3.org/2005/Atom"
XHTML = "http://www.w3.org/1999/xhtml"


def feed(inner: str, namespace: str = ATOM, attributes: str = "") -> Document:
    return parse_document(f'<feed xmlns="{namespace}" {attributes}>{inner}</feed>'.encode(), url=URL)


def entry(inner: str, namespace: str = ATOM) -> Entry:
    return feed(f"<entry>{inner}</entry>", namespace).entries[0]


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("<title>a &amp; b</title>", "a & b"),
        ("<title type='text'>a &lt;b&gt; c</title>", "a <b> c"),
        ("<title type='html'>a &lt;b&gt;b&lt;/b&gt; &amp;amp; c</title>", "a b & c"),
        (f"<title type='xhtml'><div xmlns='{XHTML}'>a <b>b</b> &amp; c</div></title>", "a b & c"),
        ("<title type='text/html' mode='escaped'>a &lt;b&gt;b&lt;/b&gt;</title>", "a b"),
        ("<title mode='base64' type='text/html'>PGI+YjwvYj4=</title>", "b"),
        ("<title mode='base64'>not base 64!</title>", ""),
    ],
)
def test_a_text_construct_is_read_by_its_type(title: str, expected: str) -> None:
    assert expected == entry(title).title


def test_xhtml_content_loses_its_wrapper_and_its_prefixes() -> None:
    content = (
        f"<content type='xhtml'><h:div xmlns:h='{XHTML}'><h:p title='&lt;&quot;'>a<h:br/>b</h:p></h:div></content>"
    )

    assert ('<p title="&lt;&quot;">a<br>b</p>', "a b") == (entry(content).content_html, text_of_entry(entry(content)))


def test_plain_text_content_is_escaped() -> None:
    assert "1 &lt; 2 &amp; <".replace("<", "&lt;") == entry("<content>1 &lt; 2 &amp; &lt;</content>").content_html


def test_content_that_is_no_text_is_none() -> None:
    found = entry("<content type='image/png'>QUJD</content><summary>s</summary>")

    assert ("", "s", "s") == (found.content_html, found.summary_html, text_of_entry(found))


def test_content_elsewhere_is_where_the_entry_leads() -> None:
    assert "https://a.example/1.pdf" == entry("<content type='application/pdf' src='/1.pdf'/>").url


def test_base_is_scoped_to_its_element() -> None:
    document = feed(
        "<link href='site'/><entry xml:base='https://c.example/x/'><link href='1'/>"
        "<content type='html' xml:base='y/'>&lt;img src='i.png'&gt;</content></entry>"
        "<entry><id>2</id><link href='2'/></entry>",
        attributes="xml:base='https://b.example/'",
    )

    assert ["https://b.example/site", "https://c.example/x/1", "https://b.example/2"] == [
        document.site_url,
        *(each.url for each in document.entries),
    ]
    assert 'src="https://c.example/x/y/i.png"' in document.entries[0].content_html


def test_base_inside_xhtml_counts_too() -> None:
    content = (
        f"<content type='xhtml'><div xmlns='{XHTML}'><p xml:base='https://d.example/'><a href='x'>a</a></p>"
        "<a href='y'>b</a></div></content>"
    )
    found = entry(content).content_html

    assert 'href="https://d.example/x"' in found
    assert 'href="https://a.example/blog/y"' in found


def test_links_are_told_apart_by_relation_and_html_is_preferred() -> None:
    found = entry(
        "<link rel='alternate' type='application/json' href='/1.json'/><link rel='alternate' type='text/html' href='/1'/>"
        "<link rel='self' href='/self'/><link rel='enclosure' href='/a.mp3' type='audio/mpeg' length='5' title='A'/>"
        "<link rel='replies' href='/c'/>"
    )

    assert ("https://a.example/1", "https://a.example/c") == (found.url, found.comments_url)
    assert [("https://a.example/a.mp3", "audio/mpeg", 5, "A")] == [
        (each.url, each.type, each.length, each.title) for each in found.enclosures
    ]


def test_an_entry_without_author_has_those_of_its_feed() -> None:
    document = feed(
        "<author><name>Ann</name><email>a@a.example</email><uri>https://ann.example/</uri></author>"
        "<entry><id>1</id></entry><entry><id>2</id><author><name>Bo</name></author></entry>"
    )

    assert [(Person(name="Ann", email="a@a.example", uri="https://ann.example/"),), (Person(name="Bo"),)] == [
        each.authors for each in document.entries
    ]


def test_the_feed_describes_itself() -> None:
    document = feed(
        "<title>f</title><subtitle>s</subtitle><link rel='hub' href='https://hub.example/'/><link rel='self' href=''/>"
        "<link href='https://a.example/'/><icon>/i.ico</icon><updated>2026-05-04T09:00:00Z</updated>",
        attributes="xml:lang='en-GB'",
    )

    assert ("atom", "1.0", "f", "s", "en-GB") == (
        document.format,
        document.version,
        document.title,
        document.description,
        document.language,
    )
    assert (("https://hub.example/",), "https://a.example/", "https://a.example/i.ico") == (
        document.hub_urls,
        document.site_url,
        document.icon_url,
    )
    assert document.updated_at is not None


def test_atom_03_has_its_own_names() -> None:
    document = feed(
        "<tagline>s</tagline><entry><id>1</id><issued>2026-05-04T09:00:00Z</issued><modified>2026-05-05</modified></entry>",
        "http://purl.org/atom/ns#",
    )
    found = document.entries[0]

    assert ("0.3", "s") == (document.version, document.description)
    assert found.published_at is not None
    assert found.updated_at is not None
    assert (4, 5) == (found.published_at.day, found.updated_at.day)


def test_an_entry_that_says_only_when_it_changed_was_posted_then() -> None:
    found = entry("<updated>Mon, 04 May 2026 09:00:00 GMT</updated>")

    assert found.published_at is not None
    assert found.published_at == found.updated_at


@pytest.mark.parametrize(
    "text",
    [
        "<feed><entry><title>t</title></entry></feed>",
        "<feed xmlns='urn:wrong'><entry><title>t</title></entry></feed>",
        f"<a:feed xmlns:a='{ATOM}'><a:entry><a:title>t</a:title></a:entry></a:feed>",
        f"<feed xmlns='urn:wrong'><entry xmlns='{ATOM}'><title>t</title></entry></feed>",
        f"<Feed xmlns='{ATOM}'><Entry><Title>t</Title></Entry></Feed>",
    ],
)
def test_any_root_that_is_meant_for_atom_is_atom(text: str) -> None:
    document = parse_document(text.encode(), url=URL)

    assert ("atom", ["t"]) == (document.format, [each.title for each in document.entries])


def test_categories_have_scheme_and_label() -> None:
    assert (Category(term="x", scheme="s", label="X"),) == entry("<category term='x' scheme='s' label='X'/>").categories


def test_media_stands_in_for_title_and_text() -> None:
    found = entry(
        "<m:group xmlns:m='http://search.yahoo.com/mrss/'><m:title>t</m:title><m:description>d</m:description>"
        "<m:thumbnail url='/i.jpg'/></m:group>"
    )

    assert ("t", "d", "https://a.example/i.jpg") == (found.title, text_of_entry(found), found.image_url)


@pytest.mark.parametrize("uri", ["javascript:alert(1)", "data:text/html,x", "/ann", "ftp://a.example/"])
def test_the_uri_of_a_person_is_of_the_web_or_of_mail(uri: str) -> None:
    authors = (
        f"<author><name>A</name><uri>{uri}</uri></author><author><uri>{uri}</uri></author>"
        "<author><name>B</name><uri>HTTPS://b.example/</uri></author><author><uri>mailto:c@c.example</uri></author>"
    )
    document = feed(f"<entry><id>1</id>{authors}</entry>")

    assert (Person(name="A"), Person(name="B", uri="HTTPS://b.example/"), Person(uri="mailto:c@c.example")) == (
        document.entries[0].authors
    )
