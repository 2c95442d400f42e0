"""Subscription lists (OPML 1.0 and 2.0): bytes of a file in, feeds with their groups out; and the other way round.

Files of people are repaired where nothing can be lost by it. A file that is cut off or wrongly nested is refused whole:
half a list looks like a list. Expat reads them, as it streams and knows the line however long the file is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import datetime
from email.utils import format_datetime
from html import escape
from html.entities import html5
from typing import Final
from xml.parsers import expat  # noqa: TID251  # lxml knows no line above 65,535; entity declarations are refused below

from junkai.document import Problem
from junkai.errors import OpmlError
from junkai.immutable import Struct
from junkai.parse.decode import decode_body
from junkai.url import shown

BODY_BYTES_MAX: Final = 50 << 20
DEPTH_MAX: Final = 100
OUTLINES_MAX: Final = 1_000_000
TITLE_CHARS_MAX: Final = 1_000
PROBLEMS_MAX: Final = 100

_ROOTS: Final = frozenset({"opml", "outlinedocument", "body", "outline"})


class OpmlFeed(Struct, frozen=True, kw_only=True):
    """One outline that names a feed."""

    url: str  #: as written, white space around it gone: it may be no URL at all
    title: str = ""  #: its `text`, else its `title`
    site_url: str | None = None  #: as written
    groups: tuple[str, ...] = ()  #: its folder's path, "Outer/Inner", then its `category` paths; no leading slash
    line: int | None = None  #: where it stands in the file, from 1


class OpmlList(Struct, frozen=True, kw_only=True):
    """What an OPML file holds."""

    title: str = ""
    feeds: tuple[OpmlFeed, ...] = ()  #: in the order of the file; a feed that is named twice is here twice
    problems: tuple[Problem, ...] = ()  #: the first PROBLEMS_MAX


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────


def read_opml(body: bytes, subject: str = "OPML") -> OpmlList:
    """Read a subscription list. `subject` names the file in errors.

    Raises OpmlError, with the line, for what is no XML, is cut off, has another root, declares entities or is over the
    bounds of this module.
    """
    if len(body) > BODY_BYTES_MAX:
        raise OpmlError(subject, f"{len(body)} bytes; at most {BODY_BYTES_MAX} are read")
    text, _, problems = decode_body(body)
    if not text.strip():
        raise OpmlError(subject, "the file is empty")
    try:
        return _Outlines(subject, problems).read(text)
    except (expat.ExpatError, _OtherRootError):
        repaired, repairs = _repaired(text)
    try:
        return _Outlines(subject, [*problems, *repairs]).read(repaired)
    except expat.ExpatError as error:
        if _WEB_PAGE.match(text):
            raise OpmlError(subject, "a web page, not an OPML file") from None
        raise OpmlError(subject, _explained(error)) from None


class _OtherRootError(OpmlError):
    """The first element is not that of OPML"""


_WEB_PAGE: Final = re.compile(r"\s*<(?:!doctype\s+html|html)", re.IGNORECASE)


def _explained(error: expat.ExpatError) -> str:
    reason = expat.errors.messages[error.code]
    if reason in (expat.errors.XML_ERROR_NO_ELEMENTS, expat.errors.XML_ERROR_UNCLOSED_TOKEN):
        reason = "the file ends before its last element is closed; it may have been cut off"
    return f"line {error.lineno}: {reason}; nothing was imported"


class _Outlines:
    """Collects the feeds of one file while expat goes through it."""

    def __init__(self, subject: str, problems: Iterable[Problem]) -> None:
        self._subject = subject
        self._problems = list(problems)
        self._feeds: list[OpmlFeed] = []
        self._outlines = 0
        #: The path of folders within each open element; an element that is no folder repeats its parent's.
        self._paths: list[str] = [""]
        self._title: list[str] | None = None  #: the pieces of the list's title, once it has begun
        self._is_in_title = False
        self._parser = expat.ParserCreate("utf-8")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.EntityDeclHandler = self._entity

    def read(self, text: str) -> OpmlList:
        self._parser.Parse(text.encode(), True)  # noqa: FBT003  # expat's own signature
        title = _folded("".join(self._title or ()))
        return OpmlList(title=title, feeds=tuple(self._feeds), problems=tuple(self._problems[:PROBLEMS_MAX]))

    def _start(self, element: str, attributes: dict[str, str]) -> None:
        name = element.lower()
        if len(self._paths) == 1 and name not in _ROOTS:
            line = self._parser.CurrentLineNumber
            raise _OtherRootError(self._subject, f"line {line}: the root element is <{shown(element)}>, not <opml>")
        if len(self._paths) > DEPTH_MAX:
            raise self._error(f"nested deeper than {DEPTH_MAX} elements")
        path = self._paths[-1]
        if name == "outline":
            path = self._outline({key.lower(): value for key, value in attributes.items()}, path)
        elif name == "title" and self._title is None:
            self._title, self._is_in_title = [], True
        self._paths.append(path)

    def _outline(self, attributes: dict[str, str], path: str) -> str:
        """Take one outline; the path for what is inside it."""
        self._outlines += 1
        if self._outlines > OUTLINES_MAX:
            raise self._error(f"more than {OUTLINES_MAX} outlines")
        title = _folded(attributes.get("text", "")) or _folded(attributes.get("title", ""))
        is_feed = attributes.get("type", "").strip().lower() in ("rss", "atom", "feed", "rdf", "json")
        url = attributes.get("xmlurl", "").strip() or (attributes.get("url", "").strip() if is_feed else "")
        if url:
            groups = dict.fromkeys(filter(None, (path, *map(_path, attributes.get("category", "").split(",")))))
            self._feeds.append(
                OpmlFeed(
                    url=url,
                    title=title,
                    site_url=attributes.get("htmlurl", "").strip() or None,
                    groups=tuple(groups),
                    line=self._parser.CurrentLineNumber,
                )
            )
        elif is_feed:
            self._problem("feed_without_url", f"The feed “{shown(title)}” has no xmlUrl.")
        return _path(f"{path}/{title}")

    def _end(self, _element: str) -> None:
        self._paths.pop()
        self._is_in_title = False

    def _characters(self, text: str) -> None:
        if self._is_in_title and self._title is not None:
            self._title.append(text)

    def _entity(self, name: str, *_: object) -> None:
        raise self._error(f"declares the entity “{shown(name)}”; entities are not read")

    def _error(self, reason: str) -> OpmlError:
        return OpmlError(self._subject, f"line {self._parser.CurrentLineNumber}: {reason}; nothing was imported")

    def _problem(self, code: str, message: str) -> None:
        if len(self._problems) < PROBLEMS_MAX:
            self._problems.append(Problem(code=code, message=message, line=self._parser.CurrentLineNumber))


def _folded(text: str) -> str:
    return " ".join(text[:TITLE_CHARS_MAX].split())


def _path(text: str) -> str:
    """A group's path in one spelling: " /a//b " is "a/b"."""
    return "/".join(filter(None, (segment.strip() for segment in text.split("/"))))


# ── repair ───────────────────────────────────────────────────────────────────────────────────────────────────────

_XML_DECLARATION: Final = re.compile(r"<\?xml\s[^>]*\?>")
_ROOT_START: Final = re.compile(r"<(?:\?xml\s|(?:opml|outlineDocument)[\s>])", re.IGNORECASE)
_ROOT_END: Final = re.compile(r"</(?:opml|outlineDocument)\s*>", re.IGNORECASE)
_NOT_XML: Final = "\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff"


def _reference(match: re.Match[str]) -> str:
    """An entity or character reference as XML can read it."""
    name = match[1]
    if name.startswith("#"):
        digits = name[1:].lower()
        number = int(digits[1:], 16) if digits.startswith("x") else int(digits)
        return "" if number > 0x10FFFF or re.match(f"[{_NOT_XML}]", chr(number)) else f"&#{number};"
    return escape(html5.get(f"{name};", f"&{name};"))


#: What is wrong, where, and what stands there instead.
_REPAIRS: Final[tuple[tuple[str, str, re.Pattern[str], Callable[[re.Match[str]], str] | str], ...]] = (
    ("control_character", "Characters that XML does not allow were left out.", re.compile(f"[{_NOT_XML}]"), ""),
    (
        "html_entity",
        "Entities of HTML were put in as characters.",
        re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"),
        _reference,
    ),
    (
        "bare_ampersand",
        'An "&" that begins no reference was kept as text.',
        re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9a-fA-F]{1,6});)"),
        "&amp;",
    ),
    ("bare_less_than", 'A "<" that begins no tag was kept as text.', re.compile(r"<(?![A-Za-z_:/!?])"), "&lt;"),
)


def _repaired(text: str) -> tuple[str, list[Problem]]:
    """`text` with what people's files have wrong made right, line for line, and what that was."""
    problems: list[Problem] = []
    root = _ROOT_START.search(text)
    start = root.start() if root else max(text.find("<"), 0)
    if text[:start].strip():
        problems.append(
            Problem(code="junk_before_root", message="What stands before the root element was left out.", line=1)
        )
    # The declaration has done its work; XML wants it first in the file, which it may not be.
    declaration = _XML_DECLARATION.match(text, start)
    start = declaration.end() if declaration else start
    text = "\n" * text.count("\n", 0, start) + text[start:]
    for code, message, pattern, replacement in _REPAIRS:
        found = pattern.search(text)
        mended = pattern.sub(replacement, text) if found else text
        if found and mended != text:
            problems.append(Problem(code=code, message=message, line=text.count("\n", 0, found.start()) + 1))
            text = mended
    end = max((match.end() for match in _ROOT_END.finditer(text)), default=len(text))
    if rest := text[end:].strip():
        line = text.count("\n", 0, text.index(rest, end)) + 1
        problems.append(
            Problem(code="junk_after_root", message="What follows the root element was left out.", line=line)
        )
        text = text[:end]
    return text, problems


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────


class _Folder:
    """A folder of the file to be written: folders and lines, in order."""

    def __init__(self) -> None:
        self.folders: dict[str, _Folder] = {}
        self.lines: list[str] = []


def write_opml(title: str, feeds: Iterable[OpmlFeed], created_at: datetime) -> bytes:
    """An OPML 2.0 file of `feeds`, UTF-8. `created_at` is aware UTC.

    A feed stands in the folder of its first group; its other groups are in `category`. A group with a comma, which a
    category cannot hold, is always a folder: a feed with two of those is written twice.
    """
    root = _Folder()
    for feed in feeds:
        groups = [group for group in map(_path, feed.groups) if group]
        folders = [group for group in groups if "," in group] or groups[:1] or [""]
        line = _feed_outline(feed, [group for group in groups if group not in folders])
        for path in folders:
            folder = root
            for segment in filter(None, path.split("/")):
                folder = folder.folders.setdefault(segment, _Folder())
            folder.lines.append(line)
    body: list[str] = []
    _write_folder(root, "    ", body)
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            '<opml version="2.0">',
            "  <head>",
            f"    <title>{escape(_writable(title))}</title>",
            f"    <dateCreated>{format_datetime(created_at, usegmt=True)}</dateCreated>",
            "  </head>",
            "  <body>",
            *body,
            "  </body>",
            "</opml>",
            "",
        ]
    ).encode()


def _feed_outline(feed: OpmlFeed, categories: list[str]) -> str:
    title = _writable(feed.title) or _writable(feed.url)
    attributes = {"type": "rss", "text": title, "title": title, "xmlUrl": feed.url}
    if feed.site_url:
        attributes["htmlUrl"] = feed.site_url
    if categories:
        attributes["category"] = ",".join(f"/{category}" for category in categories)
    return f"<outline {_attributes(attributes)}/>"


def _attributes(attributes: dict[str, str]) -> str:
    return " ".join(f'{name}="{_in_quotes(value)}"' for name, value in attributes.items())


def _in_quotes(text: str) -> str:
    """`text` as an attribute's value, line ends kept through the reader's normalising (XML 1.0 §3.3.3)."""
    return escape(_writable(text)).replace("\n", "&#10;").replace("\r", "&#13;").replace("\t", "&#9;")


def _writable(text: str) -> str:
    """`text` without what XML 1.0 cannot hold (§2.2)."""
    return re.sub(f"[{_NOT_XML}]", "", text)


def _write_folder(folder: _Folder, indent: str, body: list[str]) -> None:
    for name, inner in folder.folders.items():
        body.append(f"{indent}<outline {_attributes({'text': name, 'title': name})}>")
        _write_folder(inner, f"{indent}  ", body)
        body.append(f"{indent}</outline>")
    body.extend(f"{indent}{line}" for line in folder.lines)
