"""The text of an XML document in; a tree of it out, with the names of `namespaces`, and what was wrong with it.

libxml2 reads it strictly first. Only where that fails is the text repaired (`repair`) and read again, recovering. No
entity is expanded, no DTD read, and nothing is asked for over the network: the DOCTYPE is gone before libxml2 starts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from lxml import etree
from lxml.etree import _Element as Element

from junkai import url as urls
from junkai.document import Problem
from junkai.errors import NotADocumentError
from junkai.parse.namespaces import Names, split
from junkai.parse.prolog import find_root, without_prolog
from junkai.parse.repair import repair

PROBLEMS_MAX: Final = 20
#: Of an `xml:base`, resolved or not: each relative URL within it becomes as long. A longer one is ignored.
BASE_CHARS_MAX: Final = 2_000
#: What making the URLs in markup absolute may add to a document.
GROWTH_CHARS_MAX: Final = 10_000_000

_XML_BASE: Final = "{http://www.w3.org/XML/1998/namespace}base"
_XML_LANG: Final = "{http://www.w3.org/XML/1998/namespace}lang"
_RESOURCE_LIMITS: Final = {etree.ErrorTypes.ERR_RESOURCE_LIMIT, etree.ErrorTypes.ERR_NAME_TOO_LONG}
_UNDECLARED: Final = etree.ErrorTypes.NS_ERR_UNDEFINED_NAMESPACE


class Fields(dict[str, list[Element]]):
    """The children of an element by their short names, each list in document order."""

    def all(self, *names: str) -> list[Element]:
        """The children that have one of these names, those of the first name first."""
        found: list[Element] = []
        for name in names:
            if name in self:
                found += self[name]
        return found

    def text(self, *names: str) -> str:
        """The text of the first child that has any, stripped; names in order of preference."""
        for name in names:
            if name in self:
                for element in self[name]:
                    text = element.text if not len(element) else text_in(element)
                    if text and (text := text.strip()):
                        return text
        return ""

    def has_any(self, names: frozenset[str]) -> bool:
        """True where at least one child has one of these names."""
        return not names.isdisjoint(self)


class Tree:
    """A document's elements, and what holds for them by where they stand."""

    def __init__(self, root: Element, utf8: bytes, base: str) -> None:
        self.root = root
        self.names = Names(str(root.tag))
        self._base = base
        self._growth_left = GROWTH_CHARS_MAX
        self._bases: dict[Element, str] = {}  # by elements, which it keeps alive: they are their own keys
        has_either = b"xml:" in utf8
        self.has_bases = has_either and b"xml:base" in utf8
        self.has_languages = has_either and b"xml:lang" in utf8

    def name(self, element: Element) -> str:
        """The short name of an element, see `namespaces`."""
        return self.names[str(element.tag)]

    def fields(self, element: Element) -> Fields:
        """The children of an element by name."""
        names = self.names
        fields = Fields()
        for child in element:
            name = names[child.tag]  # type: ignore[index]  # comments, which have no such tag, are left out
            if name in fields:
                fields[name].append(child)
            else:
                fields[name] = [child]
        return fields

    def placed(self, name: str, parents: frozenset[str]) -> list[Element]:
        """All elements of that name whose parent has one of those, in document order."""
        found = self._placed(self.root.iter(f"{{*}}{name}"), name, parents)
        # Else written in capitals, or with a prefix that was never declared.
        return found or self._placed(self.root.iter(), name, parents)

    def _placed(self, elements: Iterator[Element], name: str, parents: frozenset[str]) -> list[Element]:
        return [
            element
            for element in elements
            if self.name(element) == name
            and (parent := element.getparent()) is not None
            and self.name(parent) in parents
        ]

    def attributes(self, element: Element) -> dict[str, str]:
        """The attributes of an element by short name: `isPermaLink` and `ispermalink` are one."""
        names = self.names
        return {names[name]: value for name, value in element.items()}

    def base(self, element: Element) -> str:
        """What relative references within an element stand against: `xml:base` in scope, else the document's URL."""
        if not self.has_bases:
            return self._base
        scopes = []
        scope: Element | None = element
        while scope is not None and scope not in self._bases:
            scopes.append(scope)
            scope = scope.getparent()
        base = self._base if scope is None else self._bases[scope]
        for scope in reversed(scopes):
            base = self._bases[scope] = self.base_within(base, scope)
        return base

    def base_within(self, base: str, element: Element) -> str:
        """What references within an element stand against, where those beside it stand against `base`."""
        reference = element.get(_XML_BASE) if self.has_bases else None
        if not reference or len(reference) > BASE_CHARS_MAX:
            return base
        joined = urls.join(base, reference.strip())
        return joined if joined and len(joined) <= BASE_CHARS_MAX else base

    def absolute(self, base: str, reference: str) -> str:
        """`reference` resolved against `base`; as it is where it is no URL, or where such URLs have become too much."""
        joined = urls.join(base, reference) if self._growth_left > 0 else None
        if joined is None:
            return reference
        self._growth_left -= len(joined) - len(reference)
        return joined

    def language(self, element: Element) -> str | None:
        """The `xml:lang` of the element itself."""
        return (element.get(_XML_LANG) or "").strip() or None if self.has_languages else None


class Read(NamedTuple):
    """A tree, and what was wrong with the text of it."""

    tree: Tree
    problems: list[Problem]


def read_tree(text: str, utf8: bytes, *, url: str, base: str) -> Read:
    """Parse an XML document, given as text and as UTF-8. Raises NotADocumentError where no root of a feed is in it."""
    prolog = without_prolog(text, url=url)
    problems = []
    if prolog.has_subset:
        problems.append(Problem(code="doctype_dropped", message="The internal subset of the DOCTYPE was left out."))
    if prolog.has_leading_space:
        problems.append(Problem(code="leading_space", message="White space precedes the XML declaration.", line=1))
    parser = _parser(recover=False)
    try:
        root = etree.fromstring(utf8 if prolog.text is None else prolog.text.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError as error:
        root, found = _recovered(text if prolog.text is None else prolog.text, prolog.entities, error, parser, url)
        problems += found
    return Read(Tree(root, utf8, base), problems[:PROBLEMS_MAX])


def _parser(*, recover: bool) -> etree.XMLParser[Element]:
    """A parser that reads no DTD, expands nothing, and takes the bytes for UTF-8 whatever they declare."""
    return etree.XMLParser(
        encoding="utf-8",
        recover=recover,
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,  # keeps libxml2's bounds: depth 256, 10 MB of text in one place
        remove_comments=True,
        remove_pis=True,
        collect_ids=False,
    )


def _recovered(
    text: str, entities: Mapping[str, str], error: etree.XMLSyntaxError, strict: etree.XMLParser[Element], url: str
) -> tuple[Element, list[Problem]]:
    _refuse_oversize(strict, url)
    start, has_junk = find_root(text, url=url)
    problems = []
    if has_junk:
        problems.append(
            Problem(code="junk_before_root", message="What precedes the root element was left out.", line=1)
        )
    if any(entry.type != _UNDECLARED for entry in strict.error_log):
        # Lines keep their numbers.
        text, repairs = repair("\n" * text.count("\n", 0, start) + text[start:], entities=entities, url=url)
        problems += repairs
    parser = _parser(recover=True)
    root: Element | None = etree.fromstring(text.encode("utf-8", "replace"), parser)
    _refuse_oversize(parser, url)
    if root is None:
        raise NotADocumentError(url, "its root element cannot be read")
    problems += dict.fromkeys(_logged(parser))
    if not problems:
        problems.append(
            Problem(
                code="not_well_formed", message=f"Not well-formed: {urls.shown(str(error.msg))}.", line=error.lineno
            )
        )
    return root, problems


def _refuse_oversize(parser: etree.XMLParser[Element], url: str) -> None:
    for entry in parser.error_log:
        if entry.type in _RESOURCE_LIMITS or entry.message.endswith("too big found"):
            raise NotADocumentError(url, f"larger than an XML document may be: {urls.shown(entry.message)}")


def _logged(parser: etree.XMLParser[Element]) -> Iterator[Problem]:
    for entry in parser.error_log:
        message = urls.shown(entry.message.strip())
        if entry.type == _UNDECLARED:
            yield Problem(code="undeclared_prefix", message=f"{message}.", line=entry.line)
        else:
            yield Problem(code="not_well_formed", message=f"Not well-formed: {message}.", line=entry.line)


def text_in(element: Element) -> str:
    """All text within an element, as it is written."""
    return "".join(element.itertext()) if len(element) else element.text or ""


def local_name(element: Element) -> str:
    """The name of an element without its namespace, lower case."""
    return split(str(element.tag))[1].rpartition(":")[2].lower()
