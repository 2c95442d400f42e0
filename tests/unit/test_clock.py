"""Moments and milliseconds: there and back, before 1970 too."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from junkai.clock import NEVER, NEVER_MS, cpu_seconds, from_ms, monotonic, to_ms, utc_now

MOMENTS = st.datetimes(datetime(1, 1, 2), datetime(9999, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001  # hypothesis adds it


@given(MOMENTS)
def test_a_moment_comes_back_to_the_millisecond_below(moment: datetime) -> None:
    back = from_ms(to_ms(moment))

    assert timedelta(0) <= moment - back < timedelta(milliseconds=1)
    assert timedelta(0) == back.utcoffset()


@given(st.integers(to_ms(datetime(1, 1, 2, tzinfo=UTC)), NEVER_MS))
def test_milliseconds_come_back_exactly(milliseconds: int) -> None:
    assert milliseconds == to_ms(from_ms(milliseconds))


@given(MOMENTS, MOMENTS)
def test_milliseconds_keep_the_order(one: datetime, other: datetime) -> None:
    assert (one <= other) <= (to_ms(one) <= to_ms(other))


def test_the_epoch_is_zero_and_what_is_before_it_negative() -> None:
    assert [0, 1, -1] == [
        to_ms(datetime(1970, 1, 1, tzinfo=UTC)),
        to_ms(datetime(1970, 1, 1, 0, 0, 0, 1_999, tzinfo=UTC)),
        to_ms(datetime(1969, 12, 31, 23, 59, 59, 999_001, tzinfo=UTC)),
    ]


def test_a_moment_of_another_zone_is_the_same_moment() -> None:
    assert 0 == to_ms(datetime(1970, 1, 1, 9, tzinfo=timezone(timedelta(hours=9))))


def test_a_moment_without_zone_is_refused() -> None:
    with pytest.raises(TypeError):
        to_ms(datetime(2026, 1, 1))  # noqa: DTZ001  # that it has no zone is the case


def test_never_is_later_than_any_moment_and_fits_64_bits() -> None:
    assert utc_now() < NEVER
    assert NEVER_MS == to_ms(NEVER) < 2**63
    assert NEVER == from_ms(NEVER_MS)


def test_now_is_aware_utc_and_the_clocks_do_not_go_back() -> None:
    assert UTC is utc_now().tzinfo
    assert monotonic() <= monotonic()
    assert 0 < cpu_seconds() <= cpu_seconds()
