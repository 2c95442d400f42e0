"""The geometry of pictures."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from junkai.backend.listed import MinuteCount
from junkai.visitlog import VisitBrief, VisitResult
from junkai.web import chart
from junkai.web.series import HOUR, OUTCOMES, Series, series

NOW = datetime(2026, 11, 27, 13, 48, tzinfo=UTC)
BAR = re.compile(r"M([\d.]+) ([\d.]+)h([\d.]+)v(-?[\d.]+)h-([\d.]+)z")


def hour(**visits: int) -> Series:
    """An hour whose last minute had these visits."""
    at = NOW - timedelta(minutes=1)
    counts = [MinuteCount(at=at, outcome=outcome, visits=number) for outcome, number in visits.items()]
    return series(counts, HOUR, NOW)


def bars(path: str) -> list[tuple[float, ...]]:
    return [tuple(map(float, found)) for found in BAR.findall(path)]


def brief(result: VisitResult, changes: int = 0) -> VisitBrief:
    return VisitBrief(at=NOW, result=result, status=200, elapsed_ms=1, changes=changes)


def test_answered_visits_stand_on_the_line_and_on_each_other() -> None:
    picture = chart.visits_chart(hour(new=100, same=400, redirected=100), [])

    assert ["ok", "same", "moved"] == [path.colour for path in picture.up]
    [[ok], [same], [moved]] = (bars(path.d) for path in picture.up)
    assert (chart.UP_HEIGHT, 600.0) == (ok[1], picture.up_max)
    assert (-30.0, -120.0, -30.0) == (ok[3], same[3], moved[3])
    assert (ok[1] + ok[3], same[1] + same[3]) == (same[1], moved[1])
    assert ok[0] + ok[2] <= picture.now_x == chart.WIDTH


def test_what_did_not_answer_hangs_below_the_line_at_a_scale_of_its_own() -> None:
    picture = chart.visits_chart(hour(same=600, failed=15, held=3), [])

    assert ("10 times the scale", 20.0) == (picture.down_scale, picture.down_max)
    [[failed], [held]] = (bars(path.d) for path in picture.down)
    assert (0.0, 45.0) == (failed[1], failed[3])
    assert (45.0, 9.0) == (held[1], held[3])


def test_a_day_on_which_nothing_answers_still_fits() -> None:
    picture = chart.visits_chart(hour(same=1, failed=5_000), [])

    [[failed]] = (bars(path.d) for path in picture.down)
    assert failed[3] <= chart.DOWN_HEIGHT
    assert "a twentieth of the scale" == picture.down_scale


def test_a_quiet_hour_is_not_blown_up() -> None:
    picture = chart.visits_chart(hour(same=6), [])

    assert (6.0, 1.0, "twice the scale") == (picture.up_max, picture.down_max, picture.down_scale)


def test_what_is_planned_stands_right_of_now() -> None:
    picture = chart.visits_chart(hour(same=10), [6.0] * 30)

    found = bars(picture.planned)
    assert (600.0, 30) == (picture.now_x, len(found))
    assert all(bar[0] >= picture.now_x for bar in found)
    assert found[-1][0] + found[-1][2] <= chart.WIDTH


def test_the_axis_says_when_it_began_when_now_is_and_when_the_plan_ends() -> None:
    ticks = chart.visits_chart(hour(same=10), [6.0] * 30).ticks

    assert ("12:48", "now 13:48", "14:18") == (ticks[0].label, ticks[4].label, ticks[-1].label)
    assert [tick.percent for tick in ticks] == sorted(tick.percent for tick in ticks)
    assert 100.0 == ticks[-1].percent


@given(st.dictionaries(st.sampled_from(OUTCOMES), st.integers(0, 10**7)), st.lists(st.floats(0, 1e6), max_size=30))
def test_no_bar_leaves_the_picture(visits: dict[str, int], planned: list[float]) -> None:
    picture = chart.visits_chart(hour(**visits), planned)

    for path in (*(path.d for path in picture.up), picture.planned):
        assert all(y + height >= -0.2 and x + width <= chart.WIDTH + 0.2 for x, y, width, height, _ in bars(path))
    for below in picture.down:
        assert all(y + height <= chart.DOWN_HEIGHT + 0.2 for _, y, _, height, _ in bars(below.d))


@pytest.mark.parametrize(
    ("value", "top"), [(0, 6), (6, 6), (6.1, 9), (59, 60), (61, 90), (1_000, 1_200), (65_000, 90_000)]
)
def test_the_top_of_a_scale_is_a_plain_number(value: float, top: float) -> None:
    assert top == chart._top(value)


def test_a_line_begins_at_the_left_and_ends_at_the_right() -> None:
    spark = chart.spark([0, 5, 10])

    assert spark is not None
    assert ("0,28 60,15.5 120,3", "0,28 0,28 60,15.5 120,3 120,28") == (spark.line, spark.area)
    assert chart.spark([1]) is None


@given(st.lists(st.integers(0, 10**9), min_size=2, max_size=4))
def test_the_parts_of_a_bar_lie_beside_each_other_within_it(values: list[int]) -> None:
    parts = chart.shares(values) if sum(values) else []

    assert all(0 <= x and x + width <= 1000.1 for x, width in parts)
    shown = [part for part in parts if part[1]]
    assert all(x + width <= next_x + 0.1 for (x, width), (next_x, _) in pairwise(shown))


def test_a_strip_shows_answers_above_its_line_and_the_rest_below() -> None:
    paths = chart.strip([brief(result, changes=3) for result in VisitResult])

    assert {"f-ok", "f-same", "f-moved", "f-failed", "s-held", "s-gone"} == {path.colour for path in paths}
    by_colour = {path.colour: bars(path.d) for path in paths}
    assert all(y + height <= 14 for colour in ("f-ok", "f-same", "f-moved") for _, y, _, height, _ in by_colour[colour])
    assert all(y >= 15 for colour in ("f-failed", "s-held") for _, y, _, _, _ in by_colour[colour])
    assert 42 == chart.strip_width([brief(VisitResult.GONE)] * 7)
