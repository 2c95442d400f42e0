"""The bytes of a body and its Content-Type in; its text, the name of its encoding and what was wrong, out.

The first of these that names an encoding we know decides: a byte order mark, the charset parameter, the XML
declaration, UTF-8 (RFC 7303 §3; there is no us-ascii default). Labels and decoders are those of the WHATWG Encoding
Standard: see `charsets`.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from junkai.document import Problem
from junkai.parse import charsets

_BOM_UTF_8: Final = b"\xef\xbb\xbf"
_BOMS: Final = (
    (_BOM_UTF_8, "utf-8"),
    (b"\xff\xfe\0\0", "utf-32le"),
    (b"\0\0\xfe\xff", "utf-32be"),
    (b"\xff\xfe", "utf-16le"),
    (b"\xfe\xff", "utf-16be"),
)
#: How the first character of a document ("<" or "{") looks in encodings that need no mark.
_WIDE_STARTS: Final = (
    (re.compile(rb"[<{\[\t\n\r ]\0\0\0"), "utf-32le"),
    (re.compile(rb"\0\0\0[<{\[\t\n\r ]"), "utf-32be"),
    (re.compile(rb"[<{\[\t\n\r ]\0[^\0]"), "utf-16le"),
    (re.compile(rb"\0[<{\[\t\n\r ]\0[^\0]"), "utf-16be"),
)
_CHARSET: Final = re.compile(r""";\s*charset\s*=\s*["']?([^"';,\s]+)""", re.IGNORECASE)
_DECLARATION: Final = re.compile(rb"""<\?xml\s[^>]*?encoding\s*=\s*["']\s*([A-Za-z0-9._:+-]+)""")
_DECLARATION_BYTES_MAX: Final = 1_024
_BOM: Final = "\N{ZERO WIDTH NO-BREAK SPACE}"


class Decoded(NamedTuple):
    """A body as text, without byte order marks."""

    text: str
    encoding: str  #: as the Encoding Standard calls it, lower case
    problems: tuple[Problem, ...] = ()

    def as_utf8(self, body: bytes) -> bytes:
        """The text as UTF-8; `body`, of which it was made, where that is the same."""
        is_same = self.encoding == "utf-8" and not self.problems and not body.startswith(_BOM_UTF_8)
        return body if is_same else self.text.encode("utf-8", "replace")


def decode_body(body: bytes, content_type: str = "") -> Decoded:
    """Decode a whole body. Never raises: what fits no encoding becomes U+FFFD."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return _decoded(body, name, [])
    for start, name in _WIDE_STARTS:
        if start.match(body):
            return _decoded(body, name, [])
    problems: list[Problem] = []
    for label, where in _labels(body, content_type):
        encoding = charsets.named(label)
        if encoding is None:
            problems.append(
                Problem(code="unknown_encoding", message=f"The {where} names an unknown encoding: {label[:40]}.")
            )
        elif encoding.startswith("utf-16"):
            # Bytes that show "<" as one byte are no UTF-16, whatever they say (HTML, "prescan a byte stream").
            problems.append(
                Problem(code="wrong_encoding", message=f"The {where} says {encoding}, which the bytes are not.")
            )
        else:
            return _decoded(body, encoding, problems)
    return _decoded(body, "utf-8", problems)


def _labels(body: bytes, content_type: str) -> list[tuple[str, str]]:
    """What is said about the encoding, the most trusted first, and where."""
    said = []
    if match := _CHARSET.search(content_type):
        said.append((match[1], "Content-Type"))
    start = body.find(b"<")
    declaration = body.find(b"<?xml", max(start, 0), max(start, 0) + _DECLARATION_BYTES_MAX)
    if declaration != -1 and (found := _DECLARATION.match(body[declaration : declaration + _DECLARATION_BYTES_MAX])):
        said.append((found[1].decode("ascii"), "XML declaration"))
    return said


def _decoded(body: bytes, encoding: str, problems: list[Problem]) -> Decoded:
    try:
        text = charsets.decode(body, encoding, errors="strict")
    except UnicodeDecodeError as error:
        if encoding != "utf-8":
            try:
                text = body.decode("utf-8")
            except UnicodeDecodeError:
                pass
            else:
                message = f"Declared as {encoding}, but only UTF-8 fits the bytes."
                return Decoded(text.lstrip(_BOM), "utf-8", (*problems, Problem(code="wrong_encoding", message=message)))
        text = charsets.decode(body, encoding, errors="replace")
        line = body.count(b"\n", 0, error.start) + 1
        message = f"Some bytes are not {encoding}; they became U+FFFD."
        problems = [*problems, Problem(code="bad_bytes", message=message, line=line)]
    return Decoded(text.lstrip(_BOM), encoding, tuple(problems))
