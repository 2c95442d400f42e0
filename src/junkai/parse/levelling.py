"""HTML of strangers in; the same, nesting properly and no deeper than nh3 takes in linear time, out."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from junkai.parse.htmltokens import ATTRIBUTE_PATTERN, BLOCKS, DROPPED, TAGS, TOKEN, VOID, words

DEPTH_MAX: Final = 200
FORMATTING_DEPTH_MAX: Final = 20
#: Over these, a tag loses its attributes, and a srcset its other candidates.
ATTRIBUTES_MAX: Final = 200

_FORMATTING: Final = words("a b big code em i s small strike strong tt u")
_CELLS: Final = words("caption table td th")
_TABLE_PARTS: Final = words("caption tbody td tfoot th thead tr")
_ROW_GROUPS: Final = words("p tbody td tfoot th thead tr")
#: What a start tag ends by itself, if it is innermost (HTML, "Optional tags").
_ENDS: Final[dict[str, frozenset[str]]] = dict.fromkeys(BLOCKS | {"hr"}, frozenset({"p"})) | {
    "li": frozenset({"li", "p"}),
    "dt": frozenset({"dt", "dd", "p"}),
    "dd": frozenset({"dt", "dd", "p"}),
    "rt": frozenset({"rt", "rp"}),
    "rp": frozenset({"rt", "rp"}),
    "td": frozenset({"td", "th", "p"}),
    "th": frozenset({"td", "th", "p"}),
    "tr": frozenset({"td", "th", "tr", "p"}),
    "tbody": _ROW_GROUPS,
    "thead": _ROW_GROUPS,
    "tfoot": _ROW_GROUPS,
}

#: Elements whose end tag may be left out close each other, and so do not nest by being left open.
_UNCOUNTED: Final = VOID | words(
    "area base basefont embed frame image input keygen link meta param"
    " p li dt dd rt rp rb rtc td th tr tbody thead tfoot colgroup option optgroup"
)
_NAME: Final = re.compile(r"</?[a-zA-Z][^\t\n\f\r />]*+")
#: What could hide tags from such a scan: comments with tags in them, and elements whose content is text or foreign.
_HIDING: Final = re.compile(
    rf"<\?|<!(?!--[^<>]*-->)|<(?:{DROPPED.replace(' ', '|')}|plaintext|select|noscript)", re.IGNORECASE
)
_TWO_OPENINGS: Final = re.compile(r"<[^<>]*+<")
_TAGS_KEPT_MAX: Final = 1_000
_LEVEL_DEPTH_MAX: Final = 100
_LEVEL_FORMATTING_MAX: Final = 8
_LEVEL_TAG_CHARS_MAX: Final = 8_000
_LEVEL_AMPERSANDS_MAX: Final = 2_000


class _Steps(dict[str, int]):
    """By tag: 1 where it opens one of the elements, -1 where it closes one, else 0."""

    def __init__(self, is_counted: Callable[[str], bool]) -> None:
        self._is_counted = is_counted

    def __missing__(self, tag: str) -> int:
        step = 0
        if self._is_counted(tag.lstrip("</")):
            step = -1 if tag.startswith("</") else 1
        if len(self) < _TAGS_KEPT_MAX:
            self[tag] = step
        return step


_DEPTH_STEPS: Final = _Steps(lambda name: name not in _UNCOUNTED)
_FORMATTING_STEPS: Final = _Steps(lambda name: name in _FORMATTING or name in ("font", "nobr"))

#: Tags of formatting elements; with their first letters apart, the scan takes a third of the time.
_FORMATTING_TAG: Final = re.compile(r"(</?(?:[abisu]|[bcefnst](?:ig|ode|m|ont|obr|mall|trike|trong|t)))[\t\n\f\r />]")


def leaves_formatting_open(html: str) -> bool:
    """True for markup with so many formatting elements open at once that nh3 multiplies them."""
    tags = _FORMATTING_TAG.findall(html.lower())
    return len(tags) > _LEVEL_FORMATTING_MAX and _most_open(tags, _FORMATTING_STEPS) > _LEVEL_FORMATTING_MAX


def is_level(html: str) -> bool:
    """True for markup that plainly nests no deeper than articles do, so that nh3 can have it as it is.

    Told by counting alone, some ten times as fast as `levelled`: what could hide a tag from the count is a no.
    """
    if html.count("&") > _LEVEL_AMPERSANDS_MAX or _HIDING.search(html) or _TWO_OPENINGS.search(html):
        return False
    if any(len(piece) - piece.rfind("<") > _LEVEL_TAG_CHARS_MAX for piece in html.split(">") if "<" in piece):
        return False
    tags = _NAME.findall(html.lower())
    return (
        _most_open(tags, _FORMATTING_STEPS) <= _LEVEL_FORMATTING_MAX
        and _most_open(tags, _DEPTH_STEPS) <= _LEVEL_DEPTH_MAX
    )


def _most_open(tags: list[str], steps: _Steps) -> int:
    """The most elements that are open at once; an end tag ends one of its own name, if there is one, and no other."""
    open_counts: dict[str, int] = {}
    count = most = 0
    for tag in tags:
        step = steps[tag]
        if step > 0:
            open_counts[tag] = open_counts.get(tag, 0) + 1
            count += 1
            most = max(most, count)
        elif step < 0 and open_counts.get(start := f"<{tag[2:]}"):
            open_counts[start] -= 1
            count -= 1
    return most


def levelled(html: str) -> str | None:
    """`html` with its allowed tags only, each closed in order, and few attributes; None where it nests too deeply.

    Well-nested markup takes nh3 time in proportion to its length times the bounds of depth.
    """
    parts: list[str] = []
    stack: list[str] = []
    formatting_depth = 0
    done = 0
    for match in TOKEN.finditer(html):
        end, name, attributes, closed = match.group("end", "name", "attributes", "closed")
        # A "<" that begins no tag here must not begin one in what is written.
        parts.append(html[done : match.start()].replace("<", "&lt;"))
        done = match.end()
        if not closed or (name := name.lower()) not in TAGS:
            continue
        for _ in range(_ended(stack, name) if end else _ended_by_start(stack, name)):
            inner = stack.pop()
            formatting_depth -= inner in _FORMATTING
            parts.append(f"</{inner}>")
        if end:
            continue
        parts.append(f"<{name}{_bounded(attributes)}>")
        if name not in VOID:
            stack.append(name)
            formatting_depth += name in _FORMATTING
            if len(stack) > DEPTH_MAX or formatting_depth > FORMATTING_DEPTH_MAX:
                return None
    parts.append(html[done:].replace("<", "&lt;"))
    parts.extend(f"</{inner}>" for inner in reversed(stack))
    return "".join(parts)


def _ended_by_start(stack: list[str], name: str) -> int:
    """How many of the innermost open elements a start tag ends."""
    ends = _ENDS.get(name)
    if ends is None:
        return 0
    count = 0
    while count < len(stack) and stack[-1 - count] in ends:
        count += 1
    return count


def _ended(stack: list[str], name: str) -> int:
    """How many open elements an end tag ends: 0 where it has no start tag in its table or cell."""
    walls = _CELLS if name not in _TABLE_PARTS and name != "table" else {"table"}
    for count, inner in enumerate(reversed(stack), start=1):
        if inner == name:
            return count
        if inner in walls:
            return 0
    return 0


def _bounded(attributes: str) -> str:
    if len(attributes) > 2 * ATTRIBUTES_MAX and len(ATTRIBUTE_PATTERN.findall(attributes)) > ATTRIBUTES_MAX:
        return ""
    return attributes
