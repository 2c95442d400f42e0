from __future__ import annotations

from datetime import timedelta

import pytest

from contract.scene import DELAY_S, LEASE_END, LEASE_S, T0, add, after, claim, claim_one, record_of, urls_of, visit_all
from junkai import url as urls
from junkai.backend.protocol import Store
from junkai.model import CrawlState, FeedHints, Hold, Hop, Move, Rhythm, SourceKind, SourceState, TurnRef, Validators


def test_a_claim_says_what_the_turn_needs(store: Store) -> None:
    add(store, "https://www.a.test:8443/feed", kind=SourceKind.PAGE)

    claimed = claim_one(store)

    assert "www.a.test:8443" == claimed.host
    assert urls.domain_of("www.a.test:8443") == claimed.domain
    assert 0 == claimed.slot
    assert 1 == claimed.ref.turn_no
    assert LEASE_END == claimed.lease_until
    assert DELAY_S == claimed.delay_s
    assert SourceKind.PAGE == claimed.sources[0].kind
    assert "www.a.test:8443" == claimed.sources[0].host


def test_a_host_is_never_in_two_turns(store: Store, other: Store) -> None:
    add(store, "https://a.test/1", "https://a.test/2", "http://a.test/3")

    first, second = claim(store), claim(other, owner="you")

    assert 1 == len(first)
    assert [] == second


def test_hosts_are_taken_least_ready_first_and_no_more_than_asked(store: Store) -> None:
    for number in (3, 1, 2):
        add(store, f"https://h{number}.test/", now=after(number))

    first = claim(store, after(9), hosts_max=2)
    rest = claim(store, after(9), hosts_max=2)

    assert ["h1.test", "h2.test"] == [each.host for each in first]
    assert ["h3.test"] == [each.host for each in rest]


def test_a_turn_takes_no_more_sources_than_asked_the_longest_due_first(store: Store) -> None:
    for number in (3, 1, 2):
        add(store, f"https://a.test/{number}", now=after(number))

    turn = claim_one(store, after(9), sources_per_host_max=2)
    visit_all(store, [turn], after(9))

    assert ["https://a.test/1", "https://a.test/2"] == urls_of([turn])
    assert ["https://a.test/3"] == urls_of(claim(store, after(10)))


def test_sources_of_a_turn_come_in_the_order_in_which_they_fell_due(store: Store) -> None:
    for number in (3, 1, 2):
        add(store, f"https://a.test/{number}", now=after(number))

    assert ["https://a.test/1", "https://a.test/2", "https://a.test/3"] == urls_of([claim_one(store, after(9))])


def test_a_source_that_was_not_reached_goes_back_untouched(store: Store) -> None:
    add(store, "https://a.test/1", "https://a.test/2")
    turn = claim_one(store)
    reached, unreached = turn.sources

    store.frontier.record([record_of(turn, reached)], T0)
    store.frontier.release([turn.ref], T0)

    assert (unreached,) == claim_one(store, after(1)).sources


def test_a_claim_that_is_not_released_becomes_free_when_its_lease_ends(store: Store, other: Store) -> None:
    add(store, "https://a.test/1")
    lost = claim_one(store)

    assert [] == claim(other, LEASE_END - timedelta(milliseconds=1))
    again = claim_one(other, LEASE_END, owner="you")
    assert lost.ref.host_id == again.ref.host_id
    assert lost.ref.turn_no < again.ref.turn_no


def test_nothing_is_claimed_before_it_is_due(store: Store) -> None:
    add(store, "https://a.test/1")
    visit_all(store, claim(store), due_in_s=60)

    assert [] == claim(store, after(59.999))
    assert ["https://a.test/1"] == urls_of(claim(store, after(60)))


def test_the_floor_is_kept_to_the_last_fraction_of_a_millisecond(store: Store) -> None:
    add(store, "https://a.test/1", "https://a.test/2")
    turn = claim_one(store, sources_per_host_max=1)
    asked_at = T0 + timedelta(microseconds=500)

    visit_all(store, [turn], asked_at)

    assert [] == claim(store, asked_at + timedelta(seconds=DELAY_S) - timedelta(microseconds=1))
    assert 1 == len(claim(store, asked_at + timedelta(seconds=DELAY_S) + timedelta(milliseconds=1)))


def test_a_held_host_is_never_claimed(store: Store) -> None:
    add(store, "https://a.test/1", "https://a.test/2", "https://b.test/")
    turn = next(each for each in claim(store) if each.host == "a.test")
    hold = Hold(until=after(600), why="rate limited (HTTP 429)")

    store.frontier.record([record_of(turn, hold=hold)], T0)
    store.frontier.release([turn.ref], T0)

    assert [] == [each for each in claim(store, after(599.999)) if each.host == "a.test"]
    assert ["a.test"] == [each.host for each in claim(store, after(600)) if each.host == "a.test"]


def test_a_hold_outlives_a_turn_that_dies(store: Store) -> None:
    add(store, "https://a.test/1", "https://a.test/2")
    turn = claim_one(store)

    store.frontier.record([record_of(turn, hold=Hold(until=after(600), why="rate limited"))], T0)

    assert [] == claim(store, LEASE_END)
    assert [] == claim(store, after(599))
    assert 1 == len(claim(store, after(600)))


def test_a_shard_holds_only_its_own_hosts_and_all_of_them_together_hold_all(store: Store) -> None:
    names = [f"h{number}.test" for number in range(20)]
    add(store, *(f"https://{name}/" for name in names))

    for shard in range(urls.SHARDS):
        for each in claim(store, shard=shard):
            names.remove(each.host)

            assert shard == urls.shard_of(each.host)
    assert [] == names


def test_the_shards_that_a_claim_would_find_something_in_are_known_beforehand(store: Store) -> None:
    early, late = urls.shard_of("a.test"), urls.shard_of("b.test")
    add(store, "https://a.test/")
    add(store, "https://b.test/", now=after(5))

    assert early != late
    assert {early: T0} == store.frontier.ready_shards(after(4))
    assert {early: T0, late: after(5)} == store.frontier.ready_shards(after(5))
    assert {early: T0} == store.frontier.ready_shards(after(9), due_before=after(4))
    claim(store, after(9), shard=early)
    assert {late: after(5)} == store.frontier.ready_shards(after(9))


def test_a_round_takes_only_what_was_due_when_it_began(store: Store) -> None:
    add(store, "https://a.test/old", "https://b.test/old")
    add(store, "https://a.test/new", "https://c.test/new", now=after(10))

    in_round = claim(store, after(20), due_before=T0)
    shard = claim(store, after(200), due_before=T0, shard=urls.shard_of("a.test"))

    assert ["https://a.test/old", "https://b.test/old"] == sorted(urls_of(in_round))
    assert ["https://a.test/old"] == [url for url in urls_of(shard) if "a.test" in url]
    assert ["https://c.test/new"] == [url for url in urls_of(claim(store, after(20))) if "c.test" in url]


def test_a_round_that_reaches_into_the_future_visits_nothing_early(store: Store) -> None:
    add(store, "https://a.test/1")
    visit_all(store, claim(store), due_in_s=60)

    assert [] == claim(store, after(10), due_before=after(3600))


def test_all_that_was_recorded_of_a_source_comes_back_with_its_next_claim(store: Store) -> None:
    state = SourceState(
        state=CrawlState.FETCH_ERROR,
        due_at=after(60),
        why="posts about every 2 h",
        attempts=3,
        error="connect: refused",
        http_status=503,
        interval_s=7200.5,
        validators=Validators(url="https://a.test/x", etag='W/"é\x80"', last_modified="Sun, 01 Mar 2026 12:00:00 GMT"),
        body_hash=b"\x00body",
        known=b"\xff" * 32,
        rhythm=Rhythm(gap_s=14_400.0, newest_at=after(-60), factor=1.5),
        hints=FeedHints(ttl_s=3600, skip_hours=(1, 2), skip_days=(6,), update_period_s=86_400),
        move=Move(to="https://b.test/", seen=2, first_seen_at=after(-600)),
        pending_url="https://a.test/y",
        pending_hops=(Hop(url="https://a.test/1", status=301, to="https://a.test/y"),),
        last_visit_at=T0,
        unconditional_at=after(-86_400),
        parser_version=7,
        title="A title",
        site_url="https://a.test/",
        recent=b"\x01\x02",
    )
    add(store, "https://a.test/1", owner="ann", explicit_interval_s=900.0)
    turn = claim_one(store)

    record = record_of(turn, **{name: getattr(state, name) for name in SourceState.__struct_fields__})
    recorded = store.frontier.record([record], T0)
    store.frontier.release([turn.ref], T0)

    assert [None] == [each.error for each in recorded]
    [source] = claim_one(store, after(60)).sources
    assert state == source.state
    assert 900.0 == source.explicit_interval_s
    assert source == store.catalogue.feed("https://a.test/1").source


# ── one very host ────────────────────────────────────────────────────────────────────────────────────────────────


def test_one_very_host_can_be_claimed_with_nothing_due_and_unknown(store: Store) -> None:
    claimed = store.frontier.claim_host("new.test", owner="me", now=T0, lease_s=LEASE_S)

    assert claimed is not None
    assert "new.test" == claimed.host
    assert LEASE_END == claimed.lease_until
    assert () == claimed.sources
    assert store.frontier.claim_host("new.test", owner="me", now=T0, lease_s=LEASE_S) is None


def test_one_very_host_is_refused_before_its_floor_and_while_in_a_turn(store: Store) -> None:
    add(store, "https://a.test/1")
    turn = claim_one(store)
    in_turn = store.frontier.claim_host("a.test", owner="you", now=after(1), lease_s=LEASE_S)
    visit_all(store, [turn], after(2))
    before_floor = store.frontier.claim_host("a.test", owner="you", now=after(2.5), lease_s=LEASE_S)
    claimed = store.frontier.claim_host("a.test", owner="you", now=after(3), lease_s=LEASE_S)

    assert in_turn is None
    assert before_floor is None
    assert claimed is not None


def test_after_one_very_host_was_claimed_its_sources_are_still_due(store: Store) -> None:
    add(store, "https://a.test/1")
    claimed = store.frontier.claim_host("a.test", owner="me", now=T0, lease_s=LEASE_S)
    assert claimed is not None

    store.frontier.release([claimed.ref], T0, not_before=after(5))

    assert [] == claim(store, after(4.999))
    assert ["https://a.test/1"] == urls_of(claim(store, after(5)))


# ── what is ours stays ours ──────────────────────────────────────────────────────────────────────────────────────


def test_renewal_keeps_a_turn_beyond_its_first_lease(store: Store, other: Store) -> None:
    add(store, "https://a.test/1")
    turn = claim_one(store)

    until = store.frontier.renew([turn.ref], now=after(100), lease_s=LEASE_S)

    assert [after(100 + LEASE_S + DELAY_S)] == until
    assert [] == claim(other, after(200))
    assert [False] == [each.is_lost for each in store.frontier.record([record_of(turn)], after(200))]


def test_renewal_never_shortens_a_lease(store: Store) -> None:
    add(store, "https://a.test/1")
    turn = claim_one(store)

    assert [LEASE_END] == store.frontier.renew([turn.ref], now=T0, lease_s=1)


def test_a_lost_or_released_turn_cannot_be_renewed(store: Store, other: Store) -> None:
    add(store, "https://a.test/1", "https://b.test/1")
    lost, released = sorted(claim(store), key=lambda each: each.host)
    store.frontier.release([released.ref], T0)
    claim(other, LEASE_END, hosts_max=64)

    assert [None, None, None] == store.frontier.renew(
        [lost.ref, released.ref, TurnRef(host_id=99, turn_no=1)], now=LEASE_END, lease_s=LEASE_S
    )


def test_releasing_twice_or_late_changes_nothing(store: Store, other: Store) -> None:
    add(store, "https://a.test/1")
    lost = claim_one(store)
    claim_one(other, LEASE_END, owner="you")

    store.frontier.release([lost.ref], LEASE_END, not_before=after(9_999))

    host = store.hosts.find("a.test", T0)
    assert host is not None
    assert "you" == host.owner
    assert [] == claim(store, LEASE_END + timedelta(seconds=1))


@pytest.mark.parametrize("floor_s", [5, 50])
def test_release_raises_a_floor_and_never_lowers_one(store: Store, floor_s: float) -> None:
    add(store, "https://a.test/1", "https://a.test/2")
    turn = claim_one(store)
    store.frontier.record([record_of(turn, hold=Hold(until=after(20), why="rate limited"))], T0)

    store.frontier.release([turn.ref], T0, not_before=after(floor_s))

    assert after(max(20, floor_s)) == store.frontier.next_ready_at()
