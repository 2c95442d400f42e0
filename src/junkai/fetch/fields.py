"""The header lines of one answer in; its fields by name, and what was wrong with the lines, out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

BARE_LF: Final = "bare_lf"
BAD_LINE: Final = "bad_header_line"

_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


class Fields:
    """Field values by case-insensitive name (RFC 9110 §5): latin-1, so that their bytes come back as they were."""

    __slots__ = ("_values",)

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        self._values: dict[str, list[str]] = {}
        for name, value in pairs:
            self._values.setdefault(name.lower(), []).append(value)

    def get(self, name: str) -> str | None:
        """The first value, or None."""
        values = self._values.get(name.lower())
        return values[0] if values else None

    def last(self, name: str) -> str | None:
        """The last value, or None."""
        values = self._values.get(name.lower())
        return values[-1] if values else None

    def all(self, name: str) -> tuple[str, ...]:
        """Every line's value, in order."""
        return tuple(self._values.get(name.lower(), ()))

    def joined(self, name: str) -> str | None:
        """All lines as one list value (RFC 9110 §5.3), or None."""
        values = self._values.get(name.lower())
        return ", ".join(values) if values else None

    def items(self) -> Iterator[tuple[str, str]]:
        """Every line as (lower-case name, value), those of one name together."""
        return ((name, value) for name, values in self._values.items() for value in values)

    def __repr__(self) -> str:
        return f"Fields({self._values!r})"


def parse(lines: Sequence[bytes]) -> tuple[Fields, tuple[str, ...]]:
    """The fields of a header block, status line first, and flags.

    A line without a proper name, or with a control character in it, is left out and flagged (rule 38).
    """
    text = b"".join(lines).decode("latin-1")
    flags = []
    if text.count("\n") != text.count("\r\n"):
        flags.append(BARE_LF)
    has_control = _CONTROL.search(text) is not None
    pairs = []
    is_clean = True
    for line in text.split("\n")[1:]:
        raw_name, colon, value = line.partition(":")
        name = _field_name(raw_name) if colon else None
        if name is not None and not (has_control and _CONTROL.search(value)):
            pairs.append((name, value.strip(" \t\r")))
        elif line.strip("\r"):
            is_clean = False
    if not is_clean:
        flags.append(BAD_LINE)
    return Fields(pairs), tuple(flags)


@lru_cache(maxsize=1024)
def _field_name(raw: str) -> str | None:
    return raw.lower() if _TOKEN.fullmatch(raw) else None
