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
