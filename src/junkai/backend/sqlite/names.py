"""URLs in; the sources that they name, now or before a permanent move, out."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from junkai import url as urls
from junkai.backend.sqlite.connection import Connection
from junkai.backend.sqlite.queries import load
from junkai.clock import to_ms
from junkai.errors import UnknownSourceError, UrlError

SQL: Final = load("names")


def find(connection: Connection, url_key: bytes) -> int | None:
    """The source with this key; None where nobody knows it."""
    row = connection.row(SQL["find"], (url_key,))
    return None if row is None else int(row[0])


def source_id_of(connection: Connection, url: str) -> int:
    """Raises UnknownSourceError."""
    try:
        source_id = find(connection, urls.url_key(url))
    except UrlError:
        source_id = None
    if source_id is None:
        raise UnknownSourceError(urls.shown(url))
    return source_id


def move(connection: Connection, source_id: int, new_url: str, now: datetime) -> urls.Url | None:
    """Give a source its new name and keep the old one as an alias; None where it keeps the old one.

    It does where the new one is another source's already: the two stay apart, and the redirect is followed on every
    visit as before. Merging them would have to re-key subscriptions and entries; nothing is lost meanwhile.
    Raises UrlError.
    """
    url = urls.parse(new_url)
    key = urls.url_key(url.href)
    if find(connection, key) not in (None, source_id):
        return None
    [(old_key, old_url)] = connection.rows(SQL["current"], (source_id,))
    if key != old_key:
        connection.change(SQL["forget_earlier"], (key,))
        connection.change(SQL["keep_earlier"], (old_key, source_id, old_url, to_ms(now)))
    connection.change(SQL["rename"], (key, url.verbatim, source_id))
    return url
