"""HTML's elements as sanitising sorts them, and its tokens as a linear scan sees them (HTML, "Tokenization")."""

from __future__ import annotations

import re
from typing import Final


def words(text: str) -> frozenset[str]:
    """A set of names, written as one line of text."""
    return frozenset(text.split())


INLINE: Final = words(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd mark nobr q rb rp rt rtc ruby s samp small"
    " span strike strong sub sup time tt u var wbr"
)
BLOCKS: Final = words(
    "address article aside blockquote center dd details dir div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6 header"
    " hgroup hr li main menu nav ol p pre section summary table ul"
)
VOID: Final = words("br col hr img source track wbr")
TAGS: Final = (
    (INLINE - {"font", "nobr"})
    | BLOCKS
    | VOID
    | words("audio caption colgroup picture tbody td tfoot th thead tr video")
)
DROPPED: Final = "iframe math noembed noframes noscript script select style svg template textarea title xmp"

_SPACE: Final = r"[\t\n\f\r ]"
_ATTRIBUTE: Final = rf"""
    [^\t\n\f\r />][^\t\n\f\r />=]*+
    (?:{_SPACE}*+={_SPACE}*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^\t\n\f\r "'>][^\t\n\f\r >]*+|(?=>)|\Z))?+
"""
#: Comments, dropped elements and tags, as a browser sees them. Each alternative ends where the text ends, at the
#: latest, so that no two attempts look at the same characters: the scan is linear.
TOKEN: Final = re.compile(
    rf"""
    <(?P<end>/?)(?P<name>(?!(?<=<)(?:{DROPPED.replace(" ", "|")})[\t\n\f\r />])[a-z][^\t\n\f\r />]*+)
     (?P<attributes>(?:[\t\n\f\r /]++|{_ATTRIBUTE})*+)(?P<closed>>|\Z)
  | <(?P<dropped>{DROPPED.replace(" ", "|")})(?:[\t\n\f\r /]++|{_ATTRIBUTE})*+
     (?:>(?:.*?</(?P=dropped)(?=[\t\n\f\r />])[^>]*+(?:>|\Z)|(?P<unclosed>.*+))|\Z)
  | <!--(?:-?+>|.*?(?:--!?+>|\Z))
  | <(?:[!?]|/(?![a-z]))[^>]*+(?:>|\Z)
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
ATTRIBUTE_PATTERN: Final = re.compile(_ATTRIBUTE, re.VERBOSE | re.DOTALL)
