"""A publisher and its posts in, the bytes of its feed out, in its format and its encoding."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from email.utils import format_datetime
from html import escape
from typing import Final

import msgspec

from junkai.demo.feeds import Format, Post, Publisher, Quirk

_MEDIA_TYPES: Final = {
    Format.RSS_20: "application/rss+xml",
    Format.RSS_091: "text/xml",
    Format.RDF: "application/rdf+xml",
    Format.ATOM_10: "application/atom+xml",
    Format.ATOM_03: "application/xml",
    Format.JSON_FEED: "application/feed+json",
}


def content_type(publisher: Publisher) -> str:
    """The Content-Type: two of three publishers name the charset there, the others in the document only."""
    media_type = _MEDIA_TYPES[publisher.format]
    return media_type if publisher.number % 3 == 0 else f"{media_type}; charset={publisher.encoding}"


def render(publisher: Publisher, posts: list[Post]) -> bytes:
    """The document, newest post first."""
    if publisher.format is Format.JSON_FEED:
        return _json_feed(publisher, posts)
    text = _XML[publisher.format](publisher, posts)
    if publisher.quirk is Quirk.BROKEN_XML:
        text = text.replace("</title>", " & more&nbsp;</title>")
    declaration = f'<?xml version="1.0" encoding="{publisher.encoding}"?>\n'
    return (declaration + text).encode(publisher.encoding, "xmlcharrefreplace")


def _home(publisher: Publisher) -> str:
    return f"https://{publisher.host}/"


def _link(publisher: Publisher, post: Post) -> str:
    return f"{_home(publisher)}{post.published_at:%Y/%m}/{post.number}"


def _changed_at(post: Post) -> datetime:
    return post.revised_at or post.published_at


def _html(post: Post) -> str:
    """The content; its picture's URL is relative, as it often is."""
    paragraphs = "".join(f"<p>{escape(paragraph, quote=False)}</p>" for paragraph in post.paragraphs)
    return f'{paragraphs}<p><img src="/pictures/{post.number}.jpg" alt=""></p>'


def _rfc822(moment: datetime) -> str:
    return format_datetime(moment.replace(microsecond=0), usegmt=True)


def _rfc3339(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def _rss_20(publisher: Publisher, posts: list[Post]) -> str:
    items = "".join(
        f"<item><title>{escape(post.title)}</title><link>{_link(publisher, post)}</link>"
        f'<guid isPermaLink="false">tag:{publisher.host},2026:{post.number}</guid>'
        f"<pubDate>{_rfc822(post.published_at)}</pubDate><dc:creator>{escape(publisher.author)}</dc:creator>"
        f"<description>{escape(post.paragraphs[0])}</description>"
        f"<content:encoded>{escape(_html(post))}</content:encoded></item>\n"
        for post in posts
    )
    return (
        '<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"'
        ' xmlns:dc="http://purl.org/dc/elements/1.1/"><channel>'
        f"<title>{escape(publisher.title)}</title><link>{_home(publisher)}</link>"
        f"<description>{escape(publisher.author)}</description><language>{publisher.language}</language>\n"
        f"{items}</channel></rss>\n"
    )


def _rss_091(publisher: Publisher, posts: list[Post]) -> str:
    items = "".join(
        f"<item><title>{escape(post.title)}</title><link>{_link(publisher, post)}</link>"
        f"<description>{escape(' '.join(post.paragraphs))}</description></item>\n"
        for post in posts
    )
    return (
        f'<rss version="0.91"><channel><title>{escape(publisher.title)}</title><link>{_home(publisher)}</link>'
        f"<description>{escape(publisher.author)}</description><language>{publisher.language}</language>\n"
        f"{items}</channel></rss>\n"
    )


def _rdf(publisher: Publisher, posts: list[Post]) -> str:
    order = "".join(f'<rdf:li rdf:resource="{_link(publisher, post)}"/>' for post in posts)
    items = "".join(
        f'<item rdf:about="{_link(publisher, post)}"><title>{escape(post.title)}</title>'
        f"<link>{_link(publisher, post)}</link><dc:date>{_rfc3339(_changed_at(post))}</dc:date>"
        f"<dc:creator>{escape(publisher.author)}</dc:creator>"
        f"<description>{escape(' '.join(post.paragraphs))}</description></item>\n"
        for post in posts
    )
    return (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"'
        f' xmlns:dc="http://purl.org/dc/elements/1.1/" xml:lang="{publisher.language}">'
        f'<channel rdf:about="{_home(publisher)}index.rdf"><title>{escape(publisher.title)}</title>'
        f"<link>{_home(publisher)}</link><description>{escape(publisher.author)}</description>"
        f"<items><rdf:Seq>{order}</rdf:Seq></items></channel>\n{items}</rdf:RDF>\n"
    )


def _atom_10(publisher: Publisher, posts: list[Post]) -> str:
    entries = "".join(
        f"<entry><title>{escape(post.title)}</title><link href='{_link(publisher, post)}'/>"
        f"<id>tag:{publisher.host},2026:{post.number}</id><published>{_rfc3339(post.published_at)}</published>"
        f"<updated>{_rfc3339(_changed_at(post))}</updated>"
        f'<content type="html">{escape(_html(post))}</content></entry>\n'
        for post in posts
    )
    return (
        f'<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="{publisher.language}" xml:base="{_home(publisher)}">'
        f"<title>{escape(publisher.title)}</title><link href='/'/><id>tag:{publisher.host},2026:feed</id>"
        f"<updated>{_rfc3339(max(map(_changed_at, posts)))}</updated>"
        f"<author><name>{escape(publisher.author)}</name></author>\n{entries}</feed>\n"
    )


def _atom_03(publisher: Publisher, posts: list[Post]) -> str:
    entries = "".join(
        f"<entry><title>{escape(post.title)}</title>"
        f'<link rel="alternate" type="text/html" href="{_link(publisher, post)}"/>'
        f"<id>tag:{publisher.host},2026:{post.number}</id><issued>{_rfc3339(post.published_at)}</issued>"
        f"<modified>{_rfc3339(_changed_at(post))}</modified>"
        f'<content type="text/html" mode="escaped">{escape(_html(post))}</content></entry>\n'
        for post in posts
    )
    return (
        f'<feed version="0.3" xmlns="http://purl.org/atom/ns#" xml:lang="{publisher.language}">'
        f"<title>{escape(publisher.title)}</title>"
        f'<link rel="alternate" type="text/html" href="{_home(publisher)}"/>'
        f"<modified>{_rfc3339(max(map(_changed_at, posts)))}</modified>"
        f"<author><name>{escape(publisher.author)}</name></author>\n{entries}</feed>\n"
    )


def _json_feed(publisher: Publisher, posts: list[Post]) -> bytes:
    items = [
        {
            "id": f"tag:{publisher.host},2026:{post.number}",
            "url": _link(publisher, post),
            "title": post.title,
            "content_html": _html(post),
            "date_published": _rfc3339(post.published_at),
            "date_modified": _rfc3339(_changed_at(post)),
        }
        for post in posts
    ]
    return msgspec.json.encode(
        {
            "version": "https://jsonfeed.org/version/1.1",
            "title": publisher.title,
            "home_page_url": _home(publisher),
            "language": publisher.language,
            "authors": [{"name": publisher.author}],
            "items": items,
        }
    )


_XML: Final[dict[Format, Callable[[Publisher, list[Post]], str]]] = {
    Format.RSS_20: _rss_20,
    Format.RSS_091: _rss_091,
    Format.RDF: _rdf,
    Format.ATOM_10: _atom_10,
    Format.ATOM_03: _atom_03,
}
