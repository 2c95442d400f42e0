"""Spans and moments as people write them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from junkai import timespan
from junkai.errors import UsageError

NOW = datetime(2026, 11, 27, 13, 48, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("2h", 7200), ("30m", 1800), ("30min", 1800), ("1d12h", 129_600), ("90", 90), ("0.5", 0.5), ("1w", 604_800)],
)
def test_a_span_is_read(text: str, expected: float) -> None:
    actual = timespan.seconds(text)

    assert expected == actual


@pytest.mark.parametrize("text", ["", " ", "2x", "h", "-5", "2h30", "1e9", "12h1d", "٣h", "99999w9999999"])
def test_what_is_no_span_is_said_with_the_form_that_is(text: str) -> None:
    with pytest.raises(UsageError, match="2h, 30m, 1d12h"):
        timespan.seconds(text)


def test_a_span_beyond_a_hundred_years_is_refused() -> None:
    with pytest.raises(UsageError, match="hundred years"):
        timespan.seconds("999999w")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2h", datetime(2026, 11, 27, 11, 48, tzinfo=UTC)),
        ("7d", datetime(2026, 11, 20, 13, 48, tzinfo=UTC)),
        ("2026-11-01", datetime(2026, 11, 1, tzinfo=UTC)),
        ("2026-11-01T09:00:00Z", datetime(2026, 11, 1, 9, tzinfo=UTC)),
        ("2026-11-01T09:00:00+09:00", datetime(2026, 11, 1, tzinfo=UTC)),
    ],
)
def test_a_moment_is_read(text: str, expected: datetime) -> None:
    actual = timespan.moment(text, NOW)

    assert (expected, UTC) == (actual, actual.tzinfo)


@pytest.mark.parametrize("text", ["yesterday", "2026-13-01", "", "0001-01-01T00:00:00+23:00"])
def test_what_is_no_moment_is_said_with_the_form_that_is(text: str) -> None:
    with pytest.raises(UsageError, match="2026-11-27"):
        timespan.moment(text, NOW)
