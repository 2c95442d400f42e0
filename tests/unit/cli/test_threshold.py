"""Ranges of monitoring plugins: which values they tell of."""

from __future__ import annotations

import pytest

from junkai.cli import threshold
from junkai.errors import UsageError


@pytest.mark.parametrize(
    ("text", "fine", "told"),
    [
        ("10", [0, 5, 10], [-0.1, 10.1]),
        ("0", [0], [-1, 1]),
        ("10:", [10, 1e9], [9.9, -1]),
        (":10", [0, 10], [-1, 11]),
        ("~:10", [-1e9, 0, 10], [10.1]),
        ("10:20", [10, 15, 20], [9.9, 20.1]),
        ("-5:5.5", [-5, 5.5], [-5.1, 5.6]),
        ("@10:20", [9.9, 20.1], [10, 15, 20]),
        ("@10", [-1, 11], [0, 10]),
        ("@~:0", [0.1], [-7, 0]),
        ("~:", [-1e9, 0, 1e9], []),
        (" 7 ", [7], [8]),
    ],
)
def test_a_range_tells_of_what_the_guidelines_say(text: str, fine: list[float], told: list[float]) -> None:
    limit = threshold.parse(text)

    assert [] == [value for value in fine if limit.alerts(value)]
    assert told == [value for value in told if limit.alerts(value)]


@pytest.mark.parametrize(
    "text", ["", "@", ":", "@:", "x", "1e3", "10:x", "1:2:3", "20:10", "10%", "~", "~10", "nan", "--1", "1|2"]
)
def test_what_is_no_range_is_wrong_use(text: str) -> None:
    with pytest.raises(UsageError, match="not a range"):
        threshold.parse(text)
