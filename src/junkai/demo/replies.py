"""A request to a made-up publisher and the moment in, what its server replies out: documents, 304s and quirks."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from html import escape
from typing import Final

from junkai.demo.feeds import Publisher, Quirk, Validators, dice
from junkai.demo.formats import content_type, render
from junkai.immutable import Struct

FEED_PATH: Final = "/feed.xml"
MOVED_PATH: Final = "/new/feed.xml"
_RETRY_AFTER_SECONDS: Final = 30
_HUGE_PIECE: Final = b"<!-- " + b"very long " * 6_553 + b"-->\n"
_HUGE_PIECES: Final = 176  # 11 MiB


class Reply(Struct, frozen=True, kw_only=True):
    """One response. Content-Length is what was claimed, else that of the body."""

    status: int = 200
    fields: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    length_claimed: int | None = None
    delay_seconds: float = 0.0  #: before the first byte
    repeats: int = 1  #: of the body
    drip_seconds: float = 0.0  #: after each byte of the body


class Edition(Struct, frozen=True, kw_only=True):
    """A feed as it stands until the next publication."""

    body: bytes
    body_gzip: bytes
    etag: str
    modified_at: datetime  #: whole seconds
    fresh_until: datetime


class Desk:
    """Replies for one publisher. It keeps the current edition, and who was told to wait until when."""

    def __init__(self, publisher: Publisher, started_at: datetime, *, away: str) -> None:
        """`away` is the publisher's other address, as a base URL without the last slash; empty if it has none."""
        self._publisher = publisher
        self._started_at = started_at
        self._away = away
        self._edition: Edition | None = None
        self._asked = 0
        self._limited_until: datetime | None = None

    def reply(self, path: str, fields: Mapping[str, str], now: datetime, *, is_away: bool) -> Reply:
        """What is said to a GET. `is_away`: it came to the other address, which has no quirks."""
        quirk = Quirk.NONE if is_away else self._publisher.quirk
        if path == "/":
            return _page(self._publisher)
        if path == MOVED_PATH and quirk is Quirk.MOVED_HERE:
            return self._document(fields, now)
        if path != FEED_PATH:
            return _plain(404, "There is nothing here.")
        self._asked += 1
        return self._refusal(quirk, now) or self._bent(quirk, self._document(fields, now))

    def _refusal(self, quirk: Quirk, now: datetime) -> Reply | None:
        """An answer without a feed, or None."""
        match quirk:
            case Quirk.MOVED_HERE:
                return Reply(status=301, fields=(("Location", MOVED_PATH),))
            case Quirk.MOVED_AWAY:
                return Reply(status=301, fields=(("Location", self._away + FEED_PATH),))
            case Quirk.AWAY_FOR_NOW:
                return Reply(status=302, fields=(("Location", self._away + FEED_PATH),))
            case Quirk.GONE:
                return _plain(410, "This feed has ended.")
            case Quirk.MISSING:
                return _plain(404, "There is nothing here.")
            case Quirk.LIMITED:
                return self._limited(now)
            case Quirk.UNAVAILABLE if self._asked % 3:
                return _plain(503, "Back soon.")
            case Quirk.HTML:
                return _page(self._publisher)
            case Quirk.EMPTY:
                return Reply(fields=(("Content-Type", content_type(self._publisher)),))
        return None

    def _bent(self, quirk: Quirk, reply: Reply) -> Reply:
        """The document's reply, delivered badly where the publisher's server does."""
        fields = (("Content-Type", content_type(self._publisher)),)
        match quirk:
            case Quirk.SLOW:
                seconds = 2 + dice(self._publisher.seed, self._publisher.number, self._asked) % 4_000 / 1_000
                return Reply(status=reply.status, fields=reply.fields, body=reply.body, delay_seconds=seconds)
            case Quirk.HUGE:
                return Reply(fields=fields, body=_HUGE_PIECE, repeats=_HUGE_PIECES)
            case Quirk.TRUNCATED:
                body = self._current().body
                return Reply(fields=fields, body=body[: len(body) // 2], length_claimed=len(body))
            case Quirk.DRIP:
                return Reply(fields=fields, body=self._current().body, drip_seconds=1.0)
        return reply

    def _limited(self, now: datetime) -> Reply | None:
        """429, until it was waited out; the one after that is limited again."""
        if self._limited_until is not None and now >= self._limited_until:
            self._limited_until = None
            return None
        if self._limited_until is None:
            self._limited_until = now + timedelta(seconds=_RETRY_AFTER_SECONDS)
        seconds = round((self._limited_until - now).total_seconds())
        return Reply(status=429, fields=(("Retry-After", str(max(1, seconds))),))

    def _document(self, fields: Mapping[str, str], now: datetime) -> Reply:
        edition = self._current(now)
        kind = self._publisher.validators
        validators: list[tuple[str, str]] = []
        if kind in {Validators.BOTH, Validators.ETAG}:
            validators.append(("ETag", edition.etag))
        if kind in {Validators.BOTH, Validators.LAST_MODIFIED}:
            validators.append(("Last-Modified", format_datetime(edition.modified_at, usegmt=True)))
        if _is_unchanged(edition, kind, fields):
            return Reply(status=304, fields=tuple(validators))
        described = [("Content-Type", content_type(self._publisher)), ("Vary", "Accept-Encoding"), *validators]
        if "gzip" in fields.get("accept-encoding", ""):
            return Reply(fields=(*described, ("Content-Encoding", "gzip")), body=edition.body_gzip)
        return Reply(fields=tuple(described), body=edition.body)

    def _current(self, now: datetime | None = None) -> Edition:
        """The edition that stands at `now`, made when the last one is out of date; without `now`, the last one."""
        if self._edition is None or (now is not None and now >= self._edition.fresh_until):
            self._edition = _edition(self._publisher, self._started_at, now or self._started_at)
        return self._edition


def _edition(publisher: Publisher, started_at: datetime, now: datetime) -> Edition:
    posts = publisher.posts(started_at, now)
    body = render(publisher, posts)
    digest = hashlib.blake2b(body, digest_size=8).hexdigest()
    return Edition(
        body=body,
        body_gzip=gzip.compress(body, 6, mtime=0),
        etag=f'W/"{digest}"' if publisher.number % 4 == 0 else f'"{digest}"',
        modified_at=max(post.revised_at or post.published_at for post in posts).replace(microsecond=0),
        fresh_until=publisher.changes_at(started_at, now),
    )


def _is_unchanged(edition: Edition, kind: Validators, fields: Mapping[str, str]) -> bool:
    """RFC 9110 §13.2.2: If-None-Match decides; If-Modified-Since only without it."""
    if kind in {Validators.BOTH, Validators.ETAG} and "if-none-match" in fields:
        named = {tag.strip().removeprefix("W/") for tag in fields["if-none-match"].split(",")}
        return edition.etag.removeprefix("W/") in named
    if kind not in {Validators.BOTH, Validators.LAST_MODIFIED} or "if-modified-since" not in fields:
        return False
    try:
        since = parsedate_to_datetime(fields["if-modified-since"])
    except ValueError:
        return False
    return edition.modified_at <= (since if since.tzinfo else since.replace(tzinfo=UTC))


def _plain(status: int, text: str) -> Reply:
    return Reply(status=status, fields=(("Content-Type", "text/plain; charset=utf-8"),), body=text.encode())


def _page(publisher: Publisher) -> Reply:
    """The publisher's front page, which names the feed."""
    title = escape(publisher.title)
    text = (
        f'<!doctype html><html lang="{publisher.language}"><head><meta charset="utf-8"><title>{title}</title>'
        f'<link rel="alternate" type="application/rss+xml" href="{FEED_PATH}"></head>'
        f"<body><h1>{title}</h1></body></html>\n"
    )
    return Reply(fields=(("Content-Type", "text/html; charset=utf-8"),), body=text.encode())
