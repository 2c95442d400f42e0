from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from msgspec.structs import replace

from contract.scene import DELAY_S, LEASE_S, T0, Backend, add, after, claim, claim_one, entry, record_of, visit_all
from junkai.backend import open_store
from junkai.backend.listed import EntryFilter, FailingFeed, FeedFilter, Freshness, HeldHost, MinuteCount
from junkai.backend.protocol import Store
from junkai.document import Document
from junkai.errors import FailureKind
from junkai.fleet import Backlog
from junkai.model import (
    CrawlState,
    Failed,
    Fetched,
    Gone,
    Hold,
    NotModified,
    Outcome,
    RateLimited,
    Record,
    Redirected,
    Validators,
)
from requirements import REPO

RECORDING = Path(__file__).with_name("recording.py")
SAME_BODY = Fetched(status=200, validators=Validators(url=""), body_hash=b"body", document=None)
EMPTY = replace(SAME_BODY, document=Document(format="atom"))


def total(store: Store, name: str, **labels: str) -> float:
    """All of that name which carry these labels, added up."""
    return sum(
        each.value
        for each in store.statistics.totals()
        if each.name == name and labels.items() <= dict(each.labels).items()
    )


def with_outcome(record: Record, outcome: Outcome, *, seconds: float = 0.0, bytes_received: int = 0) -> Record:
    ended_at = record.visit.started_at + timedelta(seconds=seconds)
    visit = replace(record.visit, outcome=outcome, ended_at=ended_at, bytes_received=bytes_received)
    return replace(record, visit=visit)


def visit(store: Store, outcome: Outcome, *, now: datetime = T0, **facts: float) -> None:
    """One visit, to a source of its own."""
    host = f"h{store.statistics.counts(now).hosts}.test"
    add(store, f"https://{host}/", now=now)
    turn = next(each for each in claim(store, now) if each.host == host)
    store.frontier.record([with_outcome(record_of(turn, now=now), outcome, **facts)], now)  # type: ignore[arg-type]  # seconds or bytes
    store.frontier.release([turn.ref], now)


# ── totals ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_new_store_has_done_nothing_and_says_so(store: Store) -> None:
    totals = store.statistics.totals()

    assert {0.0} == {each.value for each in totals}
    assert {
        "bytes_received", "entries_new", "entries_updated", "holds", "hosts_claimed", "hosts_claimed_idle",
        "visit_seconds", "visit_seconds_sum", "visits_lost",
    } == {each.name for each in totals}  # fmt: skip


@pytest.mark.parametrize(
    ("outcome", "word", "status"),
    [
        (NotModified(), "same", "3xx"),
        (SAME_BODY, "same", "2xx"),
        (EMPTY, "same", "2xx"),
        (replace(EMPTY, document=Document(format="atom", entries=(entry("one"),))), "new", "2xx"),
        (Redirected(to="https://b.test/", status=302), "redirected", "3xx"),
        (RateLimited(status=429), "held", "4xx"),
        (RateLimited(status=503), "held", "5xx"),
        (Gone(status=410), "gone", "4xx"),
        (Failed(kind=FailureKind.STATUS, status=404), "failed", "4xx"),
        (Failed(kind=FailureKind.STATUS, status=999), "failed", "none"),
        (Failed(kind=FailureKind.DEADLINE), "failed", "none"),
    ],
)
def test_a_visit_is_counted_by_its_outcome_and_status(store: Store, outcome: Outcome, word: str, status: str) -> None:
    visit(store, outcome)

    assert [((("outcome", word), ("status", status)), 1.0)] == [
        (each.labels, each.value) for each in store.statistics.totals() if each.name == "visits"
    ]
    assert [word] == [each.outcome for each in store.statistics.minutes(T0, after(60))]


def test_entries_are_counted_as_new_once_and_then_as_updated(store: Store) -> None:
    add(store, "https://a.test/")
    visit_all(store, claim(store), entries=[entry("one"), entry("two")], due_in_s=10)
    visit_all(store, claim(store, after(20)), after(20), entries=[entry("one", "changed"), entry("two")])

    assert (2, 1) == (total(store, "entries_new"), total(store, "entries_updated"))
    assert 2 == total(store, "visits", outcome="new")
    assert 2 == store.statistics.counts(T0).entries


def test_durations_are_counted_in_every_bucket_that_is_wide_enough(store: Store) -> None:
    for seconds in (0.0, 0.05, 0.3, 31.0, -5.0):  # the last: the wall clock was set back meanwhile
        visit(store, NotModified(), seconds=seconds)

    assert [
        ("0.05", 3), ("0.1", 3), ("0.25", 3), ("0.5", 4), ("1", 4), ("2.5", 4), ("5", 4), ("10", 4), ("30", 4), ("+Inf", 5),
    ] == [(dict(each.labels)["le"], each.value) for each in store.statistics.totals() if each.name == "visit_seconds"]  # fmt: skip
    assert total(store, "visit_seconds_sum") == pytest.approx(31.35)


def test_two_handles_add_to_the_same_numbers(store: Store, other: Store) -> None:
    for each in (store, other, store):
        visit(each, NotModified(), bytes_received=100)

    assert (3, 300) == (total(store, "visits"), total(store, "bytes_received"))
    assert store.statistics.totals() == other.statistics.totals()


def test_a_lost_visit_is_counted_as_lost_and_as_nothing_else(store: Store) -> None:
    add(store, "https://a.test/")
    stale = claim_one(store)
    visit_all(store, claim(store, after(200)), after(200))
    hold = Hold(until=after(900), why="rate limited")

    lost = visit_all(store, [stale], after(201), entries=[entry("one")], hold=hold)

    assert [True] == [each.is_lost for each in lost]
    assert (1, 1) == (total(store, "visits_lost"), total(store, "visits"))
    assert (0, 0) == (total(store, "entries_new"), total(store, "holds"))
    assert [1] == [each.visits for each in store.statistics.minutes(T0, after(3600))]


def test_what_could_not_be_stored_counts_only_as_what_is_recorded_instead(store: Store) -> None:
    add(store, "https://a.test/", "https://b.test/")
    turns = claim(store)
    hold = Hold(until=after(900), why="rate limited")
    good, bad = (record_of(turn, entries=[entry("one")], hold=hold) for turn in turns)
    bad = with_outcome(bad, bad.visit.outcome, bytes_received=1 << 70)

    recorded = store.frontier.record([bad, good], T0)
    store.frontier.record([with_outcome(record_of(turns[1]), Failed(kind=FailureKind.INTERNAL))], T0)

    assert [False, True] == [each.error is None for each in recorded]
    assert (1, 1) == (total(store, "visits", outcome="new"), total(store, "visits", outcome="failed"))
    assert (2, 1) == (total(store, "visits"), total(store, "entries_new"))
    assert 2 == total(store, "holds")
    assert 1 == store.statistics.counts(T0).entries


def test_a_visit_to_a_source_that_was_removed_meanwhile_is_not_counted(store: Store) -> None:
    add(store, "https://a.test/")
    turn = claim_one(store)
    store.catalogue.remove("https://a.test/")

    visit_all(store, [turn], entries=[entry("one")])

    assert (0, 0) == (total(store, "visits"), total(store, "entries_new"))
    assert 0 == store.statistics.counts(T0).entries


def test_claims_are_counted_and_those_for_nothing_apart(store: Store) -> None:
    add(store, "https://a.test/", "https://b.test/")
    store.catalogue.pause("https://b.test/", T0)

    claim(store)
    claim(store)

    assert (2, 1) == (total(store, "hosts_claimed"), total(store, "hosts_claimed_idle"))


# ── kills ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_numbers_agree_with_the_store_after_kills_in_mid_record(
    address: str, store: Store, opened: Callable[..., Store]
) -> None:
    add(store, *(f"https://h{number}.test/" for number in range(8)))
    environ = os.environ | {"PYTHONPATH": os.pathsep.join((str(REPO / "src"), str(REPO / "tests")))}
    for first_second, batches in ((0, 3), (100_000, 6)):
        command = [sys.executable, str(RECORDING), address, str(first_second)]
        with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            for _ in range(batches):
                process.stdout.readline()
            process.send_signal(signal.SIGKILL)

        reopened = opened()
        visits = sum(row.source.state.attempts for row in reopened.catalogue.feeds(FeedFilter()))
        entries = len(reopened.entries.after(0, 1_000_000))
        minutes = reopened.statistics.minutes(T0, T0 + timedelta(days=30))

        assert 0 < visits
        assert (visits, entries) == (total(reopened, "visits"), total(reopened, "entries_new"))
        assert (visits, entries) == (sum(each.visits for each in minutes), sum(each.entries_new for each in minutes))
        assert entries == reopened.statistics.counts(T0).entries


# ── kept counts ──────────────────────────────────────────────────────────────────────────────────────────────────

NUMBERS = st.integers(0, 3)


class Keeping(RuleBasedStateMachine):
    """What `counts` says beside what the lists show, over two handles."""

    def __init__(self, backend: Backend) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="junkai-contract-"))
        self.stores = [open_store(backend.address(self.folder), delay_s=DELAY_S) for _ in range(2)]
        self.now = T0

    def teardown(self) -> None:
        for store in self.stores:
            store.close()
        shutil.rmtree(self.folder)

    @rule(which=st.integers(0, 1), hosts=st.lists(NUMBERS, max_size=3), path=NUMBERS)
    def add(self, which: int, hosts: list[int], path: int) -> None:
        add(self.stores[which], *(f"https://h{host}.test/{path}" for host in hosts), now=self.now)

    @rule(which=st.integers(0, 1), names=st.lists(st.sampled_from("xyz"), unique=True), moved_to=st.none() | NUMBERS)
    def visit(self, which: int, names: list[str], moved_to: int | None) -> None:
        self.now += timedelta(seconds=LEASE_S * 2)
        new_url = None if moved_to is None else f"https://moved{moved_to}.test/"
        claimed = claim(self.stores[which], self.now, hosts_max=2)
        visit_all(
            self.stores[1 - which],
            claimed,
            self.now,
            entries=[entry(name) for name in names],
            new_url=new_url,
            due_in_s=1,
        )

    @rule(which=st.integers(0, 1), number=NUMBERS)
    def remove(self, which: int, number: int) -> None:
        for row in list(self.stores[which].catalogue.feeds(FeedFilter()))[number : number + 1]:
            self.stores[which].catalogue.remove(row.source.url)

    @rule(which=st.integers(0, 1), number=NUMBERS, slots=st.integers(1, 3))
    def set_slots(self, which: int, number: int, slots: int) -> None:
        self.stores[which].hosts.change(f"h{number}.test", self.now, slots=slots)

    @rule(number=NUMBERS)
    def claim_host(self, number: int) -> None:
        self.stores[0].frontier.claim_host(f"asked{number}.test", owner="me", now=self.now, lease_s=LEASE_S)

    @invariant()
    def what_is_kept_is_what_is_there(self) -> None:
        counts = self.stores[0].statistics.counts(self.now)
        catalogue = self.stores[1].catalogue
        assert len(list(catalogue.feeds(FeedFilter()))) == counts.sources
        assert len(list(self.stores[1].hosts.listed(self.now))) == counts.hosts
        assert len(list(self.stores[1].entries.recent(EntryFilter()))) == counts.entries


def test_kept_counts_are_those_of_the_lists_whatever_happens(backend: Backend) -> None:
    run_state_machine_as_test(
        lambda: Keeping(backend),  # type: ignore[arg-type]  # any factory will do
        settings=settings(max_examples=25, stateful_step_count=20, deadline=None),
    )


# ── minutes ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_minutes_say_what_was_done_in_them(store: Store) -> None:
    one = replace(EMPTY, document=Document(format="atom", entries=(entry("one"), entry("two"))))
    visit(store, NotModified(), now=after(59), bytes_received=5)
    visit(store, NotModified(), now=after(60), bytes_received=10)
    visit(store, NotModified(), now=after(119), bytes_received=20)
    visit(store, one, now=after(119), bytes_received=300)
    visit(store, NotModified(), now=after(180), bytes_received=40)

    assert [
        MinuteCount(at=after(60), outcome="new", visits=1, entries_new=2, bytes=300),
        MinuteCount(at=after(60), outcome="same", visits=2, bytes=30),
    ] == store.statistics.minutes(after(61), after(180))
    assert 5 == sum(each.visits for each in store.statistics.minutes(T0, after(181)))


def test_minutes_can_be_added_up(store: Store) -> None:
    for seconds in (0, 299, 300, 599, 600, 660):
        visit(store, NotModified(), now=after(seconds), bytes_received=10)
    visit(store, Gone(status=410), now=after(599))

    assert [
        MinuteCount(at=T0, outcome="same", visits=2, bytes=20),
        MinuteCount(at=after(300), outcome="gone", visits=1),
        MinuteCount(at=after(300), outcome="same", visits=2, bytes=20),
        MinuteCount(at=after(600), outcome="same", visits=1, bytes=10),
    ] == store.statistics.minutes(T0, after(610), bin_minutes=5)


def test_minutes_are_kept_for_eight_days(store: Store) -> None:
    day = timedelta(days=1)
    visit(store, NotModified(), now=T0)
    visit(store, NotModified(), now=T0 + 2 * day)
    visit(store, NotModified(), now=T0 + 9 * day)

    assert [T0 + 2 * day, T0 + 9 * day] == [each.at for each in store.statistics.minutes(T0, T0 + 10 * day)]
    assert 3 == total(store, "visits")


# ── what waits ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_backlog_says_what_each_source_waits_for(store: Store) -> None:
    add(store, "https://turn.test/1", "https://turn.test/2", "https://floor.test/")
    visit_all(store, claim(store, hosts_max=1, sources_per_host_max=1), due_in_s=None)
    [turn] = claim(store, after(9), hosts_max=1)
    floored = claim_one(store, after(9))
    store.frontier.record([record_of(floored, now=after(9), due_in_s=0.5)], after(9))
    store.frontier.release([floored.ref], after(9), not_before=after(20))
    add(store, "https://free.test/1", "https://free.test/2", now=after(5))
    add(store, "https://free.test/3", now=after(6))
    add(store, "https://held.test/", "https://blocked.test/", "https://later.test/", now=after(4))
    store.hosts.change("held.test", after(5), hold_until=after(600))
    store.hosts.change("blocked.test", after(5), is_blocked=True)
    visit_all(store, [each for each in claim(store, after(4)) if each.host == "later.test"], after(4))

    backlog = store.statistics.backlog(after(10))

    assert (
        Backlog(at=after(10), free=3, turn=len(turn.sources) + 1, held=2, oldest_free_at=after(5), oldest_due_at=T0)
        == backlog
    )


def test_a_hold_that_is_over_and_a_lease_that_ended_leave_sources_free(store: Store) -> None:
    add(store, "https://a.test/", "https://b.test/")
    store.hosts.change("a.test", T0, hold_until=after(60))
    claim(store)

    assert (0, 1, 1) == _waiting(store.statistics.backlog(T0))
    assert (2, 0, 0) == _waiting(store.statistics.backlog(after(200)))
    assert T0 == store.statistics.backlog(after(200)).oldest_due_at
    assert after(60) == store.statistics.backlog(after(200)).oldest_free_at


def test_a_floor_beyond_a_hold_that_is_over_is_no_hold(store: Store) -> None:
    add(store, "https://a.test/")
    turn = claim_one(store)
    store.frontier.record([record_of(turn, due_in_s=1, hold=Hold(until=after(5), why="rate limited"))], T0)
    store.frontier.release([turn.ref], T0, not_before=after(20))

    assert Backlog(at=after(4), held=1) == store.statistics.backlog(after(4))
    assert Backlog(at=after(10), turn=1, oldest_due_at=after(1)) == store.statistics.backlog(after(10))


def _waiting(backlog: Backlog) -> tuple[int, int, int]:
    return backlog.free, backlog.turn, backlog.held


def test_nothing_due_is_an_empty_backlog(store: Store) -> None:
    add(store, "https://a.test/", now=after(1))

    assert Backlog(at=T0) == store.statistics.backlog(T0)


def test_what_is_planned_is_told_by_the_minute(store: Store) -> None:
    add(store, "https://a.test/", "https://b.test/", "https://c.test/", "https://due.test/", "https://late.test/")
    turns = {turn.host: turn for turn in claim(store)}
    for host, due_in_s in (("a", 61), ("b", 119), ("c", 300), ("due", 0), ("late", 900)):
        visit_all(store, [turns[f"{host}.test"]], due_in_s=due_in_s)
    store.hosts.change("c.test", T0, is_blocked=True)

    assert [(after(60), 2), (after(300), 1)] == store.statistics.planned(T0, after(900))


# ── how well it goes ─────────────────────────────────────────────────────────────────────────────────────────────


def test_freshness_is_of_the_last_hours_entries_that_came_after_their_source(store: Store) -> None:
    add(store, "https://a.test/", "https://b.test/")
    first, second = claim(store)
    ages = {"before the source": 5000, "10": 10, "20": 20, "30": 30, "ahead of time": -60}
    entries = [entry(name, published_at=after(4000 - age)) for name, age in ages.items()]
    visit_all(store, [first], after(300), entries=[entry("too long ago", published_at=after(100))])
    visit_all(store, [second], after(4000), entries=[*entries, entry("undated")])

    assert Freshness(entries=4, median_s=10.0, p95_s=30.0) == store.statistics.freshness(after(4000))
    assert Freshness() == store.statistics.freshness(after(8000))


def test_freshness_is_of_the_latest_thousand(store: Store) -> None:
    add(store, "https://a.test/")
    many = [entry(str(number), published_at=after(10)) for number in range(1_001)]
    visit_all(store, claim(store), after(20), entries=many)

    assert Freshness(entries=1_000, median_s=10.0, p95_s=10.0) == store.statistics.freshness(after(30))


def test_failing_feeds_are_listed_with_the_reason_latest_visit_first(store: Store) -> None:
    add(store, "https://a.test/", title="Given")
    add(store, "https://b.test/", "https://c.test/", "https://well.test/")
    turns = {turn.host: turn for turn in claim(store)}
    for host, state, seconds in (
        ("a", CrawlState.FETCH_ERROR, 1),
        ("b", CrawlState.ERROR, 3),
        ("c", CrawlState.FETCH_ERROR, 2),
    ):
        visit_all(
            store, [turns[f"{host}.test"]], state=state, error="HTTP 500", http_status=500, attempts=2, title="Own",
            last_visit_at=after(seconds), due_in_s=None if state is CrawlState.ERROR else 60, recent=b"recent",
        )  # fmt: skip
    visit_all(store, [turns["well.test"]])

    failing = store.statistics.failing(10)

    assert ["https://b.test/", "https://c.test/", "https://a.test/"] == [feed.url for feed in failing]
    assert [feed.url for feed in failing[:2]] == [feed.url for feed in store.statistics.failing(2)]
    assert ("Own", CrawlState.ERROR, None) == (failing[0].title, failing[0].state, failing[0].due_at)
    assert FailingFeed(
        source_id=turns["a.test"].sources[0].source_id, url="https://a.test/", title="Given", state=CrawlState.FETCH_ERROR,
        error="HTTP 500", http_status=500, attempts=2, last_visit_at=after(1), due_at=after(60), recent=b"recent",
    ) == failing[-1]  # fmt: skip


def test_held_hosts_are_listed_most_sources_first(store: Store) -> None:
    add(
        store,
        "https://small.test/",
        "https://big.test/1",
        "https://big.test/2",
        "https://over.test/",
        "https://free.test/",
    )
    store.hosts.change("big.test", T0, slots=2, is_blocked=True)
    store.hosts.change("over.test", T0, hold_until=after(5))
    store.hosts.change("small.test", T0, slots=2)
    turn = next(each for each in claim(store) if each.host == "small.test" and each.sources)
    visit_all(store, [turn], hold=Hold(until=after(60), why="rate limited"))

    assert [
        HeldHost(host="big.test", why="blocked", until=None, sources=2),
        HeldHost(host="small.test", why="rate limited", until=after(60), sources=1),
    ] == store.statistics.held(after(10), 10)
    assert ["big.test"] == [host.host for host in store.statistics.held(after(10), 1)]
    assert 2 == store.statistics.counts(after(10)).held


def test_a_reader_sees_the_same_numbers(store: Store, opened: Callable[..., Store]) -> None:
    add(store, "https://a.test/", "https://b.test/")
    visit_all(store, claim(store, hosts_max=1), entries=[entry("one", published_at=T0)], state=CrawlState.ERROR)
    store.hosts.change("b.test", T0, hold_until=after(60))

    def numbers(each: Store) -> list[object]:
        statistics = each.statistics
        return [
            statistics.totals(), statistics.minutes(T0, after(60)), statistics.backlog(after(9)),
            statistics.planned(T0, after(9000)), statistics.freshness(T0), statistics.failing(9), statistics.held(T0, 9),
        ]  # fmt: skip

    assert all(numbers(store))
    assert numbers(store) == numbers(opened(is_read_only=True))
