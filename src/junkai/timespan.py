"""What people write for a span or a moment (`2h`, `90`, `2026-11-27`) in; seconds or an aware UTC moment out."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from junkai.errors import UsageError

_SPAN: Final = re.compile(
    r"(?:(?P<w>\d{1,6})w)?(?:(?P<d>\d{1,6})d)?(?:(?P<h>\d{1,6})h)?(?:(?P<m>\d{1,6})m(?:in)?)?(?:(?P<s>\d{1,9})s)?",
    re.ASCII,
)
_BARE: Final = re.compile(r"\d{1,9}(?:\.\d{1,6})?", re.ASCII)
_SECONDS: Final = {"w": 604_800, "d": 86_400, "h": 3_600, "m": 60, "s": 1}
SPAN_SECONDS_MAX: Final = 100 * 366 * 86_400


def seconds(text: str) -> float:
    """The seconds in `2h`, `30m`, `1d12h` or `90` (seconds). Raises UsageError, also beyond a hundred years."""
    written = text.strip().lower().replace(" ", "")
    if _BARE.fullmatch(written):
        total = float(written)
    else:
        match = _SPAN.fullmatch(written)
        if not written or match is None:
            raise UsageError(text, "not a time span; write it like 2h, 30m, 1d12h, or 90 for seconds")
        total = float(sum(int(count) * _SECONDS[unit] for unit, count in match.groupdict(default="0").items()))
    if total > SPAN_SECONDS_MAX:
        raise UsageError(text, "longer than a hundred years")
    return total


def moment(text: str, now: datetime) -> datetime:
    """A moment: RFC 3339, a date (its midnight, UTC), or a span that is over (`2h`: two hours ago). Aware UTC.

    Raises UsageError.
    """
    try:
        return now - timedelta(seconds=seconds(text))
    except UsageError:
        pass
    try:
        parsed = datetime.fromisoformat(text.strip())
        return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)
    except (ValueError, OverflowError):
        raise UsageError(
            text, "not a moment; write it like 2026-11-27, 2026-11-27T13:48:00Z, or 2h for two hours ago"
        ) from None
