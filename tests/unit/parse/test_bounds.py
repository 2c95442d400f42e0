"""Hostile sizes and shapes: refused in words, and at once."""

from __future__ import annotations

import time

import pytest

from junkai.errors import NotADocumentError
from junkai.parse import parse_document

RSS = b"<rss><channel><item><title>%s</title></item></channel></rss>"
MEGABYTE = 1_000_000


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (RSS % (b"<b>" * MEGABYTE), "more than 500,000 tags"),
        (RSS % (b"<b>" * 1_000 + b"</b>" * 1_000), "depth"),
        (RSS % (b"<b " + b" ".join(b'a%d="1"' % i for i in range(5_000)) + b"/>"), "more than 1,000 attributes"),
        (RSS % (b'<b a="' + b"x" * 2 * MEGABYTE + b'"/>'), "a tag of more than 1,000,000 characters"),
        (RSS % (b"<![CDATA[" + b"x" * 11 * MEGABYTE + b"]]>"), "too big"),
        (RSS % (b"&" * 5 * MEGABYTE), "too large to repair"),
        (b"<rss " + b"<" * 5 * MEGABYTE, "more than 500,000 tags"),
        (b'{"items": ' + b"[" * MEGABYTE, "nested more than 100 levels"),
        (b'{"items": [' + b"1," * 2 * MEGABYTE, "more than 1,000,000 values"),
    ],
)
def test_over_a_bound_the_body_is_refused_in_words(body: bytes, words: str) -> None:
    started = time.process_time()
    with pytest.raises(NotADocumentError, match=words) as refused:
        parse_document(body, url="https://a.example/")

    assert "https://a.example/" == refused.value.subject
    assert time.process_time() - started < 1.5


@pytest.mark.parametrize(
    "piece",
    [b"<!--", b"<![CDATA[", b"<?a ", b"<!DOCTYPE [", b"<a b='", b'<a b="', b"&a", b"]]>", b"</b>", b"<item>", b"\n"],
)
def test_a_piece_repeated_takes_time_in_proportion(piece: bytes) -> None:
    for body in (piece * 20_000, b"<rss>" + piece * 20_000, RSS % (piece * 20_000), b"<!DOCTYPE a [" + piece * 20_000):
        started = time.process_time()
        try:
            parse_document(body, url="https://a.example/")
        except NotADocumentError:
            pass

        assert time.process_time() - started < 1


def test_a_data_url_is_no_attack() -> None:
    enclosure = b'<enclosure url="data:image/png;base64,' + b"QUJD" * 100_000 + b'"/>'
    document = parse_document(
        b"<rss><channel><item>" + enclosure + b"</item></channel></rss>", url="https://a.example/"
    )

    assert (1, ()) == (document.entry_count, document.entries[0].enclosures)


def escaped(markup: bytes) -> bytes:
    return markup.replace(b"<", b"&lt;").replace(b">", b"&gt;")


@pytest.mark.parametrize(
    "body",
    [
        b'{"items":[' + b"[" * 101 + b'"' + b'\\"' * 100_000,
        RSS % escaped(b"<script>" + b"</script " * 50_000),
        b"<rss><channel><item><description>%s%s%s</description></item></channel></rss>"
        % (b'<div xml:base="/i/">' * 200, b'<a href="x"/>' * 5_000, b"</div>" * 200),
        b'<rss xml:base="https://a.example/%s"><channel>%s</channel></rss>'
        % (b"y" * 900_000, b"".join(b"<item><guid>%d</guid><link>x</link></item>" % i for i in range(2_000))),
        b'<?xml version="1.0" encoding="euc-jp"?>' + RSS % (b"\xff" * MEGABYTE),
        b'<?xml version="1.0" encoding="euc-jp"?>' + RSS % (b"\xad\xa1" * MEGABYTE),
        b'<?xml version="1.0" encoding="iso-2022-jp"?>' + RSS % (b"\x1b$B" * MEGABYTE),
        b'<?xml version="1.0" encoding="iso-8859-1"?>' + RSS % (b"\x81" * MEGABYTE),
    ],
    ids=["quotes in JSON", "ends of scripts", "nested bases", "a long base", "0xFF", "extensions", "escapes", "C1"],
)
def test_what_once_took_many_seconds_takes_less_than_one(body: bytes) -> None:
    started = time.process_time()
    try:
        parse_document(body, url="https://a.example/")
    except NotADocumentError:
        pass

    assert time.process_time() - started < 1


@pytest.mark.parametrize(
    "numbers",
    [
        b"<ttl>1e308</ttl>",
        b"<ttl>" + b"9" * 5_000 + b"</ttl>",
        b"<ttl>nan</ttl><skipHours><hour>1e308</hour><hour>inf</hour></skipHours>",
    ],
)
def test_no_number_is_too_large_to_be_read(numbers: bytes) -> None:
    document = parse_document(b"<rss><channel>" + numbers + b"<item><guid>1</guid></item></channel></rss>", url="")

    assert 1 == document.entry_count
    assert document.ttl_s is None or 10 * 365 * 86_400 == document.ttl_s
    assert () == document.skip_hours


def test_a_long_base_does_not_multiply_a_document() -> None:
    markup = b'<div xml:base="https://a.example/%s/">%s</div>' % (b"y" * 1_900, b'<a href="x"/>' * 50_000)
    started = time.process_time()
    document = parse_document(RSS.replace(b"title", b"description") % markup, url="https://a.example/")

    assert 20_000_000 > len(document.entries[0].summary_html)
    assert time.process_time() - started < 1.5
