"""A range as monitoring plugins take it (`10`, `10:`, `~:10`, `@10:20`) in; whether a value alerts, out."""

from __future__ import annotations

import math
import re
from typing import Final, NamedTuple

from junkai.errors import UsageError

_NUMBER: Final = r"-?\d{1,15}(?:\.\d{1,6})?"
_RANGE: Final = re.compile(rf"(?P<at>@?)(?:(?P<start>~|{_NUMBER})?(?P<colon>:))?(?P<end>{_NUMBER})?", re.ASCII)


class Range(NamedTuple):
    """A threshold: values outside of it alert, or inside where it was written with @. Both ends belong to it."""

    text: str
    start: float
    end: float
    is_inverted: bool = False

    def alerts(self, value: float) -> bool:
        """Whether the value is one to be told of."""
        return (self.start <= value <= self.end) == self.is_inverted


def parse(text: str) -> Range:
    """`10`: 0 to 10 is fine; `10:`: 10 or more; `~:10`: 10 or less; `10:20`: between; `@10:20`: not between.

    Raises UsageError.
    """
    written = text.strip()
    match = _RANGE.fullmatch(written)
    if match is None or not written.strip("@:"):
        raise UsageError(text, "not a range; write it like 10, 10:, ~:10, 10:20 or @10:20")
    start = -math.inf if match["start"] == "~" else float(match["start"] or 0)
    end = math.inf if match["end"] is None else float(match["end"])
    if start > end:
        raise UsageError(text, "not a range: its start is above its end")
    return Range(text=written, start=start, end=end, is_inverted=bool(match["at"]))
