from __future__ import annotations

from datetime import UTC, datetime, timedelta

from junkai.shards import OLDEST_EVERY, ShardWalk
from junkai.url import SHARDS

T0 = datetime(2026, 3, 1, tzinfo=UTC)


def test_a_circle_takes_every_shard_once_and_begins_again() -> None:
    walk, ready = ShardWalk(), dict.fromkeys(range(SHARDS), T0)

    circle = [walk.next(ready, 1) for _ in range(SHARDS)]

    assert list(range(SHARDS)) == circle
    assert 0 == walk.next(ready, 1)


def test_shards_with_nothing_ready_are_passed_over() -> None:
    walk, ready = ShardWalk(), {50: T0, 3: T0, 20: T0}

    assert [3, 20, 50, 3] == [walk.next(ready, 1) for _ in range(4)]


def test_a_shard_that_becomes_ready_behind_the_walk_waits_for_the_next_circle() -> None:
    walk = ShardWalk()
    walk.next({20: T0}, 1)

    assert 30 == walk.next({3: T0, 30: T0}, 2)
    assert 3 == walk.next({3: T0, 30: T0}, 3)


def test_where_nothing_is_ready_there_is_no_next_shard() -> None:
    assert ShardWalk().next({}, 1) is None
    assert ShardWalk().next({}, OLDEST_EVERY) is None


def test_every_tenth_pass_takes_the_shard_that_has_waited_longest_and_the_circle_goes_on_from_where_it_was() -> None:
    walk, ready = ShardWalk(), dict.fromkeys(range(SHARDS), T0) | {42: T0 - timedelta(seconds=1)}

    taken = [walk.next(ready, pass_no) for pass_no in range(1, 13)]

    assert [*range(9), 42, 9, 10] == taken


def test_brokers_begin_at_different_places() -> None:
    ready = dict.fromkeys(range(SHARDS), T0)

    assert [0, 15, 30, 45] == [ShardWalk(number=number, brokers=4).next(ready, 1) for number in (1, 2, 3, 4)]
    assert 64 >= len({ShardWalk(number=number, brokers=64).next(ready, 1) for number in range(1, 65)}) >= SHARDS


def test_a_number_beyond_the_brokers_still_has_its_place() -> None:
    assert 15 == ShardWalk(number=6, brokers=4).next(dict.fromkeys(range(SHARDS), T0), 1)
