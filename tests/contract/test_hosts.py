from __future__ import annotations

from datetime import timedelta

import pytest

from contract.scene import (
    DELAY_S,
    LEASE_END,
    LEASE_S,
    T0,
    add,
    after,
    claim,
    claim_one,
    record_of,
    urls_of,
    visit_all,
)
from junkai.backend.listed import HostRow
from junkai.backend.protocol import Store
from junkai.errors import UsageError
from junkai.model import Hold


def host_of(store: Store, name: str = "a.test") -> HostRow:
    host = store.hosts.find(name, T0)
    assert host is not None
    return host


def test_hosts_are_listed_by_key_with_their_numbers(store: Store) -> None:
    add(store, "https://b.test/1", "https://a.test/1", "https://a.test/2")
    visit_all(store, [each for each in claim(store) if each.host == "b.test"])

    first, second = store.hosts.listed(T0)

    assert ("a.test", 2, 2) == (first.host, first.sources, first.due)
    assert ("b.test", 1, 0) == (second.host, second.sources, second.due)
    assert after(3600) == second.ready_at
    assert after(DELAY_S) == second.not_before
    assert LEASE_END == first.lease_until
    assert "me" == first.owner
    assert None is second.lease_until
    assert None is store.hosts.find("nobody.test", T0)


def test_a_host_with_nothing_due_is_never_ready(store: Store) -> None:
    store.hosts.change("a.test", T0, delay_s=5.0)

    assert None is host_of(store).ready_at
    assert 5.0 == host_of(store).delay_s
    assert None is store.frontier.next_ready_at()


def test_a_new_delay_counts_from_the_next_turn(store: Store) -> None:
    add(store, "https://a.test/1")

    store.hosts.change("a.test", T0, delay_s=30.0)

    turn = claim_one(store)
    assert 30.0 == turn.delay_s
    assert after(LEASE_S + 30) == turn.lease_until


def test_the_operators_hold_keeps_a_host_and_is_lifted_by_one_that_has_passed(store: Store) -> None:
    add(store, "https://a.test/1")
    store.hosts.change("a.test", T0, hold_until=after(600))
    held = claim(store, after(60))
    row = host_of(store)

    store.hosts.change("a.test", after(60), hold_until=T0)

    assert [] == held
    assert row.hold is not None
    assert after(600) == row.hold.until
    assert None is host_of(store).hold
    assert [] == claim(store, after(60 + DELAY_S - 0.001)), "one delay is kept: the last request may just have ended"
    assert ["https://a.test/1"] == urls_of(claim(store, after(60 + DELAY_S)))


def test_a_shorter_hold_replaces_a_longer_one_by_the_operators_word_alone(store: Store) -> None:
    add(store, "https://a.test/1", "https://a.test/2")
    turn = claim_one(store, sources_per_host_max=1)
    visit_all(store, [turn], hold=Hold(until=after(9_999), why="Retry-After"))

    store.hosts.change("a.test", after(1), hold_until=after(60))

    assert [] == claim(store, after(59))
    assert 1 == len(claim(store, after(60)))


def test_lifting_a_hold_leaves_a_running_turn_alone(store: Store, other: Store) -> None:
    add(store, "https://a.test/1", "https://a.test/2")
    turn = claim_one(store)
    store.frontier.record([record_of(turn, hold=Hold(until=after(600), why="Retry-After"))], T0)

    other.hosts.change("a.test", after(1), hold_until=T0)

    assert [] == claim(other, after(100))
    assert [turn.lease_until] == store.frontier.renew([turn.ref], now=after(1), lease_s=1)


def test_a_blocked_host_is_never_claimed_and_unblocking_restores_it(store: Store) -> None:
    add(store, "https://a.test/1")
    store.hosts.change("a.test", T0, is_blocked=True)
    while_blocked = claim(store, after(10 * 365 * 86_400))
    very_host = store.frontier.claim_host("a.test", owner="me", now=after(60), lease_s=LEASE_S)
    add(store, "https://a.test/2", now=after(61))
    row = host_of(store)

    store.hosts.change("a.test", after(70), is_blocked=False)

    assert [] == while_blocked
    assert None is very_host
    assert row.is_blocked
    assert None is row.ready_at
    assert not host_of(store).is_blocked
    assert [] == claim(store, after(70))
    assert ["https://a.test/1", "https://a.test/2"] == urls_of(claim(store, after(70 + DELAY_S)))


def test_a_hold_survives_a_block(store: Store) -> None:
    add(store, "https://a.test/1")
    store.hosts.change("a.test", T0, hold_until=after(600))
    store.hosts.change("a.test", T0, is_blocked=True)
    store.hosts.change("a.test", after(1), is_blocked=False)

    assert [] == claim(store, after(599))
    assert 1 == len(claim(store, after(600)))


def test_blocking_during_a_turn_holds_from_its_end(store: Store, other: Store) -> None:
    add(store, "https://a.test/1")
    turn = claim_one(store)

    other.hosts.change("a.test", after(1), is_blocked=True)
    store.frontier.release([turn.ref], after(2))

    assert [] == claim(store, after(9_999))


def test_an_exempt_hosts_sources_say_so(store: Store) -> None:
    add(store, "https://a.test/1")

    store.hosts.change("a.test", T0, is_exempt=True)

    assert host_of(store).is_exempt
    assert claim_one(store).sources[0].is_exempt


# ── slots ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_slots_are_connections_and_every_source_belongs_to_one(store: Store) -> None:
    add(store, *(f"https://a.test/{number}" for number in range(40)))

    row = store.hosts.change("a.test", T0, slots=3)
    turns = claim(store)

    assert 3 == row.slots
    assert 40 == row.sources
    assert [0, 1, 2] == sorted(each.slot for each in turns)
    assert 40 == len(set(urls_of(turns)))
    assert all(each.sources for each in turns)


def test_a_source_added_later_goes_to_the_slot_it_would_have_been_moved_to(store: Store) -> None:
    urls = [f"https://a.test/{number}" for number in range(20)]
    add(store, *urls[:10])
    store.hosts.change("a.test", T0, slots=2)
    add(store, *urls[10:])
    as_added = {each.slot: sorted(urls_of([each])) for each in claim(store)}

    store.hosts.change("a.test", after(200), slots=1)
    store.hosts.change("a.test", after(200), slots=2)

    assert as_added == {each.slot: sorted(urls_of([each])) for each in claim(store, after(200))}


@pytest.mark.parametrize("slots", [1, 2, 5])
def test_changing_slots_fences_running_turns_and_waits_out_the_last_of_them(
    store: Store, other: Store, slots: int
) -> None:
    add(store, *(f"https://a.test/{number}" for number in range(20)))
    store.hosts.change("a.test", T0, slots=3)
    turns = claim(store)
    store.frontier.renew([turns[1].ref], now=after(60), lease_s=LEASE_S)
    last_end = after(60 + LEASE_S + DELAY_S)

    other.hosts.change("a.test", after(61), slots=slots)
    recorded = store.frontier.record([record_of(each, now=after(62)) for each in turns], after(62))
    store.frontier.release([each.ref for each in turns], after(62))
    add(other, "https://a.test/new", now=after(63))
    other.hosts.change("a.test", after(64), hold_until=T0)
    other.catalogue.refresh(None, after(65))

    assert [True, True, True] == [each.is_lost for each in recorded]
    assert [] == claim(other, last_end - timedelta(milliseconds=1))
    very_host = other.frontier.claim_host("a.test", owner="me", now=after(100), lease_s=LEASE_S)
    assert None is very_host
    at_last = claim(other, last_end)
    assert slots == len(at_last)
    assert 21 == len(set(urls_of(at_last)))


def test_a_hold_counts_for_all_slots_and_for_those_made_later(store: Store) -> None:
    add(store, *(f"https://a.test/{number}" for number in range(20)))
    store.hosts.change("a.test", T0, slots=2)
    one, two = claim(store)
    store.frontier.release([two.ref], T0)
    store.frontier.record([record_of(one, hold=Hold(until=after(600), why="Retry-After"))], T0)
    store.frontier.release([one.ref], T0)

    store.hosts.change("a.test", after(1), slots=4)

    assert [] == claim(store, after(599))
    assert 4 == len(claim(store, after(600)))


def test_the_same_number_of_slots_disturbs_no_turn(store: Store) -> None:
    add(store, "https://a.test/1")
    turn = claim_one(store)

    store.hosts.change("a.test", after(1), slots=1)

    assert [False] == [each.is_lost for each in store.frontier.record([record_of(turn)], after(2))]


def test_a_source_that_is_away_returns_to_its_new_slot(store: Store) -> None:
    urls = [f"https://a.test/{number}" for number in range(8)]
    add(store, *urls)
    visit_all(store, claim(store), due_in_s=0, pending_url="https://b.test/x")
    store.hosts.change("a.test", after(1), slots=2)
    store.hosts.change("b.test", after(1), slots=2)

    visit_all(store, claim(store, after(2)), after(2), due_in_s=60)

    back = claim(store, after(62))
    assert {("a.test", 0), ("a.test", 1)} == {(each.host, each.slot) for each in back}
    assert sorted(urls) == sorted(urls_of(back))


def test_a_host_has_at_least_one_slot(store: Store) -> None:
    with pytest.raises(UsageError, match="at least one slot"):
        store.hosts.change("a.test", T0, slots=0)


def test_the_operators_word_on_a_turn_under_way_is_told(store: Store) -> None:
    add(store, "https://a.test/1", "https://a.test/2", "https://a.test/3", "https://b.test/1")
    turn, other = sorted(claim(store), key=lambda each: each.host)
    ids = {source.url: source.source_id for source in turn.sources}
    store.catalogue.pause("https://a.test/1", T0)
    store.catalogue.remove("https://a.test/2")
    store.hosts.change("a.test", T0, delay_s=9, hold_until=after(500))
    store.hosts.change("b.test", T0, slots=2)

    word, lost = store.frontier.operators_words([(turn.ref, tuple(ids.values())), (other.ref, ())])

    assert word is not None
    assert (9.0, after(500)) == (word.delay_s, word.not_before)
    assert {ids["https://a.test/1"], ids["https://a.test/2"]} == word.unwanted
    assert lost is None
