"""What is rendered can be read: by our own parser, in every format and encoding."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import product

import pytest

from junkai.demo.feeds import SHOWN, Format, Publisher, Quirk, Validators, languages
from junkai.demo.formats import content_type, render
from junkai.parse import parse_document

STARTED_AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

SPOKEN = [
    (form, tag, encoding)
    for form, (tag, language) in product(Format, languages().items())
    for encoding in language.encodings
    if encoding == "utf-8" or form is not Format.JSON_FEED
]


def publisher_of(form: Format, tag: str, encoding: str, quirk: Quirk = Quirk.NONE) -> Publisher:
    """A publisher whose name has characters that mean something to XML."""
    return Publisher(
        seed=1,
        number=4,
        language=tag,
        title=f"{languages()[tag].places[0]} & <co>",
        author=languages()[tag].places[1],
        host=f"kettle-4.{tag}.example",
        format=form,
        encoding=encoding,
        period_seconds=60.0,
        quirk=quirk,
        validators=Validators.BOTH,
    )


@pytest.mark.parametrize(("form", "tag", "encoding"), SPOKEN)
def test_every_format_and_encoding_is_read_back(form: Format, tag: str, encoding: str) -> None:
    publisher = publisher_of(form, tag, encoding)
    posts = publisher.posts(STARTED_AT, STARTED_AT)

    document = parse_document(
        render(publisher, posts), url="http://127.77.0.1/feed.xml", content_type=content_type(publisher)
    )

    assert () == document.problems
    assert publisher.title == document.title
    assert [post.title for post in posts] == [entry.title for entry in document.entries]
    assert SHOWN == len({entry.id for entry in document.entries})
    assert all(str(entry.url).startswith(f"https://{publisher.host}/") for entry in document.entries)


def test_broken_xml_can_be_repaired() -> None:
    publisher = publisher_of(Format.RSS_20, "en", "utf-8", Quirk.BROKEN_XML)

    document = parse_document(
        render(publisher, publisher.posts(STARTED_AT, STARTED_AT)), url="http://127.77.0.1/", content_type="text/xml"
    )

    assert SHOWN == len(document.entries)
    assert document.problems
