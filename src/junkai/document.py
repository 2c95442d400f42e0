"""What a parser understood of one body: a Document, its entries and its problems.

All are frozen, all moments are aware UTC, fields are only ever added. What most feeds say is a field of Document or
Entry; what few say is in their `facts`, which are None where there are none. URLs are absolute; HTML is sanitised.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from junkai.immutable import Struct


class Person(Struct, frozen=True, kw_only=True):
    """An author or contributor (RFC 4287 §3.2); what the document does not say is empty."""

    name: str = ""
    email: str = ""
    uri: str = ""


class Category(Struct, frozen=True, kw_only=True):
    """A category (RFC 4287 §4.2.2); an RSS category's domain is its scheme."""

    term: str
    scheme: str = ""
    label: str = ""


class Enclosure(Struct, frozen=True, kw_only=True):
    """Attached media: RSS enclosure, Atom link rel=enclosure, media:content, JSON Feed attachment."""

    url: str
    type: str = ""
    length: int | None = None  #: bytes, as the document claims
    title: str = ""
    duration_s: float | None = None


# ── what few feeds say ───────────────────────────────────────────────────────────────────────────────────────────


class Link(Struct, frozen=True, kw_only=True):
    """A link that is not the entry's or feed's own page (RFC 4287 §4.2.7)."""

    url: str
    relation: str = "alternate"
    type: str = ""
    title: str = ""
    language: str = ""
    length: int | None = None  #: bytes, as the document claims


class Image(Struct, frozen=True, kw_only=True):
    """A picture that stands for a feed (RSS 2.0 image, Atom logo)."""

    url: str = ""
    title: str = ""
    link_url: str = ""
    description: str = ""
    width: int | None = None  #: pixels
    height: int | None = None


class Generator(Struct, frozen=True, kw_only=True):
    """The program that wrote the feed (RFC 4287 §4.2.4)."""

    name: str = ""
    url: str = ""
    version: str = ""


class Cloud(Struct, frozen=True, kw_only=True):
    """Where changes could be subscribed to (RSS 2.0 cloud)."""

    domain: str = ""
    port: str = ""
    path: str = ""
    register_procedure: str = ""
    protocol: str = ""


class TextInput(Struct, frozen=True, kw_only=True):
    """A form that the feed offers (RSS 2.0 textInput)."""

    title: str = ""
    description: str = ""
    name: str = ""
    url: str = ""


class Geometry(Struct, frozen=True, kw_only=True):
    """A place (GeoRSS Simple, GML and W3C geo): degrees of latitude and longitude, WGS 84."""

    kind: str  #: point | line | polygon | box | circle
    points: tuple[tuple[float, float], ...]  #: latitude, longitude; of a box the lower corner, then the upper
    radius_m: float | None = None
    elevation_m: float | None = None
    name: str = ""


class Reply(Struct, frozen=True, kw_only=True):
    """What an entry replies to (RFC 4685 §3)."""

    id: str = ""
    url: str = ""
    source_url: str = ""
    type: str = ""


class Credit(Struct, frozen=True, kw_only=True):
    """Who took part in a medium (media:credit, podcast:person)."""

    name: str
    role: str = ""
    group: str = ""
    url: str = ""
    image_url: str = ""
    scheme: str = ""


class Chapter(Struct, frozen=True, kw_only=True):
    """A chapter of an episode (Podlove Simple Chapters)."""

    start_s: float
    title: str = ""
    url: str = ""
    image_url: str = ""


class Transcript(Struct, frozen=True, kw_only=True):
    """The words of an episode (podcast:transcript)."""

    url: str
    type: str = ""
    language: str = ""
    relation: str = ""


class Podcast(Struct, frozen=True, kw_only=True):
    """What podcast directories ask for, of a show or of an episode (itunes, podcast 2.0, psc)."""

    title: str = ""
    subtitle: str = ""
    summary: str = ""
    kind: str = ""  #: of a show: episodic | serial; of an episode: full | trailer | bonus
    season: int | None = None
    episode: float | None = None
    duration_s: float | None = None
    is_explicit: bool | None = None
    is_blocked: bool | None = None  #: itunes:block
    is_complete: bool = False
    is_locked: bool = False
    guid: str = ""
    new_feed_url: str = ""
    owner: Person | None = None
    keywords: tuple[str, ...] = ()
    funding: tuple[Link, ...] = ()
    credits: tuple[Credit, ...] = ()
    transcripts: tuple[Transcript, ...] = ()
    chapters: tuple[Chapter, ...] = ()
    chapters_url: str = ""
    chapters_version: str = ""
    value_type: str = ""  #: podcast:value, its type


class MediaFacts(Struct, frozen=True, kw_only=True):
    """What Media RSS says beside the media themselves."""

    credits: tuple[Credit, ...] = ()
    rating: str = ""
    rating_scheme: str = ""
    player_url: str = ""
    license_url: str = ""
    license_type: str = ""
    license_name: str = ""
    restriction: str = ""
    restriction_relation: str = ""
    restriction_type: str = ""


class Origin(Struct, frozen=True, kw_only=True):
    """The feed that an entry was copied from (RFC 4287 §4.2.11, RSS 2.0 source)."""

    id: str = ""
    title: str = ""
    subtitle: str = ""
    url: str = ""
    feed_url: str = ""
    rights: str = ""
    updated_at: datetime | None = None
    authors: tuple[Person, ...] = ()
    contributors: tuple[Person, ...] = ()
    categories: tuple[Category, ...] = ()
    links: tuple[Link, ...] = ()
    generator: Generator | None = None
    icon_url: str = ""
    logo_url: str = ""


class EntryFacts(Struct, frozen=True, kw_only=True):
    """What few entries say."""

    contributors: tuple[Person, ...] = ()
    publisher: Person | None = None
    rights: str = ""  #: plain text
    license_urls: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()  #: those that are no page, medium or comments of the entry
    geometry: Geometry | None = None
    in_reply_to: tuple[Reply, ...] = ()
    comments_feed_url: str = ""
    comment_api_url: str = ""  #: wfw:comment
    comment_count: int | None = None
    origin: Origin | None = None
    podcast: Podcast | None = None
    media: MediaFacts | None = None
    created_at: datetime | None = None
    expires_at: datetime | None = None


class FeedFacts(Struct, frozen=True, kw_only=True):
    """What few feeds say of themselves, or few people ask."""

    id: str = ""
    rights: str = ""  #: plain text
    license_urls: tuple[str, ...] = ()
    contributors: tuple[Person, ...] = ()
    categories: tuple[Category, ...] = ()
    links: tuple[Link, ...] = ()
    generator: Generator | None = None
    image: Image | None = None
    logo_url: str = ""
    cloud: Cloud | None = None
    text_input: TextInput | None = None
    info: str = ""  #: Atom 0.3 info, plain text
    docs_url: str = ""
    rating: str = ""
    managing_editor: Person | None = None
    web_master: Person | None = None
    publisher: Person | None = None
    published_at: datetime | None = None
    created_at: datetime | None = None
    valid_from: datetime | None = None  #: dcterms:valid
    valid_until: datetime | None = None
    geometry: Geometry | None = None
    in_reply_to: tuple[Reply, ...] = ()
    podcast: Podcast | None = None
    next_url: str = ""  #: JSON Feed next_url, RFC 5005 next
    is_expired: bool = False  #: JSON Feed expired
    new_location: str = ""  #: a feed that says of itself that it has moved


# ── documents ────────────────────────────────────────────────────────────────────────────────────────────────────


class IdSource(StrEnum):
    """What an entry's id was made of."""

    ID = "id"  #: guid, atom:id, JSON Feed id, rdf:about
    LINK = "link"  #: its canonical link
    FINGERPRINT = "fingerprint"  #: a hash of title, date and content
    COMPOSITE = "composite"  #: an id that repeats inside its document, made distinct with its link or fingerprint


class Entry(Struct, frozen=True, kw_only=True):
    """One Atom entry, RSS item or JSON Feed item. HTML fields are sanitised, and their URLs absolute."""

    id: str
    id_source: IdSource
    url: str | None = None
    title: str = ""  #: plain text
    authors: tuple[Person, ...] = ()
    published_at: datetime | None = None
    updated_at: datetime | None = None
    summary_html: str = ""
    content_html: str = ""
    categories: tuple[Category, ...] = ()
    enclosures: tuple[Enclosure, ...] = ()
    image_url: str | None = None
    comments_url: str | None = None
    language: str | None = None
    facts: EntryFacts | None = None
    id_hash: bytes = b""  #: 16 bytes, the entry's key within its source
    content_hash: bytes = b""  #: 8 bytes over the raw content; decides "changed?"


class Problem(Struct, frozen=True, kw_only=True):
    """Something a document gets wrong and a parser got over."""

    code: str  #: stable, lower_snake: "undeclared_prefix"
    message: str  #: one plain sentence
    line: int | None = None  #: of the body, the first is 1
    entry: int | None = None  #: which of the entries, the first is 1; None: the feed itself
    element: str = ""  #: the element or member that it is about, as written: "pubDate"
    times: int = 1  #: how often it was met; line and entry are those of the first


class Document(Struct, frozen=True, kw_only=True):
    """What a parser understood of one body."""

    format: str  #: rss | rdf | atom | json
    version: str = ""
    encoding: str = ""
    title: str = ""
    site_url: str | None = None
    feed_url: str | None = None
    hub_urls: tuple[str, ...] = ()
    description: str = ""
    language: str | None = None
    authors: tuple[Person, ...] = ()
    updated_at: datetime | None = None
    icon_url: str | None = None
    facts: FeedFacts | None = None
    ttl_s: int | None = None
    skip_hours: tuple[int, ...] = ()  #: 0–23, GMT
    skip_days: tuple[int, ...] = ()  #: 0 = Monday … 6 = Sunday, GMT
    update_period_s: int | None = None  #: sy:updatePeriod ÷ sy:updateFrequency
    entries: tuple[Entry, ...] = ()  #: in document order; without those that `known` holds unchanged
    problems: tuple[Problem, ...] = ()
    entry_count: int = 0  #: of all entries in the document, known ones included
    posted_at: tuple[datetime, ...] = ()  #: when its entries appeared, newest first, at most 50; known ones included
    known: bytes = b""  #: 16 bytes an entry, all entries: first 8 of its id hash, then its content hash
