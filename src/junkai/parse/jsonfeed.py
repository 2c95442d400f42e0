"""The text of a JSON Feed (1.0, 1.1) in; a raw feed out. Nothing of it is believed to have the type it should have."""

from __future__ import annotations

import html
import json
import math
import re
from typing import Any, Final

import msgspec

from junkai.document import Category, Person, Problem
from junkai.errors import NotADocumentError
from junkai.parse.people import distinct
from junkai.parse.raw import CATEGORIES_MAX, ENCLOSURES_MAX, Markup, RawEnclosure, RawEntry, RawFeed, Reference

_VERSION: Final = re.compile(r"jsonfeed\.org/version/([0-9.]{1,10})", re.IGNORECASE)
#: What XML cannot hold, a store cannot either.
_ILLEGAL: Final = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")

#: Python refuses to write out numbers of thousands of digits.
_NUMBER_MAX: Final = 1e300
_DIGITS_MAX: Final = 301

Value = Any  # what JSON may hold
Object = dict[str, Value]


def read_json(text: str, *, url: str, base: str) -> tuple[RawFeed, list[Problem]]:
    """Read a JSON Feed. Raises NotADocumentError for what is not JSON, or JSON of another kind."""
    document, problems = _decoded(text, url)
    version = _VERSION.search(_string(document, "version"))
    items = document.get("items")
    if not isinstance(items, list):
        if version is None:
            raise NotADocumentError(url, "JSON, but no JSON Feed")
        items = []
    objects = [item for item in items if isinstance(item, dict)]
    authors = _authors(document)
    feed = RawFeed(
        format="json",
        version=version[1] if version else "",
        entries=(_item(item, base, authors) for item in objects),
        entry_count=len(objects),
        title=_plain(document, "title", base),
        description=_plain(document, "description", base),
        links=_references(document, base, "home_page_url"),
        self_links=_references(document, base, "feed_url"),
        hubs=[Reference(_string(hub, "url"), base) for hub in _objects(document, "hubs")],
        icons=_references(document, base, "icon", "favicon"),
        authors=authors,
        language=_string(document, "language") or None,
    )
    return feed, problems


def _decoded(text: str, url: str) -> tuple[Object, list[Problem]]:
    problems = []
    try:
        document = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        # Python's reader takes control characters in strings, NaN and lone surrogates.
        try:
            document = json.loads(text, strict=False, parse_int=_integer)
        except (ValueError, RecursionError) as error:
            raise NotADocumentError(url, f"not JSON: {error}") from None
        problems.append(Problem(code="bad_json", message="Not JSON as the standard (RFC 8259) has it."))
    if not isinstance(document, dict):
        raise NotADocumentError(url, "JSON, but no JSON Feed")
    return document, problems


def _integer(digits: str) -> int | float:
    """An integer; one of thousands of digits, which Python makes no number of, is as good as infinite."""
    return int(digits) if len(digits) <= _DIGITS_MAX else math.inf


def _item(item: Object, base: str, feed_authors: list[Person]) -> RawEntry:
    """One item; its authors are the feed's where it has none (JSON Feed 1.1, authors)."""
    content_html, content_text = _string(item, "content_html"), _string(item, "content_text")
    content = None
    if content_html.strip():  # of two, the richer one
        content = Markup(content_html, base)
    elif content_text.strip():
        content = Markup(_paragraphs(content_text), base)
    return RawEntry(
        id=_string(item, "id").strip(),
        links=_references(item, base, "url", "external_url"),
        title=_plain(item, "title", base),
        summary=_plain(item, "summary", base),
        content=content,
        published=_string(item, "date_published"),
        updated=_string(item, "date_modified"),
        authors=_authors(item) or feed_authors,
        categories=[
            Category(term=term) for tag in _list(item, "tags")[:CATEGORIES_MAX] if (term := _text(tag).strip())
        ],
        enclosures=[
            RawEnclosure(
                Reference(_string(each, "url"), base),
                _string(each, "mime_type"),
                _string(each, "size_in_bytes"),
                _string(each, "title"),
                _string(each, "duration_in_seconds"),
            )
            for each in _objects(item, "attachments")
        ][:ENCLOSURES_MAX],
        images=_references(item, base, "image", "banner_image"),
        language=_string(item, "language") or None,
    )


def _paragraphs(text: str) -> str:
    """Plain text as HTML; its line breaks are kept."""
    return html.escape(text, quote=False).replace("\n", "<br>")


def _authors(holder: Object) -> list[Person]:
    """`authors` of 1.1, or `author` of 1.0."""
    found = _objects(holder, "authors")
    if isinstance(author := holder.get("author"), dict):
        found.append(author)
    return distinct(
        [
            Person(name=_string(each, "name"), uri=_string(each, "url"))
            for each in found
            if _string(each, "name") or _string(each, "url")
        ]
    )


def _references(holder: Object, base: str, *names: str) -> list[Reference]:
    return [Reference(href, base) for name in names if (href := _string(holder, name))]


def _plain(holder: Object, name: str, base: str) -> Markup | None:
    value = _string(holder, name)
    return Markup(value, base, is_html=False) if value.strip() else None


def _list(holder: Object, name: str) -> list[Value]:
    value = holder.get(name)
    return value if isinstance(value, list) else []


def _objects(holder: Object, name: str) -> list[Object]:
    return [each for each in _list(holder, name) if isinstance(each, dict)]


def _string(holder: Object, name: str) -> str:
    return _text(holder.get(name))


def _text(value: Value) -> str:
    """A string or a number as text, fit for a store; "" for anything else (gofeed#279: ids that are numbers)."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value) if abs(value) < _NUMBER_MAX else ""
    if not isinstance(value, str):
        return ""
    if _SURROGATE.search(value):
        value = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _ILLEGAL.sub("", value) if _ILLEGAL.search(value) else value
