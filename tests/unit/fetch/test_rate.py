"""Bodies that drip."""

from __future__ import annotations

from junkai.fetch.rate import DripWatch


def test_a_drip_is_noticed_once_a_window_has_passed() -> None:
    watch = DripWatch(rate_min_bytes=64, began_at=100.0)

    assert [False] * 9 + [True] == [watch.is_dripping(1, 100.0 + second) for second in range(1, 11)]


def test_a_steady_stream_is_none_and_each_window_counts_alone() -> None:
    watch = DripWatch(rate_min_bytes=64, began_at=0.0)

    assert [False] * 30 == [watch.is_dripping(64, float(second)) for second in range(1, 31)]
    assert not watch.is_dripping(1, 35.0)
    assert watch.is_dripping(1, 40.0)


def test_a_rate_of_zero_turns_it_off() -> None:
    assert not DripWatch(rate_min_bytes=0, began_at=0.0).is_dripping(0, 1_000.0)
