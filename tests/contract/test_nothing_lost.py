"""Any sequence of what brokers, operators and accidents do: no host asked twice at once or too early, nothing lost."""

from __future__ import annotations

import shutil
import tempfile
from datetime import datetime, timedelta
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from msgspec.structs import replace

from contract.scene import DELAY_S, LEASE_S, T0, Backend, add, entry, record_of
from junkai.backend import open_store
from junkai.backend.listed import FeedFilter
from junkai.clock import NEVER
from junkai.model import Claim, Hold, Source, SourceState

HOSTS = ("a.test", "b.test", "c.test")
URLS = tuple(f"https://{host}/{number}" for host in HOSTS for number in range(3))
SHORT_S = st.integers(0, 5_000).map(lambda ms: ms / 1000)
LONG_S = st.integers(0, 400)


class Life(RuleBasedStateMachine):
    """The store beside a model of what it has promised."""

    def __init__(self, backend: Backend) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="junkai-contract-"))
        self.address = backend.address(self.folder)
        self.now = T0
        self.stores = [open_store(self.address, delay_s=DELAY_S) for _ in range(2)]
        self.expected: dict[str, SourceState] = {}  # by URL, what was decided last
        self.paused: set[str] = set()
        self.floors = dict.fromkeys(HOSTS, datetime.min.replace(tzinfo=T0.tzinfo))
        self.holders: dict[str, tuple[Claim, datetime]] = {}  # by host, the last turn given out and its end
        self.turns: list[tuple[int, Claim]] = []  # those that someone still believes in, with the store they use
        self.entries: set[tuple[str, str]] = set()

    def teardown(self) -> None:
        try:
            self.everything_comes_round()
        finally:
            for store in self.stores:
                store.close()
            shutil.rmtree(self.folder)

    def is_ours(self, turn: Claim) -> bool:
        held = self.holders.get(turn.host)
        return held is not None and held[0].ref == turn.ref

    def raise_floor(self, host: str, at: datetime) -> None:
        self.floors[host] = max(self.floors[host], at)

    # ── brokers ──────────────────────────────────────────────────────────────────────────────────────────────────

    @rule(
        which=st.integers(0, 1),
        hosts_max=st.integers(1, 3),
        sources_max=st.integers(1, 3),
        round_age_s=st.none() | SHORT_S,
    )
    def claim(self, which: int, hosts_max: int, sources_max: int, round_age_s: float | None) -> None:
        due_by = self.now if round_age_s is None else self.now - timedelta(seconds=round_age_s)
        claimed = self.stores[which].frontier.claim(
            owner=str(which),
            now=self.now,
            lease_s=LEASE_S,
            hosts_max=hosts_max,
            sources_per_host_max=sources_max,
            due_before=None if round_age_s is None else due_by,
        )
        for turn in claimed:
            held = self.holders.get(turn.host)
            assert held is None or held[1] <= self.now, "a host in two turns"
            assert self.floors[turn.host] <= self.now, "a host asked before its floor"
            assert round_age_s is None or turn.sources, "a round takes no host for nothing"
            for source in turn.sources:
                assert self.expected[source.url] == source.state
                assert source.state.due_at is not None
                assert source.state.due_at <= due_by
            self.holders[turn.host] = (turn, turn.lease_until)
            self.turns.append((which, turn))

    @precondition(lambda self: self.turns)
    @rule(
        data=st.data(),
        due_in_s=st.none() | SHORT_S | LONG_S,
        names=st.lists(st.sampled_from("xyz"), unique=True),
        hold_s=st.none() | LONG_S,
        elsewhere=st.none() | st.sampled_from(HOSTS),
    )
    def record(
        self, data: st.DataObject, due_in_s: float | None, names: list[str], hold_s: int | None, elsewhere: str | None
    ) -> None:
        which, turn = data.draw(st.sampled_from(self.turns))
        if not turn.sources:
            return
        source: Source = data.draw(st.sampled_from(turn.sources))
        hold = None if hold_s is None else Hold(until=self.now + timedelta(seconds=hold_s), why="asked to")
        pending_url = None if elsewhere is None else f"https://{elsewhere}/elsewhere"
        record = record_of(
            turn,
            source,
            now=self.now,
            due_in_s=due_in_s,
            entries=[entry(name) for name in names],
            hold=hold,
            pending_url=pending_url,
        )

        [recorded] = self.stores[which].frontier.record([record], self.now)

        assert recorded.is_lost is not self.is_ours(turn)
        if recorded.is_lost:
            return
        self.raise_floor(turn.host, record.floor_at)
        if hold is not None:
            self.raise_floor(turn.host, hold.until)
        if recorded.error is not None:  # it was recorded once already in this turn, and is asked elsewhere next
            return
        state = record.decision.state
        if source.url in self.paused:
            state = replace(state, due_at=None, why="paused")
        self.expected[source.url] = state
        found = {(source.url, name) for name in names}
        assert len(found - self.entries) == recorded.entries_new
        self.entries |= found

    @precondition(lambda self: self.turns)
    @rule(data=st.data(), floor_s=st.none() | SHORT_S)
    def release(self, data: st.DataObject, floor_s: float | None) -> None:
        which, turn = place = data.draw(st.sampled_from(self.turns))
        floor = None if floor_s is None else self.now + timedelta(seconds=floor_s)
        self.stores[which].frontier.release([turn.ref], self.now, not_before=floor)
        if self.is_ours(turn):
            del self.holders[turn.host]
            if floor is not None:
                self.raise_floor(turn.host, floor)
        if data.draw(st.booleans()):  # else it goes on believing in a turn that is over
            self.turns.remove(place)

    @precondition(lambda self: self.turns)
    @rule(data=st.data())
    def renew(self, data: st.DataObject) -> None:
        which, turn = data.draw(st.sampled_from(self.turns))
        [until] = self.stores[which].frontier.renew([turn.ref], now=self.now, lease_s=LEASE_S)
        assert (until is not None) == self.is_ours(turn)
        if until is not None:
            self.holders[turn.host] = (turn, until)

    @rule(which=st.integers(0, 1))
    def kill(self, which: int) -> None:
        """The process is gone, and its turns with it; another takes its place."""
        self.turns = [turn for turn in self.turns if turn[0] != which]
        self.stores[which].close()
        self.stores[which] = open_store(self.address, delay_s=DELAY_S)

    @rule(by_s=SHORT_S | LONG_S)
    def advance(self, by_s: float) -> None:
        self.now += timedelta(seconds=by_s)

    # ── operators ────────────────────────────────────────────────────────────────────────────────────────────────

    @rule(which=st.integers(0, 1), urls=st.lists(st.sampled_from(URLS), min_size=1, max_size=4))
    def add(self, which: int, urls: list[str]) -> None:
        is_new = add(self.stores[which], *urls, now=self.now)
        for place, url in enumerate(urls):
            assert is_new[place] == (url not in self.expected)
            self.expected.setdefault(url, SourceState(due_at=self.now))

    @rule(host=st.sampled_from(HOSTS), for_s=LONG_S)
    def hold(self, host: str, for_s: int) -> None:
        """Only the operator's word lowers a floor, and then to no less than one delay from now."""
        until = self.now + timedelta(seconds=for_s)
        self.stores[0].hosts.change(host, self.now, hold_until=until)
        one_delay = self.now + timedelta(seconds=DELAY_S)
        self.floors[host] = max(min(self.floors[host], one_delay), until)

    @precondition(lambda self: self.expected)
    @rule(data=st.data(), is_resumed=st.booleans())
    def pause_or_resume(self, data: st.DataObject, is_resumed: bool) -> None:
        url = data.draw(st.sampled_from(sorted(self.expected)))
        before = self.expected[url]
        if is_resumed:
            self.stores[1].catalogue.resume(url, self.now)
            self.paused.discard(url)
            self.expected[url] = replace(before, due_at=self.now, why="resumed", attempts=0)
        else:
            self.stores[1].catalogue.pause(url, self.now)
            self.paused.add(url)
            self.expected[url] = replace(before, due_at=None, why="paused")

    # ── promises ─────────────────────────────────────────────────────────────────────────────────────────────────

    @invariant()
    def all_is_as_it_was_decided(self) -> None:
        found = {row.source.url: row for row in self.stores[0].catalogue.feeds(FeedFilter())}
        assert self.expected == {url: row.source.state for url, row in found.items()}
        assert self.paused == {url for url, row in found.items() if row.is_paused}
        stored = [(each.feed_url, each.entry.title) for each in self.stores[0].entries.after(0, 1_000)]
        assert sorted(self.entries) == sorted(stored)

    def everything_comes_round(self) -> None:
        """When all leases, holds and back-offs have run out, every source that is ever due is claimed."""
        self.now += timedelta(days=1)
        awaited = {url for url, state in self.expected.items() if state.due_at is not None}
        claimed = self.stores[0].frontier.claim(
            owner="last", now=self.now, lease_s=LEASE_S, hosts_max=99, sources_per_host_max=99
        )
        assert awaited == {source.url for turn in claimed for source in turn.sources}
        self.stores[0].frontier.release([turn.ref for turn in claimed], self.now)
        next_ready_at = self.stores[0].frontier.next_ready_at()
        assert bool(awaited) == (next_ready_at is not None)
        assert next_ready_at is None or next_ready_at < NEVER


def test_whatever_happens_no_host_is_asked_too_early_and_nothing_is_lost(backend: Backend) -> None:
    run_state_machine_as_test(
        lambda: Life(backend),  # type: ignore[arg-type]  # any factory will do
        settings=settings(max_examples=40, stateful_step_count=40, deadline=None),
    )
