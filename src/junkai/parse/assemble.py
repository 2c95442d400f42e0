"""A raw feed in; the Document out: URLs resolved, dates read, entries identified, new and changed ones sanitised."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from datetime import datetime
from itertools import islice
from typing import Final

import msgspec

from junkai import url as urls
from junkai.document import Category, Document, Enclosure, Entry, Person, Problem
from junkai.parse.dates import parse_date
from junkai.parse.identity import Identity, identify
from junkai.parse.markup import html_of, line_of
from junkai.parse.raw import Markup, RawEnclosure, RawEntry, RawFeed, Reference
from junkai.parse.sanitize import clean_html, text_of

POSTED_MAX: Final = 50
HUBS_MAX: Final = 10
_SECONDS_MAX: Final = 10 * 365 * 86_400
_PERIODS: Final = {"hourly": 3_600, "daily": 86_400, "weekly": 604_800, "monthly": 2_592_000, "yearly": 31_536_000}
_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
#: What the URL Standard gives back as it is, but for dot segments and punycode: most URLs, and they need no parser.
_PLAIN_URL: Final = re.compile(r"https?://[a-z0-9.-]*[a-z]/[!$%&()*+,./0-9:;=?@A-Z_a-z~#-]*")
_PERSONAL_URI: Final = re.compile(r"(?:https?://|mailto:).", re.IGNORECASE | re.DOTALL)
#: Schemes that run, or stand for a page of their own, where a reader makes a link of them.
_SCRIPT_SCHEMES: Final = ("javascript:", "data:", "vbscript:")
_LANGUAGE: Final = re.compile(r"[A-Za-z]{1,8}(?:[-_][A-Za-z0-9]{1,8}){0,6}")


class _Dated(msgspec.Struct, frozen=True, gc=False):
    """An entry with its two moments: when it was posted, and when it was last changed."""

    raw: RawEntry
    published_at: datetime | None
    updated_at: datetime | None


def document_of(
    feed: RawFeed, *, encoding: str, problems: list[Problem], base: str, known: bytes, entries_max: int
) -> Document:
    """Make the Document. Entries that `known` holds unchanged are counted and left out."""
    problems = list(problems)
    entries = [_dated(raw) for raw in islice(feed.entries, entries_max)]
    if feed.entry_count > entries_max:
        message = f"Only the first {entries_max:,} of {feed.entry_count:,} entries were read."
        problems.append(Problem(code="too_many_entries", message=message))
    if any(entry.published_at is None and _says_when(entry.raw) for entry in entries):
        problems.append(Problem(code="bad_date", message="Some dates cannot be read; those entries have none."))
    identities = identify([entry.raw for entry in entries], link_of=_link_of, known=known)
    distinct: dict[bytes, tuple[_Dated, Identity]] = {}
    for entry, identity in zip(entries, identities, strict=True):
        distinct.setdefault(identity.id_hash, (entry, identity))
    if len(distinct) < len(entries):
        problems.append(Problem(code="repeated_entry", message="Some entries are there more than once."))
    held = {known[at : at + 16] for at in range(0, len(known), 16)}
    feed_language = _language(feed.language)
    posted_at = sorted(filter(None, [entry.published_at for entry, _ in distinct.values()]), reverse=True)
    return Document(
        format=feed.format,
        version=feed.version,
        encoding=encoding,
        title=line_of(feed.title),
        site_url=_first_url(feed.links),
        feed_url=_first_url(feed.self_links),
        hub_urls=tuple(dict.fromkeys(_urls(feed.hubs)))[:HUBS_MAX],
        description=text_of(html_of(feed.description)),
        language=feed_language,
        authors=_people(feed.authors),
        updated_at=parse_date(feed.updated),
        icon_url=_first_url(feed.icons),
        ttl_s=_seconds(feed.ttl, 60),
        skip_hours=_hours(feed.skip_hours),
        skip_days=tuple(sorted({_DAYS.index(day) for day in map(_word, feed.skip_days) if day in _DAYS})),
        update_period_s=_update_period(feed),
        entries=tuple(
            [_entry(entry, identity, base) for entry, identity in distinct.values() if identity.known not in held]
        ),
        problems=tuple(problems),
        entry_count=len(distinct),
        posted_at=tuple(posted_at[:POSTED_MAX]),
        known=b"".join([identity.known for _, identity in distinct.values()]),
    )


def _dated(raw: RawEntry) -> _Dated:
    """An entry that says only when it changed was posted then, as far as anyone can tell."""
    published_at = parse_date(raw.published) if raw.published else None
    updated_at = None
    if raw.updated:
        updated_at = published_at if raw.updated == raw.published else parse_date(raw.updated)
    return _Dated(raw, published_at or updated_at, updated_at)


def _says_when(raw: RawEntry) -> bool:
    return bool(raw.published or raw.updated)


def _entry(dated: _Dated, identity: Identity, base: str) -> Entry:
    """The entry in full."""
    raw = dated.raw
    content, summary = _clean(raw.content, base), ""
    if raw.summary is not None:
        is_same = raw.content is not None and raw.summary.value == raw.content.value
        summary = content if is_same else _clean(raw.summary, base)
    return Entry(
        id=identity.id,
        id_source=identity.source,
        url=_link_of(raw),
        title=line_of(raw.title),
        authors=_people(raw.authors),
        published_at=dated.published_at,
        updated_at=dated.updated_at,
        summary_html=summary,
        content_html=content,
        categories=tuple([_category(each) if each.scheme else each for each in raw.categories]),
        enclosures=_enclosures(raw.enclosures) if raw.enclosures else (),
        image_url=_first_url(raw.images) if raw.images else None,
        comments_url=_first_url(raw.comments) if raw.comments else None,
        language=_language(raw.language) if raw.language else None,
        id_hash=identity.id_hash,
        content_hash=identity.content_hash,
    )


def _clean(markup: Markup | None, base: str) -> str:
    return "" if markup is None else clean_html(html_of(markup), base=markup.base or base)


def _link_of(raw: RawEntry) -> str | None:
    return _first_url(raw.links)


def _people(people: Iterable[Person]) -> tuple[Person, ...]:
    """The people, whose URI is of the web or of mail, or none: somebody will make a link of it."""
    kept = []
    for person in people:
        if not person.uri or _PERSONAL_URI.match(person.uri.strip()):
            kept.append(person)
        elif person.name or person.email:
            kept.append(msgspec.structs.replace(person, uri=""))
    return tuple(kept)


def _category(category: Category) -> Category:
    """The category, without a scheme that is a script; browsers overlook white space in the name of one."""
    if "".join(category.scheme[:100].split()).lower().startswith(_SCRIPT_SCHEMES):
        return msgspec.structs.replace(category, scheme="")
    return category


# ── URLs ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _absolute(reference: Reference) -> str | None:
    """The absolute http(s) URL, or None: one bad URL costs its own field and no more (RFC 3986 §5.1)."""
    href = reference.href.strip()
    if not href or len(href) > urls.URL_BYTES_MAX:
        return None
    if _PLAIN_URL.fullmatch(href) and "/." not in href and "%2" not in href and "xn--" not in href:
        return href
    joined = urls.join(reference.base, href)
    if joined is None or not joined.startswith(("http://", "https://")) or len(joined) > urls.URL_BYTES_MAX:
        return None
    return joined


def _urls(references: Iterable[Reference]) -> Iterable[str]:
    return filter(None, map(_absolute, references))


def _first_url(references: Iterable[Reference]) -> str | None:
    for reference in references:
        if (href := _absolute(reference)) is not None:
            return href
    return None


def _enclosures(raw: Iterable[RawEnclosure]) -> tuple[Enclosure, ...]:
    """Each URL once: media:content often says again what the enclosure said."""
    found: dict[str, Enclosure] = {}
    for enclosure in raw:
        href = _absolute(enclosure.reference)
        if href is not None and href not in found:
            found[href] = Enclosure(
                url=href,
                type=enclosure.type[:200],
                length=_length(enclosure.length),
                title=" ".join(enclosure.title.split()),
                duration_s=_duration_s(enclosure.duration),
            )
    return tuple(found.values())


# ── numbers and words ────────────────────────────────────────────────────────────────────────────────────────────


def _number(text: str) -> float | None:
    """A finite number that is not negative."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number < math.inf else None


def _length(text: str) -> int | None:
    """Bytes; what is no size that a store could hold is none at all (gofeed#310)."""
    number = _number(text.replace(",", ""))
    return int(number) if number is not None and number < 1 << 62 else None


def _duration_s(text: str) -> float | None:
    """Seconds of `SS`, `MM:SS` or `HH:MM:SS`."""
    parts = [_number(part) for part in text.split(":")] if text else []
    if not 1 <= len(parts) <= 3:
        return None
    total = 0.0
    for part in parts:
        if part is None:
            return None
        total = total * 60 + part
    return total if total <= _SECONDS_MAX else None


def _seconds(text: str, unit_s: float) -> int | None:
    number = _number(text)
    if number is None or number == 0:
        return None
    return int(min(number * unit_s, _SECONDS_MAX)) or None  # the product may be infinite


def _update_period(feed: RawFeed) -> int | None:
    """RSS 1.0 syndication module: a period of a day, and once in it, unless said otherwise."""
    if not feed.update_period and not feed.update_frequency:
        return None
    period_s = _PERIODS.get(_word(feed.update_period or "daily"))
    frequency = _number(feed.update_frequency or "1")
    if period_s is None or not frequency:
        return None
    return int(min(period_s / frequency, _SECONDS_MAX)) or None  # the quotient may be infinite


def _hours(texts: Iterable[str]) -> tuple[int, ...]:
    """0 to 23; RSS 0.91 counted to 24, which is midnight."""
    numbers = (_number(text.strip()) for text in texts)
    return tuple(sorted({int(number) % 24 for number in numbers if number is not None and number <= 24}))


def _word(text: str) -> str:
    return text.strip().lower()


def _language(text: str | None) -> str | None:
    """A language tag (BCP 47) as written, with hyphens; None for what is none."""
    if not text:
        return None
    text = text.strip()
    return text.replace("_", "-") if _LANGUAGE.fullmatch(text) else None
