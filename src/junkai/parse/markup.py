"""Elements that hold text or markup in (RSS descriptions, text constructs of RFC 4287 §3.1 and Atom 0.3); HTML out."""

from __future__ import annotations

import base64
import binascii
import html
import re
from typing import Final

from lxml.etree import _Element as Element

from junkai.parse.raw import Markup
from junkai.parse.sanitize import text_of
from junkai.parse.tree import Tree, local_name, text_in

#: What makes a title HTML: the elements that people write in titles. `<three>` is no element, and stays.
_TITLE_MARKUP: Final = re.compile(
    r"<(?=[a-zA-Z/!])/?(?:a|abbr|b|big|br|cite|code|del|div|em|font|h[1-6]|i|img|ins|kbd|mark|nobr|p|q|rp|rt|ruby|s"
    r"|script|small|span|strike|strong|style|sub|sup|tt|u|wbr)(?=[\s/>])|<!--",
    re.IGNORECASE,
)
_VOID: Final = frozenset("area br col embed hr img input link meta param source track wbr".split())
_URL_ATTRIBUTES: Final = frozenset({"action", "background", "cite", "href", "longdesc", "poster", "src"})
_HTML_TYPES: Final = frozenset({"html", "text/html", "application/xhtml+xml", "xhtml"})


def rss_markup(element: Element | None, tree: Tree) -> Markup | None:
    """The text of an RSS element, which is HTML by custom; markup that was not escaped is written out again."""
    if element is None:
        return None
    value = _inner(element, tree) if len(element) else element.text or ""
    return Markup(value, tree.base(element)) if value and not value.isspace() else None


def atom_markup(element: Element | None, tree: Tree) -> Markup | None:
    """A text construct or content of Atom: by `type` in 1.0, by `mode` in 0.3. Media and other XML than XHTML: None."""
    if element is None:
        return None
    written = element.get("type")
    kind = written.strip().lower() if written else "text"
    is_html = kind in _HTML_TYPES
    if not is_html and "/" in kind and not kind.startswith("text/"):
        return None  # RFC 4287 §4.1.3.3: pictures, SVG, another feed
    if mode := element.get("mode"):
        mode = mode.strip().lower()
        if mode == "base64":
            return _markup(_from_base64(element.text or ""), element, tree, is_html=is_html)
        is_html = is_html or (mode == "escaped" and written is None and not len(element))
    if len(element):
        return _markup(_inner(_without_wrapper(element), tree), element, tree, is_html=True)
    return _markup(element.text or "", element, tree, is_html=is_html)


def _markup(value: str, element: Element, tree: Tree, *, is_html: bool) -> Markup | None:
    return Markup(value, tree.base(element), is_html) if value and not value.isspace() else None


def _without_wrapper(element: Element) -> Element:
    """The `div` that XHTML content is wrapped in (RFC 4287 §3.1.1.3), which is no part of it."""
    if len(element) == 1 and local_name(element[0]) in ("div", "body") and not (element.text or "").strip():
        return element[0]
    return element


def _from_base64(text: str) -> str:
    try:
        return base64.b64decode(text, validate=False).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return ""


def _inner(element: Element, tree: Tree) -> str:
    """What is within an element, written as HTML: names without prefixes, and URLs under their own `xml:base`."""
    parts = [html.escape(element.text or "", quote=False)]
    base = tree.base(element)
    for child in element:
        _write(child, tree, base, parts)
    return "".join(parts)


def _write(element: Element, tree: Tree, outer_base: str, parts: list[str]) -> None:
    """Recursion ends where libxml2's bound on depth does."""
    base = tree.base_within(outer_base, element)
    name = local_name(element)
    parts.append(f"<{name}")
    for attribute, value in element.attrib.items():
        if not attribute.startswith("{"):
            if tree.has_bases and attribute in _URL_ATTRIBUTES:
                value = tree.absolute(base, value)  # noqa: PLW2901  # the same value, absolute
            parts.append(f' {attribute}="{html.escape(value)}"')
    parts.append(">")
    if name not in _VOID:
        parts.append(html.escape(element.text or "", quote=False))
        for child in element:
            _write(child, tree, base, parts)
        parts.append(f"</{name}>")
    parts.append(html.escape(element.tail or "", quote=False))


def html_of(markup: Markup | None) -> str:
    """The construct as HTML, not yet sanitised."""
    if markup is None:
        return ""
    return markup.value if markup.is_html else html.escape(markup.value, quote=False)


def line_of(markup: Markup | None) -> str:
    """A title as one line of plain text."""
    if markup is None:
        return ""
    value = markup.value
    if markup.is_html and ("<" in value or "&" in value):
        value = text_of(value) if _TITLE_MARKUP.search(value) else _unescaped(value)
    return " ".join(value.split())


def _unescaped(value: str) -> str:
    try:
        return html.unescape(value)
    except ValueError:  # a reference of more digits than Python makes a number of
        return value


def plain(element: Element | None, tree: Tree) -> Markup | None:
    """The text of an element that holds no HTML."""
    if element is None:
        return None
    value = text_in(element)
    return Markup(value, tree.base(element), is_html=False) if value.strip() else None
