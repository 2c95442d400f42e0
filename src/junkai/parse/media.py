"""Fields of an entry in; enclosures and images of Media RSS, iTunes and plain RSS out."""

from __future__ import annotations

from collections.abc import Iterator

from lxml.etree import _Element as Element

from junkai.parse.raw import RawEnclosure, Reference
from junkai.parse.tree import Fields, Tree, text_in


def groups(fields: Fields, tree: Tree) -> list[Fields]:
    """The entry's own fields and those of its `media:group`s: media may stand in either."""
    if "media:group" not in fields:
        return [fields]
    return [fields, *(tree.fields(group) for group in fields["media:group"])]


def enclosures(fields: Fields, places: list[Fields], tree: Tree) -> Iterator[RawEnclosure]:
    """Enclosures of RSS 2.0 first, then `media:content`; pictures without a size are still enclosures."""
    duration = fields.text("itunes:duration")
    for element in fields.get("enclosure", ()):
        attributes = tree.attributes(element)
        if href := attributes.get("url", "").strip() or attributes.get("href", "").strip():
            yield RawEnclosure(
                Reference(href, tree.base(element)),
                attributes.get("type", "").strip(),
                attributes.get("length", "").strip(),
                "",
                duration,
            )
            duration = ""
    for place in places:
        for element in place.get("media:content", ()):
            attributes = tree.attributes(element)
            if href := attributes.get("url", "").strip():
                yield RawEnclosure(
                    Reference(href, tree.base(element)),
                    attributes.get("type", "").strip() or _type_of(attributes.get("medium", "")),
                    attributes.get("filesize", "").strip(),
                    tree.fields(element).text("media:title") if len(element) else "",
                    attributes.get("duration", "").strip(),
                )


def _type_of(medium: str) -> str:
    medium = medium.strip().lower()
    return f"{medium}/*" if medium in ("image", "audio", "video") else ""


def images(fields: Fields, places: list[Fields], tree: Tree) -> Iterator[Reference]:
    """What may stand for the entry as a picture, the best first."""
    for place in places:
        for element in place.get("media:thumbnail", ()):
            yield from _thumbnail(element, tree)
        for content in place.get("media:content", ()):
            attributes = tree.attributes(content)
            if len(content):
                for element in tree.fields(content).get("media:thumbnail", ()):
                    yield from _thumbnail(element, tree)
            if attributes.get("medium", "").lower() == "image" or attributes.get("type", "").startswith("image/"):
                yield Reference(attributes.get("url", ""), tree.base(content))
    for element in fields.get("itunes:image", ()):
        yield Reference(element.get("href") or element.text or "", tree.base(element))
    for element in fields.get("image", ()):
        text = tree.fields(element).text("url") if len(element) else element.get("href") or element.text or ""
        yield Reference(text, tree.base(element))


def _thumbnail(element: Element, tree: Tree) -> Iterator[Reference]:
    """Some (note) put the URL into the text."""
    yield Reference(tree.attributes(element).get("url") or text_in(element), tree.base(element))


def description(places: list[Fields]) -> Element | None:
    """The `media:description` that stands in for a missing one."""
    for place in places:
        for element in place.get("media:description", ()):
            return element
    return None


def title(places: list[Fields]) -> Element | None:
    """The `media:title` that stands in for a missing one."""
    for place in places:
        for element in place.get("media:title", ()):
            return element
    return None
