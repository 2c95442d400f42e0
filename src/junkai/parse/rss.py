"""The tree of an RSS 0.9x, 2.0 or 1.0 document in; a raw feed out. RSS 1.0 (RDF) differs in few places: see `rdf`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from lxml.etree import _Element as Element

from junkai.document import Category, Person
from junkai.parse import media
from junkai.parse.markup import atom_markup, plain, rss_markup
from junkai.parse.people import distinct, person_from, person_of
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
from junkai.parse.tree import Fields, Tree, local_name, text_in

#: Where an item may stand. Within another item: the end tag was lost.
_PARENTS: Final = frozenset({"channel", "rss", "rdf", "items", "item"})
_TITLES: Final = ("title", "atom:title", "dc:title")
_CONTENTS: Final = ("content:encoded", "encoded", "xhtml:body", "xhtml:div", "body", "content")
_SUMMARIES: Final = ("description", "dc:description", "dcterms:abstract", "itunes:summary", "itunes:subtitle")
_PUBLISHED: Final = (
    "pubdate",
    "dc:date",
    "dcterms:issued",
    "dcterms:created",
    "dcterms:date",
    "atom:published",
    "date",
)
_CATEGORIES: Final = frozenset({"category", "dc:subject", "atom:category"})
_MEDIA: Final = frozenset({"enclosure", "media:content", "media:group", "atom:link"})
_IMAGES: Final = frozenset({"media:thumbnail", "media:content", "media:group", "itunes:image", "image"})
_COMMENTS: Final = frozenset({"comments", "atom:link"})
_UPDATED: Final = ("atom:updated", "dcterms:modified", "lastbuilddate")


def read_rss(tree: Tree) -> RawFeed:
    """Read a document whose root is `rss` or `channel`."""
    version = (tree.attributes(tree.root).get("version") or "").strip()
    return read_channel(tree, format_name="rss", version=version[:20])


def read_channel(tree: Tree, *, format_name: str, version: str) -> RawFeed:
    """Read the channel, wherever its items stand."""
    root = tree.root
    outer = tree.fields(root)
    channel = root if local_name(root) == "channel" else outer.get("channel", [root])[0]
    fields = outer if channel is root else tree.fields(channel)
    for name in ("image", "textinput"):  # RSS 0.90 and 1.0 have them beside the channel
        if name in outer:
            fields.setdefault(name, outer[name])
    items = tree.placed("item", _PARENTS)
    return RawFeed(
        format=format_name,
        version=version,
        entries=(read_item(item, tree) for item in items),
        entry_count=len(items),
        title=rss_markup(_first(fields.all(*_TITLES)), tree),
        description=rss_markup(_first(fields.all(*_SUMMARIES)), tree),
        links=_links(fields, tree),
        self_links=list(_atom_links(fields, tree, "self")),
        hubs=list(_atom_links(fields, tree, "hub")),
        icons=_icons(fields, tree),
        authors=_authors(fields, tree, "managingeditor"),
        updated=fields.text("lastbuilddate", "pubdate", "dc:date", "dcterms:modified", "atom:updated"),
        language=fields.text("language", "dc:language") or tree.language(channel) or tree.language(root),
        ttl=fields.text("ttl"),
        skip_hours=_listed(fields, tree, "skiphours", "hour"),
        skip_days=_listed(fields, tree, "skipdays", "day"),
        update_period=fields.text("sy:updateperiod"),
        update_frequency=fields.text("sy:updatefrequency"),
    )


def _first(elements: list[Element]) -> Element | None:
    return elements[0] if elements else None


def read_item(item: Element, tree: Tree) -> RawEntry:
    """Read one item."""
    fields = tree.fields(item)
    places = media.groups(fields, tree)
    guid, permalinks = _guid(fields, tree, item)
    content = _first_markup(fields, tree, _CONTENTS) or _atom_markup(fields, tree, "atom:content")
    summary = _first_markup(fields, tree, _SUMMARIES) or _atom_markup(fields, tree, "atom:summary")
    if summary is None and content is None:
        summary = rss_markup(media.description(places), tree)
    return RawEntry(
        id=guid,
        links=[*_links(fields, tree), *permalinks],
        title=_title(fields, places, tree),
        summary=summary,
        content=content,
        published=fields.text(*_PUBLISHED),
        updated=fields.text(*_UPDATED),
        authors=_authors(fields, tree, "author"),
        categories=_categories(fields, tree) if fields.has_any(_CATEGORIES) else (),
        enclosures=_enclosures(fields, places, tree) if fields.has_any(_MEDIA) else (),
        images=list(media.images(fields, places, tree)) if fields.has_any(_IMAGES) else (),
        comments=_comments(fields, tree) if fields.has_any(_COMMENTS) else (),
        language=fields.text("dc:language", "language") or tree.language(item),
    )


def _comments(fields: Fields, tree: Tree) -> list[Reference]:
    comments = [Reference(text_in(element), tree.base(element)) for element in fields.get("comments", ())]
    return [*comments, *_atom_links(fields, tree, "replies")] if "atom:link" in fields else comments


def _title(fields: Fields, places: list[Fields], tree: Tree) -> Markup | None:
    title = _first_markup(fields, tree, ("title", "dc:title")) or _atom_markup(fields, tree, "atom:title")
    if title is None:
        title = plain(media.title(places), tree) or plain(_first(fields.all("itunes:title")), tree)
    return title


def _atom_markup(fields: Fields, tree: Tree, name: str) -> Markup | None:
    return atom_markup(fields[name][0], tree) if name in fields else None


def _first_markup(fields: Fields, tree: Tree, names: tuple[str, ...]) -> Markup | None:
    for name in names:
        if name in fields:
            for element in fields[name]:
                if (markup := rss_markup(element, tree)) is not None:
                    return markup
    return None


def _guid(fields: Fields, tree: Tree, item: Element) -> tuple[str, list[Reference]]:
    """The id, and what of it is a link: `isPermaLink` is true unless it says otherwise (RSS 2.0, guid)."""
    for element in fields.get("guid", ()):
        guid = text_in(element).strip()
        if guid:
            if "://" not in guid[:20]:
                return guid, []
            is_permalink = tree.attributes(element).get("ispermalink", "").strip().lower() != "false"
            return guid, [Reference(guid, tree.base(element))] if is_permalink else []
    for element in fields.get("atom:id", ()):
        if text := text_in(element).strip():
            return text, []
    attributes = tree.attributes(item)
    about = (attributes.get("about") or attributes.get("rdf:about") or "").strip()
    return about, [Reference(about, tree.base(item))] if about else []


def _links(fields: Fields, tree: Tree) -> list[Reference]:
    """FeedBurner's original first; then `link`, whose URL some put into an attribute; then Atom's alternate."""
    links = [
        Reference(text_in(element) or element.get("href") or "", tree.base(element))
        for element in (*fields.get("feedburner:origlink", ()), *fields.get("link", ()))[:LINKS_MAX]
    ]
    if "atom:link" in fields:
        links += _atom_links(fields, tree, "alternate")
    return links


def _atom_links(fields: Fields, tree: Tree, relation: str) -> Iterator[Reference]:
    """Links of Atom with that relation, in a document that is RSS; `rel` defaults to alternate (RFC 4287 §4.2.7.2)."""
    for name in ("atom:link", "link"):
        for element in fields.get(name, ())[:LINKS_MAX]:
            href = element.get("href")
            if href and (element.get("rel") or "alternate").strip().lower() == relation:
                yield Reference(href, tree.base(element))


def _authors(fields: Fields, tree: Tree, own: str) -> list[Person]:
    people = distinct(
        [person_of(element, tree) for element in fields.all(own, "dc:creator", "dc:author", "atom:author")]
    )
    return people or distinct(
        [person_from(text_in(element)) for element in fields.all("itunes:author", "dc:publisher")]
    )


def _categories(fields: Fields, tree: Tree) -> list[Category]:
    categories = []
    for element in fields.all("category", "dc:subject", "atom:category"):
        attributes = tree.attributes(element)
        term = text_in(element).strip() or attributes.get("term", "").strip() or attributes.get("text", "").strip()
        if term:
            scheme = attributes.get("domain") or attributes.get("scheme") or ""
            categories.append(Category(term=term, scheme=scheme.strip(), label=attributes.get("label", "").strip()))
    return list(dict.fromkeys(categories))[:CATEGORIES_MAX] if len(categories) > 1 else categories


def _enclosures(fields: Fields, places: list[Fields], tree: Tree) -> list[RawEnclosure]:
    found = list(media.enclosures(fields, places, tree))
    for element in fields.get("atom:link", ()):
        href = element.get("href")
        if href and (element.get("rel") or "").strip().lower() == "enclosure":
            found.append(
                RawEnclosure(
                    Reference(href, tree.base(element)), element.get("type") or "", element.get("length") or ""
                )
            )
    return found[:ENCLOSURES_MAX]


def _icons(fields: Fields, tree: Tree) -> list[Reference]:
    icons = [Reference(text_in(element), tree.base(element)) for element in fields.get("webfeeds:icon", ())]
    for element in fields.get("image", ()):
        attributes = tree.attributes(element)
        text = tree.fields(element).text("url") or attributes.get("resource", "") or attributes.get("rdf:resource", "")
        icons.append(Reference(text or attributes.get("href", ""), tree.base(element)))
    icons += (Reference(element.get("href") or "", tree.base(element)) for element in fields.get("itunes:image", ()))
    return icons


def _listed(fields: Fields, tree: Tree, name: str, item: str) -> list[str]:
    return [text_in(each) for element in fields.get(name, ()) for each in tree.fields(element).get(item, ())][:50]
