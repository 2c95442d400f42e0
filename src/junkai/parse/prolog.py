"""The text of an XML document in; where its root begins, and the text from there on, out.

Feeds need no DTD, and entities are how XML attacks its readers; so the DOCTYPE goes before any library sees it. What
is left of an internal subset are short plain entities, for `repair` to put in.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from junkai.errors import NotADocumentError

#: More than the subset of any feed; a longer DOCTYPE stays, and is junk before the root.
_DOCTYPE_CHARS_MAX: Final = 100_000
_ENTITIES_MAX: Final = 500
#: A reference takes at least three characters: so entities cannot make a text more than ten times as long.
_ENTITY_CHARS_MAX: Final = 32

_COMMENT: Final = r"<!--(?:[^-]++|-(?!->))*+(?:-->|\Z)"
_MISC: Final = re.compile(rf"(?:\s++|<\?(?:[^?]++|\?(?!>))*+(?:\?>|\Z)|{_COMMENT})*+")
_DOCTYPE: Final = re.compile(
    rf"""<!DOCTYPE(?:[^"'\[>]++|"[^"]*+"|'[^']*+')*+(?P<subset>\[(?:[^"'\]<]++|"[^"]*+"|'[^']*+'|{_COMMENT}|<)*+\]\s*+)?>""",
    re.IGNORECASE,
)
_ENTITY: Final = re.compile(r"""<!ENTITY\s++([\w.:-]++)\s++("[^"<%]*+"|'[^'<%]*+')\s*+>""")
_CHARACTERS: Final = re.compile(r"(?:[^&]|&#[0-9]{1,7};|&#[xX][0-9a-fA-F]{1,6};)*+")
_ROOT: Final = re.compile(r"<(?:[A-Za-z_][\w.-]*+:)?(?:rss|feed|rdf|channel)(?=[\s>/])", re.IGNORECASE)
_HTML: Final = re.compile(r"<(?:!DOCTYPE\s++html|html|head|body)(?=[\s>/])", re.IGNORECASE)


class Prolog(NamedTuple):
    """A document that libxml2 may read."""

    text: str | None  #: without what it must not see or minds, lines keeping their numbers; None: as it was
    entities: Mapping[str, str]  #: those of the internal subset that are short and plain
    has_subset: bool
    has_leading_space: bool  #: before an XML declaration, which must be the very beginning


def without_prolog(text: str, *, url: str) -> Prolog:
    """Cut off what precedes the root element, if a DOCTYPE is among it, or white space before the XML declaration.

    Raises NotADocumentError where it is not clear where the DOCTYPE ends, and no root of a feed is in sight.
    """
    start = end = _misc_end(text)
    has_leading_space = text[:1].isspace() and "<?xml" in text[:end]
    if text[start : start + 2] != "<!":
        cut = _cut(text, start) if has_leading_space else None
        return Prolog(cut, {}, has_subset=False, has_leading_space=has_leading_space)
    match = _DOCTYPE.match(text, start, start + _DOCTYPE_CHARS_MAX)
    subset = match["subset"] if match else None
    if match is not None:
        end = _misc_end(text, match.end())
    if match is None or text.startswith("<!", end):  # broken, too long, or more than one
        end, _ = find_root(text, url=url)
    return Prolog(_cut(text, end), _plain_entities(subset or ""), subset is not None, has_leading_space)


def _cut(text: str, end: int) -> str:
    return "\n" * text.count("\n", 0, end) + text[end:]


def _misc_end(text: str, start: int = 0) -> int:
    match = _MISC.match(text, start)
    return match.end() if match else start


def _plain_entities(subset: str) -> dict[str, str]:
    entities: dict[str, str] = {}
    for match in _ENTITY.finditer(subset):
        value = match[2][1:-1]
        if len(value) <= _ENTITY_CHARS_MAX and _CHARACTERS.fullmatch(value) and len(entities) < _ENTITIES_MAX:
            entities.setdefault(match[1], html.unescape(value))
    return entities


def find_root(text: str, *, url: str) -> tuple[int, bool]:
    """Where a feed's root element begins, and whether there is junk before it.

    Raises NotADocumentError where no root of a feed is in sight, or the text is a web page.
    """
    start = _misc_end(text)
    match = _ROOT.search(text, start)
    if match is None or (match.start() != start and _HTML.match(text, start)):
        raise NotADocumentError(url, "a web page" if _HTML.search(text, 0, 2_000) else "no RSS, Atom or RDF in it")
    return match.start(), match.start() != start
