"""What the readers of all formats agree on: a feed and its entries as they were written, before anything is resolved.

Only text that is the same on every poll of an unchanged entry goes into its hashes; `assemble` makes entries of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from junkai.document import Category, Person

#: Of each in one entry: nobody reads more, and a store must hold them.
CATEGORIES_MAX = 100
ENCLOSURES_MAX = 100
AUTHORS_MAX = 50
LINKS_MAX = 20


class Reference(msgspec.Struct, frozen=True, gc=False):
    """A URL as it was written, and the absolute URL that it stands against."""

    href: str
    base: str


class Markup(msgspec.Struct, frozen=True, gc=False):
    """A text construct (RFC 4287 §3.1): HTML, or plain text."""

    value: str
    base: str
    is_html: bool = True


class RawEnclosure(msgspec.Struct, frozen=True, gc=False):
    """Attached media as written."""

    reference: Reference
    type: str = ""
    length: str = ""
    title: str = ""
    duration: str = ""


class RawEntry(msgspec.Struct, kw_only=True):
    """An entry as written. Lists are in order of preference, or in document order."""

    id: str = ""
    links: Sequence[Reference] = ()
    title: Markup | None = None
    summary: Markup | None = None
    content: Markup | None = None
    published: str = ""
    updated: str = ""
    authors: Sequence[Person] = ()
    categories: Sequence[Category] = ()
    enclosures: Sequence[RawEnclosure] = ()
    images: Sequence[Reference] = ()
    comments: Sequence[Reference] = ()
    language: str | None = None


class RawFeed(msgspec.Struct, kw_only=True):
    """A feed as written; `entries` makes them one by one, so that a bound on their number is kept early."""

    format: str
    version: str = ""
    entries: Iterator[RawEntry]
    entry_count: int
    title: Markup | None = None
    description: Markup | None = None
    links: Sequence[Reference] = ()
    self_links: Sequence[Reference] = ()
    hubs: Sequence[Reference] = ()
    icons: Sequence[Reference] = ()
    authors: Sequence[Person] = ()
    updated: str = ""
    language: str | None = None
    ttl: str = ""
    skip_hours: Sequence[str] = ()
    skip_days: Sequence[str] = ()
    update_period: str = ""
    update_frequency: str = ""
