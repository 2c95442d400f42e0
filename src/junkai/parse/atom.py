"""The tree of an Atom 1.0 (RFC 4287) or 0.3 document in; a raw feed out."""

from __future__ import annotations

from typing import Final

from lxml.etree import _Element as Element

from junkai.document import Category, Person
from junkai.parse import media
from junkai.parse.markup import atom_markup, plain, rss_markup
from junkai.parse.namespaces import split
from junkai.parse.people import distinct, person_of
from junkai.parse.raw import (
    CATEGORIES_MAX,
    ENCLOSURES_MAX,
    LINKS_MAX,
    Markup,
    RawEnclosure,
    RawEntry,
    RawFeed,
    Reference,
)
from junkai.parse.tree import Fields, Tree, text_in

_ATOM_03: Final = "http://purl.org/atom/ns#"
#: Where an entry may stand. Within another entry: the end tag was lost.
_PARENTS: Final = frozenset({"feed", "entry"})
_PUBLISHED: Final = ("published", "issued", "created", "dc:date", "pubdate", "dcterms:issued")
_UPDATED: Final = ("updated", "modified", "dcterms:modified")
_ENCLOSURES: Final = frozenset({"enclosure", "media:content", "media:group"})
_IMAGES: Final = frozenset({"media:thumbnail", "media:content", "media:group", "itunes:image", "image"})
_REGISTERED: Final = "http://www.iana.org/assignments/relation/"


def read_atom(tree: Tree) -> RawFeed:
    """Read a document whose root is `feed`."""
    root = tree.root
    is_03 = split(str(root.tag))[0] == _ATOM_03 or (root.get("version") or "").strip() == "0.3"
    fields = tree.fields(root)
    entries = tree.placed("entry", _PARENTS)
    authors = _authors(fields, tree)
    links = _by_relation(fields)
    return RawFeed(
        format="atom",
        version="0.3" if is_03 else "1.0",
        entries=(read_entry(entry, tree, authors) for entry in entries),
        entry_count=len(entries),
        title=_first_markup(fields, tree, "title"),
        description=_first_markup(fields, tree, "subtitle", "tagline"),
        links=_references(links.get("alternate", []), tree),
        self_links=_references(links.get("self", []), tree),
        hubs=_references(links.get("hub", []), tree),
        icons=[
            Reference(text_in(element), tree.base(element)) for element in fields.all("icon", "logo", "webfeeds:icon")
        ],
        authors=authors,
        updated=fields.text("updated", "modified"),
        language=tree.language(root) or fields.text("dc:language") or None,
        update_period=fields.text("sy:updateperiod"),
        update_frequency=fields.text("sy:updatefrequency"),
    )


def read_entry(entry: Element, tree: Tree, feed_authors: list[Person]) -> RawEntry:
    """Read one entry; its authors are the feed's where it has none (RFC 4287 §4.2.1)."""
    fields = tree.fields(entry)
    places = media.groups(fields, tree)
    links = _by_relation(fields)
    content = _first_markup(fields, tree, "content", "content:encoded")
    summary = _first_markup(fields, tree, "summary", "description")
    if content is None and summary is None:
        summary = rss_markup(media.description(places), tree)
    return RawEntry(
        id=fields.text("id", "guid"),
        links=_entry_links(fields, links, tree),
        title=_first_markup(fields, tree, "title") or plain(media.title(places), tree),
        summary=summary,
        content=content,
        published=fields.text(*_PUBLISHED),
        updated=fields.text(*_UPDATED),
        authors=_authors(fields, tree) or _source_authors(fields, tree) or feed_authors,
        categories=_categories(fields),
        enclosures=_enclosures(links, fields, places, tree)
        if "enclosure" in links or fields.has_any(_ENCLOSURES)
        else (),
        images=list(media.images(fields, places, tree)) if fields.has_any(_IMAGES) else (),
        comments=_references(links["replies"], tree) if "replies" in links else (),
        language=tree.language(entry) or _content_language(fields, tree) or fields.text("dc:language") or None,
    )


def _by_relation(fields: Fields) -> dict[str, list[Element]]:
    """Link elements by their relation, in order of preference: HTML before others (RFC 4287 §4.2.7)."""
    links: dict[str, list[Element]] = {}
    for element in fields.get("link", ()):
        relation = (element.get("rel") or "alternate").strip().lower().removeprefix(_REGISTERED)
        links.setdefault(relation, []).append(element)
    for found in links.values():
        if len(found) > 1:
            found.sort(
                key=lambda element: (element.get("type") or "text/html") not in ("text/html", "application/xhtml+xml")
            )
    return links


def _entry_links(fields: Fields, links: dict[str, list[Element]], tree: Tree) -> list[Reference]:
    """FeedBurner's original, the alternate, what the content is to be had from (RFC 4287 §4.1.3.2)."""
    found = [Reference(text_in(element), tree.base(element)) for element in fields.get("feedburner:origlink", ())]
    if "alternate" in links:
        found += _references(links["alternate"], tree)
    for element in fields.get("content", ()):
        if source := element.get("src"):
            found.append(Reference(source, tree.base(element)))
    return found


def _references(elements: list[Element], tree: Tree) -> list[Reference]:
    """Their URLs; some put it into the text, as RSS does."""
    return [
        Reference(element.get("href") or element.text or "", tree.base(element)) for element in elements[:LINKS_MAX]
    ]


def _first_markup(fields: Fields, tree: Tree, *names: str) -> Markup | None:
    for name in names:
        if name in fields:
            read = rss_markup if name == "content:encoded" else atom_markup
            for element in fields[name]:
                if (markup := read(element, tree)) is not None:
                    return markup
    return None


def _content_language(fields: Fields, tree: Tree) -> str | None:
    if not tree.has_languages:
        return None
    for element in fields.all("content", "title"):
        if language := tree.language(element):
            return language
    return None


def _authors(fields: Fields, tree: Tree) -> list[Person]:
    return distinct([person_of(element, tree) for element in fields.all("author", "dc:creator")])


def _source_authors(fields: Fields, tree: Tree) -> list[Person]:
    for source in fields.get("source", ()):
        return _authors(tree.fields(source), tree)
    return []


def _categories(fields: Fields) -> list[Category]:
    categories = []
    for element in fields.all("category", "dc:subject"):
        term = (element.get("term") or text_in(element)).strip()
        if term:
            scheme, label = (element.get("scheme") or "").strip(), (element.get("label") or "").strip()
            categories.append(Category(term=term, scheme=scheme, label=label))
    return list(dict.fromkeys(categories))[:CATEGORIES_MAX] if len(categories) > 1 else categories


def _enclosures(
    links: dict[str, list[Element]], fields: Fields, places: list[Fields], tree: Tree
) -> list[RawEnclosure]:
    found = [
        RawEnclosure(
            Reference(element.get("href") or "", tree.base(element)),
            (element.get("type") or "").strip(),
            (element.get("length") or "").strip(),
            (element.get("title") or "").strip(),
        )
        for element in links.get("enclosure", [])
    ]
    return [*found, *media.enclosures(fields, places, tree)][:ENCLOSURES_MAX]
