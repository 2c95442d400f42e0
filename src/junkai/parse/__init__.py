"""The bytes of a body in; what was understood of it out, as a Document, whatever the bytes.

In this order: bounds (`bounds`), one decoding (`decode`), a strict parse and only where that fails a repair (`tree`,
`repair`), a reader for the format (`rss`, `rdf`, `atom`, `jsonfeed`), identity (`identity`), and sanitising of what is
new or changed (`assemble`, `sanitize`). OPML is read by `opml`.
"""

from __future__ import annotations

import re
from typing import Final

from junkai.document import Document, Problem
from junkai.errors import NotADocumentError
from junkai.parse.assemble import document_of
from junkai.parse.atom import read_atom
from junkai.parse.bounds import check_json, check_xml
from junkai.parse.decode import decode_body
from junkai.parse.jsonfeed import read_json
from junkai.parse.raw import RawFeed
from junkai.parse.rdf import read_rdf
from junkai.parse.rss import read_rss
from junkai.parse.tree import local_name, read_tree

__all__ = ["PARSER_VERSION", "parse_document"]

#: Goes up when the same bytes would make another Document, so that bodies that did not change are parsed again.
PARSER_VERSION: Final = 1

_READERS: Final = {"rss": read_rss, "channel": read_rss, "rdf": read_rdf, "feed": read_atom}
_OBJECT: Final = re.compile(r"\s*+{")
#: Against this, only absolute URLs resolve: for bodies that came from nowhere.
_NOWHERE: Final = "about:blank"


def parse_document(
    body: bytes, *, url: str, content_type: str = "", known: bytes = b"", entries_max: int = 10_000
) -> Document:
    """Parse a feed: RSS 0.90 to 2.0, RSS 1.0, Atom 0.3 and 1.0, JSON Feed.

    `url` is where the body was retrieved from after redirects: relative URLs stand against it. `content_type` is the
    field as received; of it, only the charset counts. Entries that `known` (see Document.known) holds unchanged are
    counted, and not among the entries of the document. Raises NotADocumentError, and nothing else, whatever the bytes.
    """
    decoded = decode_body(body, content_type)
    problems = list(decoded.problems)
    base = url or _NOWHERE
    text = decoded.text
    if _OBJECT.match(text):
        check_json(text, url=url)
        feed, found = read_json(text, url=url, base=base)
    else:
        check_xml(text, url=url)
        feed, found = _read_xml(text, decoded.as_utf8(body), url=url, base=base)
    return document_of(
        feed,
        encoding=decoded.encoding,
        problems=problems + found,
        base=base,
        known=known,
        entries_max=entries_max,
    )


def _read_xml(text: str, utf8: bytes, *, url: str, base: str) -> tuple[RawFeed, list[Problem]]:
    if not text or text.isspace():
        raise NotADocumentError(url, "nothing but white space")
    tree, problems = read_tree(text, utf8, url=url, base=base)
    root = local_name(tree.root)
    reader = _READERS.get(root)
    if reader is None:
        raise NotADocumentError(url, "a web page" if root == "html" else f"XML, but no feed: its root is {root[:40]}")
    return reader(tree), problems
