"""Visits and what falls due next in; the section "Visits per minute", as a picture and a table, out. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from junkai import wording
from junkai.immutable import Struct
from junkai.web import chart
from junkai.web.chart import VisitsChart
from junkai.web.series import ANSWERED, NOT_ANSWERED, OUTCOMES, Series, Span, planned_bins
from junkai.web.shown import Moment, moment

#: By outcome, as the legend and the table's heads say it.
OUTCOME_WORDS: Final = {
    "new": "New entries",
    "same": "Not modified",
    "redirected": "Redirected",
    "failed": "Failed",
    "held": "Held",
    "gone": "Gone",
}


class LegendItem(Struct, frozen=True, kw_only=True):
    """An outcome, and its visits a minute."""

    colour: str
    word: str
    number: str


class ChartPart(Struct, frozen=True, kw_only=True):
    """The visits chart with all that is written around it."""

    picture: VisitsChart
    words: str  #: under the heading
    up_labels: tuple[str, str, str]  #: top, middle, line
    down_labels: tuple[str, str, str]
    note: str
    up_sentence: str
    down_sentence: str
    legend: tuple[LegendItem, ...]
    rows: tuple[tuple[Moment, tuple[str, ...]], ...]  #: newest first: visits in a bin by outcome, and all
    rows_words: str
    planned_words: str
    other_view_href: str
    is_table: bool


def chart_part(
    shown: Series, due: Sequence[tuple[datetime, int]], rate: Mapping[str, float], *, is_table: bool
) -> ChartPart:
    """The section; `due` is how many sources fall due in each minute to come, `rate` the visits a minute by outcome."""
    span = shown.span
    planned = planned_bins(due, span, shown.until)
    picture = chart.visits_chart(shown, planned)
    ahead = f", and what falls due in the next {span.planned_minutes} minutes" if planned else ""
    legend = [
        LegendItem(colour=chart.COLOURS[name], word=word, number=wording.rate(rate[name]))
        for name, word in OUTCOME_WORDS.items()
    ]
    a_minute = sum(planned) / len(planned) if planned else 0.0
    if planned:
        legend.append(LegendItem(colour="plan", word="Planned", number=wording.rate(a_minute)))
    return ChartPart(
        picture=picture,
        words=span.words + ahead,
        up_labels=_labels(picture.up_max),
        down_labels=_labels(picture.down_max),
        note=f"Not answered, drawn at {picture.down_scale}",
        up_sentence=_up_sentence(shown, a_minute if planned else None),
        down_sentence=_down_sentence(shown),
        legend=tuple(legend),
        rows=_rows(shown) if is_table else (),
        rows_words=f"Visits in each {_each(span.bin_minutes)}, by what they met; times in UTC",
        planned_words=(
            f"{wording.rate(a_minute)} feeds a minute fall due in the next {span.planned_minutes} minutes."
            if planned
            else ""
        ),
        other_view_href=href(span, is_table=not is_table),
        is_table=is_table,
    )


def _labels(top: float) -> tuple[str, str, str]:
    return wording.rate(top) if top < 10 else wording.count(round(top)), _half(top), "0"


def _half(top: float) -> str:
    half = top / 2
    return f"{half:.2f}".rstrip("0").rstrip(".") if half < 100 and half != round(half) else wording.count(round(half))


def _each(minutes: int) -> str:
    if minutes == 1:
        return "minute"
    return f"{minutes} minutes" if minutes < 60 else f"{minutes // 60} hours"


def _up_sentence(shown: Series, due: float | None) -> str:
    answered = [part.a_minute(ANSWERED) for part in shown.bins] or [0.0]
    past = (
        f"Answered visits per minute over {shown.span.words}: between {wording.rate(min(answered))}"
        f" and {wording.rate(max(answered))}."
    )
    return past if due is None else f"{past} Planned for the next minutes: {wording.rate(due)} a minute."


def _down_sentence(shown: Series) -> str:
    worst = max(shown.bins, key=lambda part: part.a_minute(NOT_ANSWERED), default=None)
    if worst is None or not worst.a_minute(NOT_ANSWERED):
        return f"Failed, held and gone per minute over {shown.span.words}: none."
    peak = f"{wording.rate(worst.a_minute(NOT_ANSWERED))} at {worst.at:%H:%M}"
    return f"Failed, held and gone per minute over {shown.span.words}: the most is {peak}."


def _rows(shown: Series) -> tuple[tuple[Moment, tuple[str, ...]], ...]:
    pattern = "%H:%M" if shown.span.minutes <= 1_440 else "%d %b %H:%M"
    return tuple(
        (
            moment(part.at, f"{part.at:{pattern}}"),
            (*(wording.count(part.visits[outcome]) for outcome in OUTCOMES), wording.count(part.total)),
        )
        for part in reversed(shown.bins)
    )


def href(span: Span, *, is_table: bool) -> str:
    """The first page over a span, its chart as a picture or a table."""
    return f"/?span={span.key}" + "&view=table" * is_table
