"""Visits by minute, put into the bins of a span."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from junkai.backend.listed import MinuteCount
from junkai.web import series as bins
from junkai.web.series import SPANS, planned_bins, series, start

NOW = datetime(2026, 11, 27, 13, 48, 20, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def count(minutes_ago: int, outcome: str = "same", visits: int = 1, entries_new: int = 0) -> MinuteCount:
    at = NOW.replace(second=0) - minutes_ago * MINUTE
    return MinuteCount(at=at, outcome=outcome, visits=visits, entries_new=entries_new)


@pytest.mark.parametrize("span", SPANS.values(), ids=SPANS)
def test_the_bins_of_a_span_follow_each_other_up_to_the_running_minute(span: bins.Span) -> None:
    found = series([], span, NOW)

    ends = [part.at + part.minutes * MINUTE for part in found.bins]
    assert [part.at for part in found.bins[1:]] == ends[:-1]
    assert ends[-1] == found.until == NOW.replace(second=0)
    assert start(span, NOW) == found.bins[0].at
    assert {span.bin_minutes} == {part.minutes for part in found.bins[:-1]}
    assert span.minutes // span.bin_minutes == len(found.bins)


@pytest.mark.parametrize("span", SPANS.values(), ids=SPANS)
def test_no_visit_is_lost_or_counted_twice(span: bins.Span) -> None:
    counts = [count(ago, visits=ago) for ago in range(1, span.minutes - span.bin_minutes)]

    assert sum(each.visits for each in counts) == series(counts, span, NOW).visits


def test_the_minute_that_runs_counts_and_is_in_no_bin_yet() -> None:
    found = series([count(0, "new", 3, entries_new=5)], bins.HOUR, NOW)

    assert (3, 5, 0, None) == (found.visits, found.entries_new, sum(part.total for part in found.bins), found.first_at)


def test_a_rate_is_of_the_last_whole_minutes() -> None:
    counts = [count(ago, visits=10) for ago in range(1, 5)] + [count(6, visits=1_000), count(5, "failed", 5)]

    rate = bins.rates(series(counts, bins.HOUR, NOW))

    assert (8.0, 1.0, 0.0) == (rate["same"], rate["failed"], rate["gone"])


def test_a_young_system_is_not_averaged_over_minutes_before_its_first_visit() -> None:
    assert 30.0 == bins.rates(series([count(1, visits=30)], bins.HOUR, NOW))["same"]


def test_the_last_bin_counts_only_its_whole_minutes() -> None:
    found = series([count(1, visits=6), count(3, visits=6)], SPANS["6h"], NOW)

    assert (3, 4.0) == (found.bins[-1].minutes, found.bins[-1].a_minute(["same"]))


def test_what_is_planned_falls_into_bins_after_now() -> None:
    until = NOW.replace(second=0)
    due = [
        (until, 2),
        (until + 4 * MINUTE, 3),
        (until + 5 * MINUTE, 10),
        (until + 30 * MINUTE, 99),
        (until - MINUTE, 99),
    ]

    assert [1.0, 2.0, 0.0, 0.0, 0.0, 0.0] == planned_bins(due, SPANS["6h"], until)
    assert 30 == len(planned_bins(due, SPANS["1h"], until))
    assert [] == planned_bins(due, SPANS["24h"], until)


def test_an_outcome_of_a_later_version_is_left_out() -> None:
    assert 0 == series([count(1, "unheard of")], bins.HOUR, NOW).visits
