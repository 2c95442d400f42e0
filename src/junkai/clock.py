"""The only module that reads the clock: aware UTC moments out, and conversions between them and milliseconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

Clock = Callable[[], datetime]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)

#: The moment that stands for "never": nothing is due. Year 9999, so that it sorts last and still is a date.
NEVER = datetime(9999, 1, 1, tzinfo=UTC)


def utc_now() -> datetime:
    """The wall clock, aware UTC."""
    return datetime.now(UTC)


def monotonic() -> float:
    """Seconds on a clock that never goes back; only differences mean anything."""
    return time.monotonic()


def cpu_seconds() -> float:
    """User and system seconds that this process has used."""
    return time.process_time()


def to_ms(moment: datetime) -> int:
    """Milliseconds since 1970-01-01 UTC, rounded down."""
    return (moment - _EPOCH) // _MILLISECOND


def from_ms(milliseconds: int) -> datetime:
    """The moment that many milliseconds after 1970-01-01 UTC."""
    return _EPOCH + timedelta(milliseconds=milliseconds)


NEVER_MS = to_ms(NEVER)
