"""Text of a stranger in; nothing out, or a refusal that names the bound, before any library sees it.

Each check is a few passes at the speed of `str.count` and takes time in proportion to the length. The depth of XML is
libxml2's own bound (256 elements, see `tree`), which it keeps while it reads and at no cost; JSON's is checked here.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import Final

from junkai.errors import NotADocumentError

#: Tags, comments and sections of one XML document: half a million take libxml2 some 0.3 s.
MARKUP_MAX: Final = 500_000
#: Characters of one tag, its attributes included. Data URLs may be long; nothing else is.
TAG_CHARS_MAX: Final = 1_000_000
#: Attributes of one tag.
ATTRIBUTES_MAX: Final = 1_000
#: Objects and arrays within one another.
JSON_DEPTH_MAX: Final = 100
#: Values of one JSON document.
JSON_VALUES_MAX: Final = 1_000_000

#: A tag with too many attributes (` a=""`) covers one of all windows of half its length, in which there is no "<".
_WINDOW: Final = ATTRIBUTES_MAX * len(' a=""') // 2
_TAG: Final = re.compile(r"""(?:[^"'>]++|"[^"]*+"|'[^']*+')*+""")
_QUOTED: Final = re.compile(r""""[^"]*+"|'[^']*+'""")
#: One that does not end takes the rest of the text, so that the scan does not begin anew at each quote in it.
_JSON_STRING: Final = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_JSON_BRACKETS: Final = re.compile(r"[][{}]")
_JSON_STEPS: Final = {"{": 1, "[": 1, "}": -1, "]": -1}


def check_xml(text: str, *, url: str) -> None:
    """Raise NotADocumentError where there is more markup in `text` than any feed has."""
    if len(text) > MARKUP_MAX and text.count("<") > MARKUP_MAX:
        raise NotADocumentError(url, f"more than {MARKUP_MAX:,} tags")
    if all(text.find("<", at, at + _WINDOW) != -1 for at in range(0, len(text) - _WINDOW + 1, _WINDOW)):
        return  # no tag is long enough, and no long piece had to be looked at
    for piece in text.split("<"):
        if len(piece) >= 2 * _WINDOW and piece[0] not in "!?/ \t\r\n":
            _check_tag(piece, url)


def _check_tag(piece: str, url: str) -> None:
    """`piece` is what follows a "<", up to the next."""
    match = _TAG.match(piece)
    tag_chars = match.end() if match else 0
    if tag_chars > TAG_CHARS_MAX:
        raise NotADocumentError(url, f"a tag of more than {TAG_CHARS_MAX:,} characters")
    if sum(1 for _ in _QUOTED.finditer(piece, 0, tag_chars)) > ATTRIBUTES_MAX:
        raise NotADocumentError(url, f"more than {ATTRIBUTES_MAX:,} attributes in one tag")


def check_json(text: str, *, url: str) -> None:
    """Raise NotADocumentError where `text` nests deeper, or holds more, than any feed does."""
    if text.count(",") > JSON_VALUES_MAX:
        raise NotADocumentError(url, f"more than {JSON_VALUES_MAX:,} values")
    if text.count("{") + text.count("[") <= JSON_DEPTH_MAX:
        return
    steps = map(_JSON_STEPS.__getitem__, _JSON_BRACKETS.findall(_JSON_STRING.sub("", text)))
    if max(accumulate(steps), default=0) > JSON_DEPTH_MAX:
        raise NotADocumentError(url, f"nested more than {JSON_DEPTH_MAX} levels deep")
