"""The made-up publishers: repeatable, and never silent about a change."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from junkai.demo.feeds import SHOWN, Format, Quirk, Validators, languages, publishers

STARTED_AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def test_the_same_seed_makes_the_same_publishers() -> None:
    assert publishers(40, seed=1) == publishers(40, seed=1)
    assert publishers(40, seed=1) != publishers(40, seed=2)


def test_three_hundred_publishers_have_every_language_format_and_quirk_and_one_in_ten_misbehaves() -> None:
    made_up = publishers(300, seed=1)
    quirks = Counter(publisher.quirk for publisher in made_up)

    assert set(languages()) == {publisher.language for publisher in made_up}
    assert set(Format) == {publisher.format for publisher in made_up}
    assert set(Validators) == {publisher.validators for publisher in made_up}
    assert set(Quirk) == set(quirks)
    assert 270 == quirks[Quirk.NONE]
    assert {"shift_jis", "euc-jp", "iso-2022-jp", "gbk", "euc-kr", "windows-1251", "utf-16", "utf-8"} <= {
        publisher.encoding for publisher in made_up
    }
    assert all(publisher.host.endswith(".example") for publisher in made_up)


@pytest.mark.parametrize("number", [0, 7, 12])
def test_what_is_shown_changes_only_at_the_moment_that_was_announced(number: int) -> None:
    publisher = publishers(20, seed=3)[number]
    now = STARTED_AT
    for _ in range(40):
        shown = publisher.posts(STARTED_AT, now)
        until = publisher.changes_at(STARTED_AT, now)

        assert until > now
        assert shown == publisher.posts(STARTED_AT, until - timedelta(microseconds=1))
        assert shown != publisher.posts(STARTED_AT, until)

        now = until


def test_a_publisher_goes_on_where_it_was() -> None:
    publisher = publishers(1, seed=1)[0]
    before = publisher.posts(STARTED_AT, STARTED_AT)
    after = publisher.posts(STARTED_AT, STARTED_AT + timedelta(seconds=5 * publisher.period_seconds))

    numbers = [post.number for post in after]

    assert SHOWN == len(before) == len(after)
    assert sorted(numbers, reverse=True) == numbers
    assert before[0].number + 5 == numbers[0]
    assert all(post.published_at <= STARTED_AT for post in before)


def test_a_revised_post_says_when_and_has_more_to_say() -> None:
    publisher = publishers(1, seed=1)[0]
    period = timedelta(seconds=publisher.period_seconds)
    seen: dict[int, int] = {}
    grown = 0
    for step in range(60):
        for post in publisher.posts(STARTED_AT, STARTED_AT + step * period):
            length = len(post.paragraphs)
            if post.revised_at is not None and seen.get(post.number, length) < length:
                grown += 1
            seen[post.number] = length

    assert grown >= 2
