"""Text of any origin in; text that cannot steer a terminal out: no control, no change of direction, no line break."""

from __future__ import annotations

import re
from typing import Final

#: C0, DEL and C1 (U+009B alone starts an escape sequence), and halves of surrogate pairs, which no terminal can show.
_CONTROLS: Final = "\x00-\x1f\x7f-\x9f\ud800-\udfff"
#: Marks, embeddings, overrides and isolates of direction (UAX #9), line separators, annotations, tag characters.
_DIRECTIONS: Final = "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\U000e0000-\U000e007f"

_BLANKS: Final = re.compile(r"[\s\u2028\u2029]+")
_CONTROL: Final = re.compile(f"[{_CONTROLS}]")
_DIRECTION: Final = re.compile(f"[{_DIRECTIONS}]+")
_ESCAPED_IN_JSON: Final = re.compile(f"[\x7f-\x9f{_DIRECTIONS}]")


def safe(text: str) -> str:
    """`text` on one line: blanks become one space, controls U+FFFD, and what turns the direction of text goes."""
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.strip()
    one_line = _BLANKS.sub(" ", text).strip()
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", _DIRECTION.sub("", one_line))


def safe_json(line: bytes) -> bytes:
    """A line of JSON with the same characters escaped (RFC 8259 §7): the same value, and as harmless to look at."""
    if line.isascii() and b"\x7f" not in line:
        return line
    return _ESCAPED_IN_JSON.sub(_escape, line.decode()).encode()


def _escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
