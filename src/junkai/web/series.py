"""Visits by minute in; the same in bins of a span, and what they come to a minute, out. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Final

from junkai.backend.listed import MinuteCount
from junkai.immutable import Struct

OUTCOMES: Final = ("new", "same", "redirected", "failed", "held", "gone")
ANSWERED: Final = OUTCOMES[:3]
NOT_ANSWERED: Final = OUTCOMES[3:]
#: A rate is of so many whole minutes: one alone jumps, ten are slow to tell.
RATE_MINUTES: Final = 5

_MINUTE: Final = timedelta(minutes=1)


class Span(Struct, frozen=True, kw_only=True):
    """How far a chart looks back, and in what steps."""

    key: str  #: as in ?span=
    label: str
    words: str  #: "the past hour"
    minutes: int
    bin_minutes: int  #: divides a day
    planned_minutes: int = 0  #: how far it looks ahead
    fresh_s: float  #: how old what is shown may be

    @property
    def width(self) -> timedelta:
        """Of a bin."""
        return timedelta(minutes=self.bin_minutes)


SPANS: Final = {
    span.key: span
    for span in (
        Span(key="1h", label="1 h", words="the past hour", minutes=60, bin_minutes=1, planned_minutes=30, fresh_s=1.0),
        Span(
            key="6h", label="6 h", words="the past 6 hours", minutes=360, bin_minutes=5, planned_minutes=30, fresh_s=5.0
        ),
        Span(key="24h", label="24 h", words="the past 24 hours", minutes=1_440, bin_minutes=20, fresh_s=10.0),
        Span(key="7d", label="7 days", words="the past 7 days", minutes=10_080, bin_minutes=120, fresh_s=120.0),
    )
}
HOUR: Final = SPANS["1h"]
DAY: Final = SPANS["24h"]


class Bin(Struct, frozen=True, kw_only=True):
    """The visits of some minutes, by outcome; those of OUTCOMES that did not occur are 0."""

    at: datetime  #: start
    minutes: int  #: whole ones in it; the last bin of a series may have fewer than the others
    visits: dict[str, int]
    entries_new: int = 0

    @property
    def total(self) -> int:
        """All visits."""
        return sum(self.visits.values())

    def a_minute(self, outcomes: Iterable[str]) -> float:
        """Visits a minute with one of these outcomes."""
        return sum(self.visits[outcome] for outcome in outcomes) / self.minutes


class Series(Struct, frozen=True, kw_only=True):
    """A span in bins up to the last whole minute."""

    span: Span
    until: datetime  #: the start of the minute that runs: what it has so far is in no bin
    running_visits: int = 0  #: what it has so far
    running_entries: int = 0
    bins: tuple[Bin, ...]
    first_at: datetime | None  #: the first moment told of a visit in it

    @property
    def visits(self) -> int:
        """All visits in it, the running minute's too."""
        return sum(part.total for part in self.bins) + self.running_visits

    @property
    def entries_new(self) -> int:
        """All new entries in it, the running minute's too."""
        return sum(part.entries_new for part in self.bins) + self.running_entries


def start(span: Span, now: datetime) -> datetime:
    """When the first bin begins: at a whole number of bins since midnight UTC."""
    return _floor(_floor(now, 1) - (span.minutes - span.bin_minutes + 1) * _MINUTE, span.bin_minutes)


def end(span: Span, now: datetime) -> datetime:
    """Up to when counts are wanted: the minute that runs would blur a bin of more minutes than one."""
    return now if span.bin_minutes == 1 else _floor(now, 1)


def series(counts: Iterable[MinuteCount], span: Span, now: datetime) -> Series:
    """The bins of a span that ends now. `counts` are those from `start` to `end`, a minute or a bin each."""
    until = _floor(now, 1)
    begin = start(span, now)
    width = span.width
    number = max(-(-(until - begin) // width), 0)
    visits = [dict.fromkeys(OUTCOMES, 0) for _ in range(number)]
    entries_new = [0] * number
    first_at: datetime | None = None
    running_visits = running_entries = 0
    for count in counts:
        if count.at >= until:
            running_visits += count.visits
            running_entries += count.entries_new
        if not begin <= count.at < until or count.outcome not in OUTCOMES:
            continue
        place = (count.at - begin) // width
        visits[place][count.outcome] += count.visits
        entries_new[place] += count.entries_new
        first_at = count.at if first_at is None else min(first_at, count.at)
    return Series(
        span=span,
        until=until,
        running_visits=running_visits,
        running_entries=running_entries,
        bins=tuple(
            Bin(
                at=begin + place * width,
                minutes=min(span.bin_minutes, (until - begin - place * width) // _MINUTE),
                visits=visits[place],
                entries_new=entries_new[place],
            )
            for place in range(number)
        ),
        first_at=first_at,
    )


def rates(hour: Series) -> dict[str, float]:
    """Visits a minute by outcome, over the last whole minutes of a series that has them each in a bin."""
    known = 0 if hour.first_at is None else min((hour.until - hour.first_at) // _MINUTE, RATE_MINUTES)
    recent = hour.bins[len(hour.bins) - known :]
    return {outcome: sum(part.visits[outcome] for part in recent) / max(known, 1) for outcome in OUTCOMES}


def planned_bins(planned: Iterable[tuple[datetime, int]], span: Span, until: datetime) -> list[float]:
    """Sources that fall due, a minute, in each bin from `until` on."""
    number = span.planned_minutes // span.bin_minutes
    due = [0] * number
    for at, sources in planned:
        place = (at - until) // span.width
        if 0 <= place < number:
            due[place] += sources
    return [sources / span.bin_minutes for sources in due]


def _floor(moment: datetime, minutes: int) -> datetime:
    midnight = datetime(moment.year, moment.month, moment.day, tzinfo=UTC)
    return midnight + (moment - midnight) // timedelta(minutes=minutes) * timedelta(minutes=minutes)
