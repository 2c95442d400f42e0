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
from junkai.document import Entry
from junkai.parse.htmltokens import DROPPED, INLINE, TAGS, TOKEN, words
from junkai.parse.levelling import is_level, leaves_formatting_open, levelled

#: Below these, a body is not checked: the worst that could be made takes nh3 some 0.3 ms.
UNCHECKED_TAGS: Final = 60
#: Below these, only its formatting elements are, and the worst takes some 5 ms.
LIGHTLY_CHECKED_CHARS: Final = 65_536
LIGHTLY_CHECKED_TAGS: Final = 500
#: Over these, a body becomes plain text.
CHARS_MAX: Final = 4_000_000
TAGS_MAX: Final = 100_000
AMPERSANDS_MAX: Final = 50_000
CANDIDATES_MAX: Final = 50


_ATTRIBUTES: Final = {
    "*": set(words("dir lang title")),
    "a": set(words("href hreflang type")),
    "audio": set(words("controls loop muted preload src")),
    "blockquote": {"cite"},
    "col": {"span"},
    "colgroup": {"span"},
    "data": {"value"},
    "del": {"cite", "datetime"},
    "details": {"open"},
    "img": set(words("alt decoding height loading sizes src srcset width")),
    "ins": {"cite", "datetime"},
    "li": {"value"},
    "ol": set(words("reversed start type")),
    "q": {"cite"},
    "source": set(words("height media sizes src srcset type width")),
    "td": set(words("colspan headers rowspan")),
    "th": set(words("abbr colspan headers rowspan scope")),
    "time": {"datetime"},
    "track": set(words("default kind label src srclang")),
    "video": set(words("controls height loop muted playsinline poster preload src width")),
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
    if "\0" in html:
        html = _storable(html)
    if "<" not in html and "&" not in html:
        return _storable(html)
    tag_count = html.count("<")
    if (
        len(html) > LIGHTLY_CHECKED_CHARS
        or tag_count > LIGHTLY_CHECKED_TAGS
        or (tag_count > UNCHECKED_TAGS and leaves_formatting_open(html))
    ):
        level = None
        if len(html) <= CHARS_MAX and tag_count <= TAGS_MAX and html.count("&") <= AMPERSANDS_MAX:
            level = html if is_level(html) else levelled(html)
        if level is None:
            return entities.escape(text_of(html), quote=False)
        html = level
    has_more_urls = "srcset" in html or "srcSet" in html or "cite=" in html
    cleaner = (_cleaner_of_more if has_more_urls else _cleaner)(base)
    try:
        return cleaner.clean(html)
    except UnicodeEncodeError:  # a lone surrogate
        return cleaner.clean(_storable(html))


def text_of(html: str) -> str:
    """`html` as plain text in one line: no tags, no scripts and styles, entities decoded, white space folded.

    Never raises, and takes time in proportion to the length.
    """
    html = _storable(html)
    if "<" in html:
        html = TOKEN.sub(_spaced, html)
    if "&" in html:
        try:
            html = entities.unescape(html)
        except ValueError:  # a number of more digits than Python converts
            html = entities.unescape(_HUGE_REFERENCE.sub("\N{REPLACEMENT CHARACTER}", html))
        html = _storable(html)
    if html.isprintable() and "  " not in html:  # nothing to fold; quicker than folding
        return html.strip()
    return " ".join(html.split())


def text_of_entry(entry: Entry) -> str:
    """An entry's content, or else its summary, as plain text in one line. Derived when asked for: most are not."""
    return text_of_clean(entry.content_html) or text_of_clean(entry.summary_html)


def text_of_clean(html: str) -> str:
    """What `text_of` gives for the output of `clean_html`, which is regular enough to be read several times as fast."""
    if "<" in html:
        html = _CLEAN_TAG.sub(" ", _CLEAN_INLINE_TAG.sub("", html))
    if "&" in html:
        for reference, character in _CLEAN_REFERENCES:
            html = html.replace(reference, character)
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
def _cleaner(base: str) -> nh3.Cleaner:
    """A cleaner for one base: the entries of a feed mostly share theirs, and making one costs as much as 2 KB."""
    return _made(base, has_more_urls=False)


@lru_cache(maxsize=64)
def _cleaner_of_more(base: str) -> nh3.Cleaner:
    """The same for the URL attributes that nh3 does not know as such: they need a callback for every attribute of a
    body, and so are allowed only where the body seems to have some."""
    return _made(base, has_more_urls=True)


def _made(base: str, *, has_more_urls: bool) -> nh3.Cleaner:
    attributes = {tag: names if has_more_urls else names - _MORE_URL_ATTRIBUTES for tag, names in _ATTRIBUTES.items()}

    def build(url_relative: Literal["deny"] | tuple[Literal["rewrite_with_base"], str]) -> nh3.Cleaner:
        return nh3.Cleaner(
            tags=set(TAGS),
            clean_content_tags=set(words(DROPPED)),
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


_ANY_TAG: Final = re.compile(r"<[^<>]*+>")
_HUGE_REFERENCE: Final = re.compile(r"&#(?:[0-9]{1000,}|[xX][0-9a-fA-F]{1000,});?")


def _spaced(match: re.Match[str]) -> str:
    """What stands in plain text for a token: nothing for an inline tag, a space for any other."""
    name = match["name"]
    if name is not None:
        if match["closed"]:
            return "" if name.lower() in INLINE else " "
        return _ANY_TAG.sub(" ", match[0])  # "1 <b": no tag at all, it seems
    if match["unclosed"] and match["dropped"].lower() not in ("script", "style"):
        return " " + _ANY_TAG.sub(" ", match["unclosed"])  # a page that lost an end tag keeps its words
    return " "


#: Tags as nh3 writes them: attribute values in double quotes, no other "<" anywhere.
_CLEAN_TAG: Final = re.compile(r'<[^">]*+(?:"[^"]*+"[^">]*+)*+>')
_CLEAN_INLINE_TAG: Final = re.compile(
    rf'</?(?:{"|".join(sorted(INLINE - {"br"}))})(?=[ >])[^">]*+(?:"[^"]*+"[^">]*+)*+>'
)
#: All the references that it writes in text; "&amp;" last.
_CLEAN_REFERENCES: Final = (("&nbsp;", " "), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&"))
