"""Numbers in; the geometry of pictures out: paths, scales and labels, for templates to place. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from junkai.immutable import Struct
from junkai.visitlog import VisitBrief, VisitResult
from junkai.web.series import ANSWERED, NOT_ANSWERED, Series

WIDTH: Final = 900.0
UP_HEIGHT: Final = 180.0
DOWN_HEIGHT: Final = 60.0
SPARK_WIDTH: Final = 120.0
SPARK_HEIGHT: Final = 28.0
_SPARK_TOP: Final = 3.0
_LABELS: Final = 4  #: on the axis of time, before now

#: By outcome: the class of its colour. What the design calls ok and moved, the store calls new and redirected.
COLOURS: Final = {
    "new": "ok",
    "same": "same",
    "redirected": "moved",
    "failed": "failed",
    "held": "held",
    "gone": "gone",
}
#: Tops of the scale above the line, times a power of ten: a third and a half of each is a plain number.
_TOPS: Final = (6.0, 9.0, 12.0, 15.0, 18.0, 24.0, 30.0, 36.0, 45.0, 60.0)
#: How many times the scale below the line is that above, and how a person says it.
_FACTORS: Final = {
    50.0: "50 times the scale",
    20.0: "20 times the scale",
    10.0: "10 times the scale",
    5.0: "5 times the scale",
    2.0: "twice the scale",
    1.0: "the same scale",
    0.5: "half the scale",
    0.2: "a fifth of the scale",
    0.05: "a twentieth of the scale",
}

_STRIP_STEP: Final = 6.0
_STRIP_WIDTH: Final = 4.8
_STRIP_LINE: Final = 14.5
STRIP_HEIGHT: Final = 24


class Path(Struct, frozen=True, kw_only=True):
    """An SVG path, and the class of its colour."""

    colour: str
    d: str


class Tick(Struct, frozen=True, kw_only=True):
    """A label on the axis of time."""

    label: str
    percent: float  #: of the width, from the left
    is_now: bool = False
    is_minor: bool = False  #: left out where there is little room


class VisitsChart(Struct, frozen=True, kw_only=True):
    """Bars a bin: answered above the line, not answered below it on its own scale; what is planned to the right."""

    up: tuple[Path, ...]
    down: tuple[Path, ...]
    planned: str  #: path, hatched
    now_x: float
    up_max: float
    down_max: float
    down_scale: str  #: what the scale below the line is to that above, in words
    ticks: tuple[Tick, ...]


class Spark(Struct, frozen=True, kw_only=True):
    """A line without axes."""

    line: str  #: points
    area: str  #: points
    least: float
    most: float


def visits_chart(series: Series, planned: Sequence[float]) -> VisitsChart:
    """The picture of a series and of what falls due after it (a minute, by bin)."""
    step = WIDTH / max(len(series.bins) + len(planned), 1)
    up = max((part.a_minute(ANSWERED) for part in series.bins), default=0.0)
    down = max((part.a_minute(NOT_ANSWERED) for part in series.bins), default=0.0)
    least = min(_FACTORS)
    up_max = _top(max((up, 3 * down * least, *planned)))
    # As fine as fits, but never so fine that a whole visit a minute would not.
    factor = next(factor for factor in _FACTORS if max(down, 1.0) * 3 * factor <= up_max or factor == least)
    down_max = up_max / (3 * factor)
    now_x = len(series.bins) * step
    return VisitsChart(
        up=_stacked(series, ANSWERED, step=step, scale=-UP_HEIGHT / up_max, base=UP_HEIGHT),
        down=_stacked(series, NOT_ANSWERED, step=step, scale=DOWN_HEIGHT / down_max, base=0.0),
        planned="".join(
            _bar(now_x + place * step, UP_HEIGHT, step * 0.84, -value * UP_HEIGHT / up_max)
            for place, value in enumerate(planned)
        ),
        now_x=round(now_x, 1),
        up_max=up_max,
        down_max=down_max,
        down_scale=_FACTORS[factor],
        ticks=_ticks(series, len(planned)),
    )


def _top(value: float) -> float:
    """The least plain number that is not below the value."""
    power = 1.0
    while value > _TOPS[-1] * power:
        power *= 10
    return next(top * power for top in _TOPS if value <= top * power)


def _stacked(series: Series, outcomes: Sequence[str], *, step: float, scale: float, base: float) -> tuple[Path, ...]:
    paths = dict.fromkeys(outcomes, "")
    for place, part in enumerate(series.bins):
        y = base
        for outcome in outcomes:
            height = part.a_minute((outcome,)) * scale
            paths[outcome] += _bar(place * step, y, step * 0.84, height)
            y += height
    return tuple(Path(colour=COLOURS[outcome], d=path) for outcome, path in paths.items() if path)


def _bar(x: float, y: float, width: float, height: float) -> str:
    """A rectangle from y on, upwards where the height is below 0; nothing where it has none."""
    if height == 0:
        return ""
    return f"M{_plain(x)} {_plain(y)}h{_plain(width)}v{_plain(height)}h-{_plain(width)}z"


def _ticks(series: Series, planned: int) -> tuple[Tick, ...]:
    """Labels of time: some of the past, now, and the end of what is planned."""
    bins = len(series.bins)
    whole = bins + planned
    if not bins:
        return ()
    pattern = "%H:%M" if series.span.minutes <= 1_440 else "%d %b"
    ticks = [
        Tick(
            label=f"{series.bins[bins * number // _LABELS].at:{pattern}}",
            percent=_share(bins * number // _LABELS, whole),
            is_minor=number % 2 == 1,
        )
        for number in range(_LABELS)
    ]
    ticks.append(Tick(label=f"now {series.until:%H:%M}", percent=_share(bins, whole), is_now=True))
    if planned:
        end = series.until + timedelta(minutes=series.span.planned_minutes)
        if planned > whole / 4:
            middle = series.until + timedelta(minutes=series.span.planned_minutes // 2)
            ticks.append(Tick(label=f"{middle:%H:%M}", percent=_share(bins + planned / 2, whole), is_minor=True))
            ticks.append(Tick(label=f"{end:%H:%M}", percent=100.0))
    return tuple(ticks)


def _share(place: float, whole: int) -> float:
    return round(100 * place / whole, 2)


def spark(values: Sequence[float]) -> Spark | None:
    """A line through the values, from the least of them or 0 up to the most; None for fewer than two."""
    if len(values) < 2:
        return None
    least, most = min(values), max(values)
    height = SPARK_HEIGHT - _SPARK_TOP
    points = " ".join(
        f"{_plain(SPARK_WIDTH * place / (len(values) - 1))},{_plain(SPARK_HEIGHT - height * value / (most or 1))}"
        for place, value in enumerate(values)
    )
    floor = _plain(SPARK_HEIGHT)
    return Spark(line=points, area=f"0,{floor} {points} {_plain(SPARK_WIDTH)},{floor}", least=least, most=most)


def shares(values: Sequence[float], *, width: float = 1000.0, gap: float = 3.0) -> list[tuple[float, float]]:
    """Where each part of a bar begins, and how wide it is; a part above 0 is never thinner than the gap."""
    whole = sum(values)
    room = width - gap * (sum(value > 0 for value in values) - 1)
    parts = []
    x = 0.0
    for value in values:
        part = max(room * value / whole, gap) if value else 0.0
        part = min(part, width - x)
        parts.append((round(x, 1), round(part, 1)))
        x += part + gap if value else 0.0
    return parts


def strip(visits: Sequence[VisitBrief]) -> tuple[Path, ...]:
    """A cell a visit, the oldest at the left: above the line the source answered, below it did not."""
    paths: dict[str, str] = {}
    for place, visit in enumerate(visits):
        colour, shape = _cell(place * _STRIP_STEP, visit)
        paths[colour] = paths.get(colour, "") + shape
    return tuple(Path(colour=colour, d=path) for colour, path in paths.items())


def strip_width(visits: Sequence[VisitBrief]) -> float:
    """How wide `strip` is."""
    return max(len(visits), 1) * _STRIP_STEP


def _cell(x: float, visit: VisitBrief) -> tuple[str, str]:
    match visit.result:
        case VisitResult.FETCHED if visit.changes:
            return "f-ok", _bar(x, 14.0, _STRIP_WIDTH, -min(6.0 + 1.2 * visit.changes, 12.0))
        case VisitResult.FETCHED | VisitResult.SAME_BODY | VisitResult.NOT_MODIFIED:
            return "f-same", _bar(x, 14.0, _STRIP_WIDTH, -3.6)
        case VisitResult.REDIRECTED:
            return "f-moved", _bar(x, 14.0, _STRIP_WIDTH, -3.0) + _bar(x, 10.0, _STRIP_WIDTH, -3.0)
        case VisitResult.RATE_LIMITED:
            return "s-held", _bar(x + 0.7, 15.7, _STRIP_WIDTH - 1.4, 6.6)
        case VisitResult.GONE:
            return "s-gone", f"M{_plain(x)} 7l4.8 14m0 -14l-4.8 14"
        case _:
            return "f-failed", _bar(x, 15.0, _STRIP_WIDTH, 8.0)


def _plain(number: float) -> str:
    """One decimal, and none where it is 0."""
    return f"{number:.1f}".removesuffix(".0")
