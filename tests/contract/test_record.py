from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from contract.scene import (
    LEASE_END,
    LEASE_S,
    T0,
    Backend,
    add,
    after,
    claim,
    claim_one,
    entry,
    record_of,
    titles_of,
    urls_of,
    visit_all,
)
from junkai.backend.listed import FeedFilter
from junkai.backend.protocol import Recorded, Store
from junkai.document import Document, Entry
from junkai.model import CrawlState, Fetched, Hold, Hop, Record

# ── the fence ────────────────────────────────────────────────────────────────────────────────────────────────────


def _turn_longer_than_its_lease(store: Store, other: Store) -> None:
    """One broker sleeps over the end of its lease, another takes the host, the first one wakes and writes."""
    add(store, "https://a.test/1")
    late = claim_one(store, owner="sleeper")
    current = claim_one(other, LEASE_END, owner="taker")
    now = after(LEASE_S + 2)

    recorded = store.frontier.record(
        [record_of(late, now=now, entries=[entry("late")], hold=Hold(until=after(9_999), why="late"))], now
    )
    renewed = store.frontier.renew([late.ref], now=now, lease_s=10 * LEASE_S)
    store.frontier.release([late.ref], now, not_before=after(9_999))

    row = store.catalogue.feed("https://a.test/1")
    host = store.hosts.find("a.test", T0)
    assert host is not None
    assert [Recorded(is_lost=True)] == recorded
    assert [None] == renewed
    assert [] == titles_of(store)
    assert CrawlState.DISCOVERED == row.source.state.state
    assert T0 == row.source.state.due_at
    assert None is host.not_before
    assert None is host.hold
    assert "taker" == host.owner
    assert current.lease_until == host.lease_until


def test_a_turn_longer_than_its_lease_is_lost_and_changes_nothing(store: Store, other: Store) -> None:
    _turn_longer_than_its_lease(store, other)


def test_without_the_fence_the_same_turn_does_its_damage(backend: Backend, store: Store, other: Store) -> None:
    with backend.without_fence(), pytest.raises(AssertionError):
        _turn_longer_than_its_lease(store, other)


def test_a_record_after_the_release_changes_nothing(store: Store) -> None:
    add(store, "https://a.test/1")
    turn = claim_one(store)
    store.frontier.release([turn.ref], T0)

    recorded = store.frontier.record([record_of(turn, entries=[entry("late")])], T0)

    assert [Recorded(is_lost=True)] == recorded
    assert [] == titles_of(store)


def test_a_lost_turn_in_a_batch_costs_the_others_nothing(store: Store, other: Store) -> None:
    add(store, *(f"https://{name}.test/" for name in "abc"))
    turns = sorted(claim(store), key=lambda each: each.host)
    store.frontier.renew([turns[0].ref, turns[2].ref], now=after(100), lease_s=LEASE_S)
    claim_one(other, LEASE_END)

    recorded = store.frontier.record([record_of(turn, entries=[entry(turn.host)]) for turn in turns], LEASE_END)

    assert [False, True, False] == [each.is_lost for each in recorded]
    assert ["a.test", "c.test"] == titles_of(store)


def test_a_source_removed_during_its_visit_stays_removed_and_its_hosts_floor_holds(store: Store, other: Store) -> None:
    add(store, "https://a.test/1")
    turn = claim_one(store)
    other.catalogue.remove("https://a.test/1")
    add(other, "https://a.test/2", now=after(1))

    recorded = store.frontier.record([record_of(turn, now=after(5), entries=[entry("late")])], after(5))
    store.frontier.release([turn.ref], after(5))

    assert recorded[0].error is not None
    assert [] == titles_of(store)
    assert CrawlState.DISCOVERED == store.catalogue.feed("https://a.test/2").source.state.state
    assert [] == claim(store, after(5.9))
    assert ["https://a.test/2"] == urls_of(claim(store, after(6)))


# ── one bad record ───────────────────────────────────────────────────────────────────────────────────────────────


def _too_large(record: Record) -> Record:
    return replace(record, decision=replace(record.decision, state=replace(record.decision.state, attempts=1 << 80)))


def _not_text(record: Record) -> Record:
    return replace(record, decision=replace(record.decision, state=replace(record.decision.state, error="\udcff")))


def _no_url(record: Record) -> Record:
    return replace(
        record, decision=replace(record.decision, state=replace(record.decision.state, pending_url="http://[bad"))
    )


def _no_move(record: Record) -> Record:
    return replace(record, decision=replace(record.decision, new_url="mailto:a@b.test"))


def _with_entries(record: Record, *entries: Entry) -> Record:
    outcome = record.visit.outcome
    assert isinstance(outcome, Fetched)
    document = Document(format="atom", entries=entries)
    return replace(record, visit=replace(record.visit, outcome=replace(outcome, document=document)))


def _bad_entry(record: Record) -> Record:
    return _with_entries(record, entry("good half"), replace(entry("bad half"), title="\ud83d"))


def _short_id_hash(record: Record) -> Record:
    return _with_entries(record, replace(entry("x"), id_hash=b""))


@pytest.mark.parametrize("spoil", [_too_large, _not_text, _no_url, _no_move, _bad_entry, _short_id_hash])
def test_one_bad_record_never_fails_the_others_and_leaves_nothing_of_itself(
    store: Store, spoil: Callable[[Record], Record]
) -> None:
    add(store, *(f"https://{name}.test/" for name in "abc"))
    turns = sorted(claim(store), key=lambda each: each.host)
    records = [record_of(turn, entries=[entry(turn.host)]) for turn in turns]
    before = turns[1].sources[0].state
    records[1] = spoil(records[1])

    recorded = store.frontier.record(records, T0)

    assert [True, False, True] == [each.error is None for each in recorded]
    assert [1, 0, 1] == [each.entries_new for each in recorded]
    assert ["a.test", "c.test"] == titles_of(store)
    assert before == store.catalogue.feed("https://b.test/").source.state
    store.frontier.release([turn.ref for turn in turns], T0)
    assert [] == claim(store, after(0.999)), "the host was asked: its floor holds"
    assert ["https://b.test/"] == urls_of(claim(store, after(1)))


def test_the_same_source_twice_in_a_batch_is_recorded_in_order(store: Store) -> None:
    add(store, "https://a.test/1")
    turn = claim_one(store)

    recorded = store.frontier.record(
        [record_of(turn, entries=[entry("one")], why="first"), record_of(turn, entries=[entry("two")], why="second")],
        T0,
    )

    assert [1, 1] == [each.entries_new for each in recorded]
    assert "second" == store.catalogue.feed("https://a.test/1").source.state.why


def test_nothing_to_record_is_fine(store: Store) -> None:
    assert [] == store.frontier.record([], T0)


# ── entries ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_entry_is_new_once_and_counts_a_revision_when_its_content_changes(store: Store) -> None:
    add(store, "https://a.test/1")
    first = visit_all(store, claim(store), entries=[entry("one"), entry("two")])
    now = after(3600)
    second = visit_all(store, claim(store, now), now, entries=[entry("one"), entry("two", "edited"), entry("three")])

    stored = {each.entry.title: each for each in store.entries.after(0, 10)}
    assert [Recorded(entries_new=2)] == first
    assert [Recorded(entries_new=1, entries_updated=1)] == second
    assert {"one": 1, "two": 2, "three": 1} == {title: each.revision for title, each in stored.items()}
    assert {"one": T0, "two": T0, "three": now} == {title: each.first_seen_at for title, each in stored.items()}
    assert entry("two", "edited") == stored["two"].entry


def test_the_same_id_in_two_sources_is_two_entries(store: Store) -> None:
    add(store, "https://a.test/1", "https://b.test/1")

    recorded = visit_all(store, claim(store), entries=[entry("one")])

    assert [1, 1] == [each.entries_new for each in recorded]
    assert 2 == store.statistics.counts(T0).entries


def test_recording_again_after_a_lost_answer_duplicates_nothing(store: Store) -> None:
    add(store, "https://a.test/1")
    turn = claim_one(store)
    record = record_of(turn, entries=[entry("one")])

    store.frontier.record([record], T0)
    again = store.frontier.record([record], T0)

    assert [Recorded()] == again
    assert ["one"] == titles_of(store)


# ── redirects and moves ──────────────────────────────────────────────────────────────────────────────────────────


def test_a_source_redirected_to_another_host_is_asked_there_next_and_returns_afterwards(store: Store) -> None:
    add(store, "https://a.test/1")
    turn = claim_one(store)
    hops = (Hop(url="https://a.test/1", status=302, to="https://b.test/x"),)
    visit_all(
        store,
        [turn],
        due_in_s=0,
        state=CrawlState.REDIRECTION,
        pending_url="https://b.test/x",
        pending_hops=hops,
    )

    there = claim_one(store)
    assert "b.test" == there.host
    assert "https://b.test/x" == there.sources[0].state.pending_url
    assert hops == there.sources[0].state.pending_hops
    assert "https://a.test/1" == there.sources[0].url
    assert "a.test" == there.sources[0].host

    visit_all(store, [there], after(2), due_in_s=60)
    back = claim_one(store, after(62))
    assert "a.test" == back.host
    assert None is back.sources[0].state.pending_url


def test_a_source_that_left_for_another_host_is_no_longer_this_turns_to_record(store: Store) -> None:
    add(store, "https://a.test/1")
    turn = claim_one(store)
    store.frontier.record([record_of(turn, due_in_s=0, pending_url="https://b.test/x")], T0)

    [again] = store.frontier.record([record_of(turn, entries=[entry("late")])], T0)

    assert again.error is not None
    assert [] == titles_of(store)
    assert "https://b.test/x" == store.catalogue.feed("https://a.test/1").source.state.pending_url


def test_a_redirect_to_a_host_in_a_turn_is_not_lost_at_its_release(store: Store, other: Store) -> None:
    add(store, "https://a.test/1", "https://b.test/1")
    here, there = sorted(claim(store), key=lambda each: each.host)
    visit_all(other, [here], due_in_s=0, pending_url="https://b.test/x")

    visit_all(store, [there], after(1))

    assert ["https://a.test/1"] == urls_of(claim(store, after(2)))


def test_a_redirect_does_not_wake_a_host_before_its_floor(store: Store) -> None:
    add(store, "https://a.test/1", "https://b.test/1")
    here, there = sorted(claim(store), key=lambda each: each.host)
    store.frontier.record([record_of(there, hold=Hold(until=after(600), why="rate limited"))], T0)
    store.frontier.release([there.ref], T0)

    visit_all(store, [here], due_in_s=0, pending_url="https://b.test/x")

    assert [] == claim(store, after(599))
    assert "b.test" == claim_one(store, after(600)).host


def test_a_permanent_move_renames_the_source_and_keeps_its_history(store: Store) -> None:
    add(store, "https://a.test/1", owner="ann", title="Ann's")
    visit_all(store, claim(store), entries=[entry("one")], new_url="https://b.test/new")

    row = store.catalogue.feed("https://b.test/new")
    assert row == store.catalogue.feed("https://a.test/1"), "an earlier URL finds it"
    assert "https://b.test/new" == row.source.url
    assert "b.test" == row.source.host
    assert ("https://a.test/1",) == row.earlier_urls
    assert ("ann",) == row.owners
    assert 1 == row.entries
    assert ["https://b.test/new"] == [stored.feed_url for stored in store.entries.after(0, 10)]
    assert [False] == add(store, "https://a.test/1")
    [next_turn] = [each for each in claim(store, after(3600)) if each.sources]
    assert "b.test" == next_turn.host


def test_a_source_that_moves_on_and_back_keeps_one_name_at_a_time(store: Store) -> None:
    add(store, "https://a.test/1")
    now = T0
    for new_url in ("https://b.test/", "https://c.test/", "https://a.test/1"):
        visit_all(store, [each for each in claim(store, now) if each.sources], now, new_url=new_url, due_in_s=60)
        now = after((now - T0).total_seconds() + 60)

    row = store.catalogue.feed("https://c.test/")
    assert "https://a.test/1" == row.source.url
    assert ("https://b.test/", "https://c.test/") == row.earlier_urls


def test_a_move_onto_another_sources_url_leaves_both_as_they_are(store: Store) -> None:
    add(store, "https://a.test/1", "https://b.test/1")
    turn = next(each for each in claim(store) if each.host == "a.test")

    recorded = visit_all(store, [turn], entries=[entry("one")], new_url="https://b.test/1")

    assert [Recorded(entries_new=1)] == recorded
    rows = sorted(store.catalogue.feeds(FeedFilter()), key=lambda row: row.source.url)
    assert [("https://a.test/1", "a.test", 1), ("https://b.test/1", "b.test", 0)] == [
        (row.source.url, row.source.host, row.entries) for row in rows
    ]


# ── holds ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_longest_hold_counts_and_says_why(store: Store) -> None:
    add(store, "https://a.test/1", "https://a.test/2")
    turn = claim_one(store)
    one, two = turn.sources

    store.frontier.record(
        [
            record_of(turn, one, hold=Hold(until=after(600), why="the long one")),
            record_of(turn, two, hold=Hold(until=after(60), why="the short one")),
        ],
        T0,
    )

    host = store.hosts.find("a.test", T0)
    assert host is not None
    assert Hold(until=after(600), why="the long one") == host.hold
    assert "the long one" == store.catalogue.feed("https://a.test/1").host_hold_why


def test_a_hold_that_is_over_is_forgotten_by_the_next_claim(store: Store) -> None:
    add(store, "https://a.test/1", "https://a.test/2")
    visit_all(store, [claim_one(store, sources_per_host_max=1)], hold=Hold(until=after(60), why="rate limited"))

    claim_one(store, after(60))

    host = store.hosts.find("a.test", T0)
    assert host is not None
    assert None is host.hold


def test_what_the_operator_asks_for_during_a_visit_is_not_forgotten(store: Store) -> None:
    add(store, "https://a.test/1")
    visit_all(store, claim(store), entries=[entry("one", "<p>text</p>")])
    store.catalogue.refresh("https://a.test/1", after(2))
    turn = claim_one(store, after(3))

    store.catalogue.refresh("https://a.test/1", after(5), is_unconditional=True)
    store.frontier.record([record_of(turn, now=after(4))], after(6))
    store.frontier.release([turn.ref], after(6))

    state = store.catalogue.feed("https://a.test/1").source.state
    assert (after(5), "asked for by the operator") == (state.due_at, state.why)
    assert (None, b"", b"") == (state.validators, state.body_hash, state.known)


def test_a_redirect_to_a_blocked_host_is_a_failure_and_no_grave(store: Store) -> None:
    add(store, "https://a.test/1")
    store.hosts.change("b.test", T0, is_blocked=True)
    turn = claim_one(store)

    [recorded] = store.frontier.record([record_of(turn, pending_url="https://b.test/1")], T0)

    assert recorded.error is not None
    assert "blocked" in recorded.error
    assert "a.test" == store.catalogue.feed("https://a.test/1").source.host
