"""Tags as lxml gives them, `{uri}local`, in; one short lower-case name for each, such as `dc:creator`, out.

Elements of the feed's own vocabulary have no prefix: those in the namespace of the root, in any that RSS was ever
written in, and in none. So a reader asks for names and never for namespaces.
"""

from __future__ import annotations

from typing import Final

#: Namespace → our prefix, compared without case and without a final "/" or "#".
_PREFIXES: Final = {
    "": "",
    # RSS, over the years
    "http://purl.org/rss/1.0": "",
    "http://my.netscape.com/rdf/simple/0.9": "",
    "http://channel.netscape.com/rdf/simple/0.9": "",
    "http://my.netscape.com/publish/formats/rss-0.91.dtd": "",
    "http://purl.org/net/rss1.1": "",
    "http://backend.userland.com/rss": "",
    "http://backend.userland.com/rss2": "",
    "http://backend.userland.com/rss091": "",
    "http://blogs.law.harvard.edu/tech/rss": "",
    "http://cyber.law.harvard.edu/rss": "",
    "http://cyber.law.harvard.edu/rss/rss.html": "",
    # Atom 1.0 and 0.3
    "http://www.w3.org/2005/atom": "atom",
    "http://purl.org/atom/ns": "atom",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns": "rdf",
    "http://www.w3.org/1999/xhtml": "xhtml",
    "http://www.w3.org/xml/1998/namespace": "xml",
    # modules
    "http://purl.org/dc/elements/1.0": "dc",
    "http://purl.org/dc/elements/1.1": "dc",
    "http://purl.org/dc/terms": "dcterms",
    "http://purl.org/rss/1.0/modules/content": "content",
    "http://purl.org/rss/1.0/modules/syndication": "sy",
    "http://purl.org/rss/1.0/modules/dcterms": "dcterms",
    "http://purl.org/rss/1.0/modules/slash": "slash",
    "http://purl.org/rss/1.0/modules/annotate": "annotate",
    "http://search.yahoo.com/mrss": "media",
    "http://tools.search.yahoo.com/mrss": "media",
    "http://www.rssboard.org/media-rss": "media",
    "http://video.search.yahoo.com/mrss": "media",
    "http://www.itunes.com/dtds/podcast-1.0.dtd": "itunes",
    "http://www.itunes.com/dtd/podcast-1.0.dtd": "itunes",
    "http://rssnamespace.org/feedburner/ext/1.0": "feedburner",
    "http://wellformedweb.org/commentapi": "wfw",
    "http://purl.org/syndication/thread/1.0": "thr",
    "http://webfeeds.org/rss/1.0": "webfeeds",
}
#: Prefixes that people use without declaring them; libxml2 then takes them for a part of the name.
_USUAL: Final = {
    "rss": "",
    "a10": "atom",
    "atom": "atom",
    "rdf": "rdf",
    "xhtml": "xhtml",
    "dc": "dc",
    "dcterms": "dcterms",
    "content": "content",
    "sy": "sy",
    "slash": "slash",
    "media": "media",
    "itunes": "itunes",
    "feedburner": "feedburner",
    "wfw": "wfw",
    "thr": "thr",
    "webfeeds": "webfeeds",
}


def prefix_of(namespace: str) -> str | None:
    """Our prefix for a namespace; None where we know none."""
    return _PREFIXES.get(namespace.lower().rstrip("/#"))


def split(tag: str) -> tuple[str, str]:
    """Namespace and local name of a tag."""
    if tag.startswith("{"):
        namespace, _, local = tag[1:].partition("}")
        return namespace, local
    return "", tag


class Names(dict[str, str]):
    """Short names of one document's tags and attributes, each worked out once; see the module.

    The root's namespace is the feed's own, whatever it is: Atom's in an Atom feed, RDF's in RSS 1.0, a wrong one.
    """

    def __init__(self, root_tag: str) -> None:
        super().__init__()
        namespace, local = split(root_tag)
        self._own = prefix_of(namespace)
        self._own_namespace = namespace
        self._is_atom = local.rpartition(":")[2].lower() == "feed"

    def __missing__(self, tag: str) -> str:
        namespace, local = split(tag)
        if not namespace and ":" in local:
            written, _, local = local.partition(":")
            prefix = _USUAL.get(written.lower())
        else:
            prefix = "" if namespace == self._own_namespace else prefix_of(namespace)
        if (prefix is not None and prefix == self._own) or (self._is_atom and prefix == "atom"):
            prefix = ""
        if prefix is None:
            name = tag
        else:
            name = f"{prefix}:{local.lower()}" if prefix else local.lower()
        self[tag] = name
        return name
