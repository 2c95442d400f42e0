"""HTML of strangers in; HTML that is safe to show, with absolute URLs, or its plain text, out.

nh3 does the cleaning, and selects by allow lists. It is quadratic in nesting, in attributes of one tag and in bare
ampersands, and multiplies formatting elements that are left open; so only a body too small for any of that goes to it
as it is. A larger one is levelled first: written anew by a linear scan that nests properly.
"""

from __future__ import annotations

import html as entities
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final, Literal

import nh3

from junkai import url

#: Below these, the worst body that could be made takes nh3 some 30 ms; there, nothing is checked.
UNCHECKED_CHARS: Final = 65_536
UNCHECKED_TAGS: Final = 500
#: Over these, a body becomes plain text.
CHARS_MAX: Final = 4_000_000
TAGS_MAX: Final = 100_000
AMPERSANDS_MAX: Final = 50_000
DEPTH_MAX: Final = 200
FORMATTING_DEPTH_MAX: Final = 20
#: Over these, a tag loses its attributes, and a srcset its other candidates.
ATTRIBUTES_MAX: Final = 200
CANDIDATES_MAX: Final = 50


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_INLINE: Final = _words(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd mark nobr q rb rp rt rtc ruby s samp small"
    " span strike strong sub sup time tt u var wbr"
)
_BLOCKS: Final = _words(
    "address article aside blockquote center dd details dir div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6 header"
    " hgroup hr li main menu nav ol p pre section summary table ul"
)
_VOID: Final = _words("br col hr img source track wbr")
_TAGS: Final = (
    (_INLINE - {"font", "nobr"})
    | _BLOCKS
    | _VOID
    | _words("audio caption colgroup picture tbody td tfoot th thead tr video")
)
_DROPPED: Final = "iframe math noembed noframes noscript script select style svg template textarea title xmp"
_ATTRIBUTES: Final = {
    "*": set(_words("dir lang title")),
    "a": set(_words("href hreflang type")),
    "audio": set(_words("controls loop muted preload src")),
    "blockquote": {"cite"},
    "col": {"span"},
    "colgroup": {"span"},
    "data": {"value"},
    "del": {"cite", "datetime"},
    "details": {"open"},
    "img": set(_words("alt decoding height loading sizes src srcset width")),
    "ins": {"cite", "datetime"},
    "li": {"value"},
    "ol": set(_words("reversed start type")),
    "q": {"cite"},
    "source": set(_words("height media sizes src srcset type width")),
    "td": set(_words("colspan headers rowspan")),
    "th": set(_words("abbr colspan headers rowspan scope")),
    "time": {"datetime"},
    "track": set(_words("default kind label src srclang")),
    "video": set(_words("controls height loop muted playsinline poster preload src width")),
}
_MORE_URL_ATTRIBUTES: Final = {"cite", "srcset"}
_SCHEMES: Final = {"http", "https", "mailto", "tel"}
_WEB: Final = ("http://", "https://")


def clean_html(html: str, *, base: str) -> str:
    """`html` as a fragment that is safe to show: markup of articles and media, no scripts, styles, forms or frames.

    Every URL in it is absolute and has the scheme http, https, mailto or tel. `base` is what relative ones stand
    against (URL Standard); one that cannot be resolved loses its attribute only. Over the bounds of this module the
    text is kept and the markup is lost. Never raises.
    """
    html = _storable(html)
    if "<" not in html and "&" not in html:
        return html
    tag_count = html.count("<")
    if len(html) > UNCHECKED_CHARS or tag_count > UNCHECKED_TAGS:
        levelled = None
        if len(html) <= CHARS_MAX and tag_count <= TAGS_MAX and html.count("&") <= AMPERSANDS_MAX:
            levelled = _levelled(html)
        if levelled is None:
            return entities.escape(text_of(html), quote=False)
        html = levelled
    has_more_urls = "srcset" in html or "srcSet" in html or "cite=" in html
    return _cleaner(base, has_more_urls=has_more_urls).clean(html)


def text_of(html: str) -> str:
    """`html` as plain text in one line: no tags, no scripts and styles, entities decoded, white space folded.

    Never raises, and takes time in proportion to the length.
    """
    html = _storable(html)
    if "<" in html:
        html = _TOKEN.sub(_spaced, html)
    if "&" in html:
        try:
            html = entities.unescape(html)
        except ValueError:  # a number of more digits than Python converts
            html = entities.unescape(_HUGE_REFERENCE.sub("\N{REPLACEMENT CHARACTER}", html))
        html = _storable(html)
    if html.isprintable() and "  " not in html:  # nothing to fold; quicker than folding
        return html.strip()
    return " ".join(html.split())


def _storable(text: str) -> str:
    """`text` without NUL, at which C libraries stop (wpull#459), and without lone surrogates, which UTF-8 has not."""
    if "\0" in text:
        text = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


# ── nh3 ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=64)
def _cleaner(base: str, *, has_more_urls: bool) -> nh3.Cleaner:
    """A cleaner for one base: the entries of a feed mostly share theirs, and making one costs as much as 0.5 KB.

    The URL attributes that nh3 does not know as such need a callback for every attribute of a body, so that they are
    allowed only where the body seems to have some.
    """
    attributes = {tag: names if has_more_urls else names - _MORE_URL_ATTRIBUTES for tag, names in _ATTRIBUTES.items()}

    def build(url_relative: Literal["deny"] | tuple[Literal["rewrite_with_base"], str]) -> nh3.Cleaner:
        return nh3.Cleaner(
            tags=set(_TAGS),
            clean_content_tags=set(_words(_DROPPED)),
            attributes=attributes,
            attribute_filter=_url_filter(base) if has_more_urls else None,
            url_schemes=_SCHEMES,
            link_rel="noopener noreferrer",
            url_relative=url_relative,
        )

    if base.lower().startswith(_WEB):
        try:
            return build(("rewrite_with_base", base))
        except ValueError:
            pass
    return build("deny")


def _url_filter(base: str) -> Callable[[str, str, str], str | None]:
    """A filter for `_MORE_URL_ATTRIBUTES`; the others pass."""

    def resolved(_tag: str, attribute: str, value: str) -> str | None:
        if attribute == "srcset":
            return _srcset(value, base)
        if attribute == "cite":
            return _web_url(value, base)
        return value

    return resolved


#: An absolute URL that its parser would hand back as it is, or refuse to visit: most of those in a srcset.
_PLAIN_URL: Final = re.compile(r"https?://[A-Za-z0-9.-]+(?::[0-9]+)?/[!#$%&()*+,./0-9:;=?@A-Z\[\]_a-z~-]*")
_CANDIDATE: Final = re.compile(r"[\t\n\f\r ,]*+([^\t\n\f\r ]*[^\t\n\f\r ,])(?:,|([^,]*+)(?:,|\Z))")
_DESCRIPTOR: Final = re.compile(r"(?:[0-9]{1,9}[wh]|[0-9]{0,9}(?:\.[0-9]{1,9})?x)?")


def _web_url(reference: str, base: str) -> str | None:
    if _PLAIN_URL.fullmatch(reference):
        return reference
    joined = url.join(base, reference)
    return joined if joined is not None and joined.startswith(_WEB) else None


def _srcset(value: str, base: str) -> str | None:
    """The candidates of a srcset that have a fitting URL and descriptor (HTML, "parse a srcset attribute")."""
    kept = []
    for match in _CANDIDATE.finditer(value.rstrip("\t\n\f\r ,")):
        address = _web_url(match[1], base)
        descriptors = (match[2] or "").split()
        if address is not None and all(map(_DESCRIPTOR.fullmatch, descriptors)):
            kept.append(" ".join([address.replace(" ", "%20"), *descriptors]))
        if len(kept) == CANDIDATES_MAX:
            break
    return ", ".join(kept) or None


# ── tokens (HTML, "Tokenization") ────────────────────────────────────────────────────────────────────────────────

_SPACE: Final = r"[\t\n\f\r ]"
_ATTRIBUTE: Final = rf"""
    [^\t\n\f\r />][^\t\n\f\r />=]*+
    (?:{_SPACE}*+={_SPACE}*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^\t\n\f\r "'>][^\t\n\f\r >]*+|(?=>)|\Z))?+
"""
#: Comments, dropped elements and tags, as a browser sees them. Each alternative ends where the text ends, at the
#: latest, so that no two attempts look at the same characters: the scan is linear.
_TOKEN: Final = re.compile(
    rf"""
    <(?P<end>/?)(?P<name>(?!(?<=<)(?:{_DROPPED.replace(" ", "|")})[\t\n\f\r />])[a-z][^\t\n\f\r />]*+)
     (?P<attributes>(?:[\t\n\f\r /]++|{_ATTRIBUTE})*+)(?P<closed>>|\Z)
  | <(?P<dropped>{_DROPPED.replace(" ", "|")})(?:[\t\n\f\r /]++|{_ATTRIBUTE})*+
     (?:>(?:.*?</(?P=dropped)(?=[\t\n\f\r />])[^>]*+>|(?P<unclosed>.*+))|\Z)
  | <!--(?:-?+>|.*?(?:--!?+>|\Z))
  | <(?:[!?]|/(?![a-z]))[^>]*+(?:>|\Z)
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_ATTRIBUTE_PATTERN: Final = re.compile(_ATTRIBUTE, re.VERBOSE | re.DOTALL)
_ANY_TAG: Final = re.compile(r"<[^<>]*+>")
_HUGE_REFERENCE: Final = re.compile(r"&#(?:[0-9]{1000,}|[xX][0-9a-fA-F]{1000,});?")


def _spaced(match: re.Match[str]) -> str:
    """What stands in plain text for a token: nothing for an inline tag, a space for any other."""
    name = match["name"]
    if name is not None:
        if match["closed"]:
            return "" if name.lower() in _INLINE else " "
        return _ANY_TAG.sub(" ", match[0])  # "1 <b": no tag at all, it seems
    if match["unclosed"] and match["dropped"].lower() not in ("script", "style"):
        return " " + _ANY_TAG.sub(" ", match["unclosed"])  # a page that lost an end tag keeps its words
    return " "


# ── levelling ────────────────────────────────────────────────────────────────────────────────────────────────────

_FORMATTING: Final = _words("a b big code em i s small strike strong tt u")
_CELLS: Final = _words("caption table td th")
_TABLE_PARTS: Final = _words("caption tbody td tfoot th thead tr")
_ROW_GROUPS: Final = _words("p tbody td tfoot th thead tr")
#: What a start tag ends by itself, if it is innermost (HTML, "Optional tags").
_ENDS: Final[dict[str, frozenset[str]]] = dict.fromkeys(_BLOCKS | {"hr"}, frozenset({"p"})) | {
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


def _levelled(html: str) -> str | None:
    """`html` with its allowed tags only, each closed in order, and few attributes; None where it nests too deeply.

    Well-nested markup takes nh3 time in proportion to its length times the bounds of depth.
    """
    parts: list[str] = []
    stack: list[str] = []
    formatting_depth = 0
    done = 0
    for match in _TOKEN.finditer(html):
        end, name, attributes, closed = match.group("end", "name", "attributes", "closed")
        # A "<" that begins no tag here must not begin one in what is written.
        parts.append(html[done : match.start()].replace("<", "&lt;"))
        done = match.end()
        if not closed or (name := name.lower()) not in _TAGS:
            continue
        for _ in range(_ended(stack, name) if end else _ended_by_start(stack, name)):
            inner = stack.pop()
            formatting_depth -= inner in _FORMATTING
            parts.append(f"</{inner}>")
        if end:
            continue
        parts.append(f"<{name}{_bounded(attributes)}>")
        if name not in _VOID:
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
    if len(attributes) > 2 * ATTRIBUTES_MAX and len(_ATTRIBUTE_PATTERN.findall(attributes)) > ATTRIBUTES_MAX:
        return ""
    return attributes
