"""Settings and what is asked for in; the request fields that say who asks and what is understood, out (rules 20–22)."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from junkai import __version__
from junkai.config import Settings
from junkai.errors import SettingsError
from junkai.fetch.body import ACCEPT_ENCODING
from junkai.model import SourceKind

_ACCEPT: Final = {
    SourceKind.FEED: (
        "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml;q=0.9,"
        " application/xml;q=0.8, text/xml;q=0.8, application/json;q=0.7, */*;q=0.1"
    ),
    SourceKind.PAGE: "text/html, application/xhtml+xml, application/xml;q=0.8, */*;q=0.1",
    SourceKind.SITEMAP: "application/xml, text/xml, text/plain;q=0.8, */*;q=0.1",
}


class Identity:
    """Who we are: one User-Agent, the same for every request but for the number of subscribers."""

    def __init__(self, settings: Settings) -> None:
        """Raises SettingsError for a contact_url that cannot stand in a header."""
        contact_url = settings.contact_url
        if not (contact_url.isascii() and contact_url.isprintable()):
            raise SettingsError("contact_url", "only printable ASCII can be sent in a User-Agent")
        self._contact_url = contact_url
        self.fields = lru_cache(maxsize=1024)(self._fields)

    def _fields(self, kind: SourceKind, subscribers: int) -> tuple[tuple[str, str], ...]:
        return (
            ("User-Agent", self.user_agent(subscribers)),
            ("Accept", _ACCEPT[kind]),
            ("Accept-Encoding", ACCEPT_ENCODING),
        )

    def user_agent(self, subscribers: int) -> str:
        """`junkai/VERSION (+contact_url; N subscribers)`."""
        return f"junkai/{__version__} (+{self._contact_url}; {subscribers} subscribers)"
