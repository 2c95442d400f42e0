from __future__ import annotations

from contract.scene import LEASE_END, T0, add, after, claim, claim_one, entry, record_of, visit_all
from junkai.backend.listed import Counts
from junkai.backend.protocol import Remaining, Store
from junkai.model import CrawlState, Hold


def test_nothing_remains_of_an_empty_round(store: Store) -> None:
    assert Remaining(sources=0, held=0, ready_at=None) == store.frontier.remaining(owner="me", due_before=T0, now=T0)


def test_what_waits_for_its_floor_remains_and_says_when(store: Store) -> None:
    add(store, "https://a.test/1", "https://a.test/2")
    add(store, "https://c.test/later", now=after(1))
    visit_all(store, [claim_one(store, sources_per_host_max=1)])

    remaining = store.frontier.remaining(owner="me", due_before=T0, now=T0)

    assert Remaining(sources=1, held=0, ready_at=after(1)) == remaining


def test_own_turns_are_left_out_and_anothers_count_until_their_lease_ends(store: Store) -> None:
    add(store, "https://a.test/1", "https://a.test/2")
    claim_one(store, owner="you")

    assert Remaining(sources=0, held=0, ready_at=None) == store.frontier.remaining(owner="you", due_before=T0, now=T0)
    assert Remaining(sources=2, held=0, ready_at=LEASE_END) == store.frontier.remaining(
        owner="me", due_before=T0, now=T0
    )


def test_an_own_turn_that_ran_out_counts_again(store: Store) -> None:
    add(store, "https://a.test/1")
    claim_one(store)

    assert 1 == store.frontier.remaining(owner="me", due_before=T0, now=LEASE_END).sources


def test_held_and_blocked_hosts_are_counted_apart_until_the_hold_ends(store: Store) -> None:
    add(store, "https://a.test/1", "https://a.test/2", "https://b.test/1")
    store.hosts.change("b.test", T0, is_blocked=True)
    visit_all(store, [claim_one(store, sources_per_host_max=1)], hold=Hold(until=after(600), why="Retry-After"))

    assert Remaining(sources=0, held=2, ready_at=None) == store.frontier.remaining(
        owner="me", due_before=T0, now=after(599)
    )
    assert Remaining(sources=1, held=1, ready_at=after(600)) == store.frontier.remaining(
        owner="me", due_before=T0, now=after(600)
    )


def test_the_store_in_numbers(store: Store) -> None:
    add(store, *(f"https://{name}.test/" for name in "abcd"), "https://d.test/2", "https://e.test/")
    by_host = {each.host: each for each in claim(store)}
    visit_all(store, [by_host["a.test"]], entries=[entry("one"), entry("two")])
    visit_all(store, [by_host["b.test"]], state=CrawlState.ERROR, due_in_s=None)
    store.frontier.record([record_of(by_host["c.test"], hold=Hold(until=after(600), why="Retry-After"))], T0)
    store.frontier.release([by_host[name].ref for name in ("c.test", "e.test")], T0)
    store.catalogue.pause("https://a.test/", T0)

    assert store.statistics.counts(after(1)) == Counts(
        sources=6,
        hosts=5,
        entries=2,
        due=1,
        held=1,
        in_turn=1,
        by_state={"discovered": 3, "fetched": 2, "fetch_error": 0, "redirection": 0, "error": 1},
        paused=1,
        oldest_due_at=T0,
    )


def test_the_slots_of_a_host_are_one_host(store: Store) -> None:
    add(store, *(f"https://a.test/{number}" for number in range(9)))
    store.hosts.change("a.test", T0, slots=3)
    claim(store)

    counts = store.statistics.counts(T0)

    assert (1, 1) == (counts.hosts, counts.in_turn)


def test_the_next_host_to_become_ready(store: Store) -> None:
    assert None is store.frontier.next_ready_at()

    add(store, "https://a.test/1", "https://b.test/1")
    visit_all(store, claim(store), due_in_s=60)

    assert after(60) == store.frontier.next_ready_at()
