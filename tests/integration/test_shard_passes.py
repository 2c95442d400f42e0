"""Passes over shards: where one ends and the next begins, as a broker's listener sees it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from junkai import app
from junkai import url as urls
from junkai.backend.protocol import NewSource, Recorded
from junkai.bridge import StoreBridge
from junkai.broker import CLAIM_HOSTS_MAX, Bounds, Broker
from junkai.clock import utc_now
from junkai.config import Settings
from junkai.crawler import TurnTime
from junkai.fleet import Phase
from junkai.model import Claim, Decision, NotModified, Source, Turn, Visit
from junkai.politeness import DomainBudget
from junkai.shards import ShardWalk


class Watch:
    """A listener that keeps what it sees of its broker."""

    broker: Broker

    def __init__(self) -> None:
        self.phases: list[tuple[Phase, int, int | None]] = []
        self.pass_seconds: list[float] = []  #: as each phase began
        self.claims: list[tuple[int | None, int]] = []  #: shard and number of hosts
        self.visited: list[str] = []
        self.on_each_visit: Callable[[], object] = lambda: None

    def on_claims(self, claims: Sequence[Claim]) -> None:
        self.claims.append((self.broker.shard, len(claims)))

    def on_phase(self) -> None:
        self.phases.append((self.broker.phase, self.broker.pass_no, self.broker.shard))
        self.pass_seconds.append(self.broker.pass_seconds)

    def on_visit(self, visit: Visit, _source: Source, _decision: Decision, _recorded: Recorded) -> None:
        self.visited.append(visit.url)
        self.on_each_visit()

    def on_idle(self, ready_at: datetime | None) -> None:
        pass

    @property
    def passes(self) -> list[int | None]:
        """The shards that passes began with, in order."""
        return [shard for phase, _, shard in self.phases if phase == Phase.PASS]


class Crawlers:
    """Answers every source at once, or when its URL's event is set."""

    def __init__(self) -> None:
        self.gates: dict[str, asyncio.Event] = {}

    async def crawl(self, turn: Turn, _time: TurnTime) -> AsyncGenerator[Visit, None]:
        for source in turn.sources:
            if source.url in self.gates:
                await self.gates[source.url].wait()
            now = utc_now()
            yield Visit(source_id=source.source_id, url=source.url, started_at=now, ended_at=now, outcome=NotModified())


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(store=f"sqlite:///{tmp_path}/test.db", delay_seconds=0.0)


def hosts_in(shard: int, count: int) -> list[str]:
    """URLs of that many hosts in a shard."""
    found: list[str] = []
    number = 0
    while len(found) < count:
        if urls.shard_of(f"h{number}.test") == shard:
            found.append(f"https://h{number}.test/")
        number += 1
    return found


def work(
    settings: Settings,
    added: Sequence[str],
    *,
    bounds: Bounds | None = None,
    meanwhile: Callable[[Broker, Watch, Crawlers], None] = lambda _broker, _watch, _crawlers: None,
) -> Watch:
    """A real broker over a real store, until its bounds are met (by itself: a round)."""
    with closing(app.open_store(settings)) as store:
        store.frontier.add([NewSource(url=url) for url in added], utc_now())
    watch, crawlers = Watch(), Crawlers()

    async def run() -> None:
        async with StoreBridge(lambda: app.open_store(settings)) as bridge:
            watch.broker = Broker(
                bridge,
                crawlers,
                DomainBudget(in_flight_max=8, per_second_max=1000.0),
                settings,
                now=utc_now,
                owner="test",
                listener=watch,
                walk=ShardWalk(),
            )
            meanwhile(watch.broker, watch, crawlers)
            async with asyncio.timeout(20):
                await watch.broker.run(bounds or Bounds(round_at=utc_now()))

    asyncio.run(run())
    return watch


def test_a_pass_takes_one_shard_and_the_next_pass_the_next_one_that_has_something(settings: Settings) -> None:
    watch = work(settings, [*hosts_in(41, 2), *hosts_in(7, 3), *hosts_in(8, 1)])

    assert [7, 8, 41] == watch.passes
    assert [(7, 3), (8, 1), (41, 2)] == watch.claims
    assert 6 == len(watch.visited)


def test_a_shard_with_more_than_a_batch_is_claimed_to_its_end_in_one_pass(settings: Settings) -> None:
    watch = work(settings, [*hosts_in(3, CLAIM_HOSTS_MAX + 5), *hosts_in(4, 2)])

    assert [3, 4] == watch.passes
    assert [(3, CLAIM_HOSTS_MAX), (3, 5), (4, 2)] == watch.claims


def test_a_pass_ends_at_its_bound_of_sources_and_the_shard_waits_for_the_next_circle(settings: Settings) -> None:
    many = hosts_in(3, CLAIM_HOSTS_MAX + 5)
    watch = work(replace(settings, pass_sources_max=CLAIM_HOSTS_MAX), [*many, *hosts_in(4, 2)])

    assert [3, 4, 3] == watch.passes
    assert CLAIM_HOSTS_MAX + 7 == len(watch.visited)


def test_a_pass_that_has_been_claiming_for_long_makes_way_for_the_next(settings: Settings) -> None:
    hurried = replace(settings, pass_seconds_max=1e-9)
    watch = work(hurried, [*hosts_in(3, CLAIM_HOSTS_MAX + 5), *hosts_in(4, 2)])

    assert [3, 4, 3] == watch.passes


def test_a_slow_host_of_an_earlier_pass_keeps_no_other_waiting(settings: Settings) -> None:
    slow, *others = hosts_in(3, 1) + hosts_in(4, 1) + hosts_in(5, 1)

    def hold_one(_broker: Broker, watch: Watch, crawlers: Crawlers) -> None:
        crawlers.gates[slow] = asyncio.Event()

        def open_gate() -> None:
            if len(watch.visited) == len(others):
                crawlers.gates[slow].set()

        watch.on_each_visit = open_gate

    watch = work(settings, [slow, *others], meanwhile=hold_one)

    assert [*others, slow] == watch.visited


def test_a_pass_lasts_as_long_as_its_last_turn_and_sleep_is_none(settings: Settings) -> None:
    def stop_at_the_end(broker: Broker, watch: Watch, _crawlers: Crawlers) -> None:
        watch.on_each_visit = lambda: asyncio.get_running_loop().call_later(0.3, broker.stop)

    watch = work(settings, hosts_in(3, 1), bounds=Bounds(), meanwhile=stop_at_the_end)

    assert [(Phase.PASS, 1, 3), (Phase.SLEEPING, 1, None), (Phase.DRAINING, 1, None)] == watch.phases
    assert [False, True, False] == [seconds == 0.0 for seconds in watch.pass_seconds]


def test_a_broker_with_nothing_to_do_begins_no_pass_and_claims_nothing(settings: Settings) -> None:
    def stop_soon(broker: Broker, _watch: Watch, _crawlers: Crawlers) -> None:
        asyncio.get_running_loop().call_later(0.3, broker.stop)

    watch = work(settings, [], bounds=Bounds(), meanwhile=stop_soon)

    assert [(Phase.DRAINING, 0, None)] == watch.phases
    assert [] == watch.claims


def test_a_full_broker_takes_what_is_free_and_goes_on_where_it_was(settings: Settings) -> None:
    watch = work(replace(settings, concurrency=2), [*hosts_in(3, 4), *hosts_in(4, 3)])

    assert [3, 4] == watch.passes
    assert 2 == max(count for _, count in watch.claims)
    assert 7 == len(watch.visited)


def test_the_work_ends_after_the_passes_that_were_asked_for(settings: Settings) -> None:
    watch = work(settings, [*hosts_in(3, 1), *hosts_in(4, 1), *hosts_in(5, 1)], bounds=Bounds(passes_max=2))

    assert [3, 4] == watch.passes
    assert not watch.broker.is_round_done


def test_what_is_broken_off_is_given_back_with_the_delay_kept(settings: Settings) -> None:
    settings = replace(settings, delay_seconds=60.0)
    [url] = hosts_in(3, 1)

    def break_off(broker: Broker, _watch: Watch, crawlers: Crawlers) -> None:
        crawlers.gates[url] = asyncio.Event()
        asyncio.get_running_loop().call_later(0.2, broker.stop, 0.1)

    began_at = utc_now()
    watch = work(settings, [url], bounds=Bounds(), meanwhile=break_off)
    with closing(app.open_store(settings)) as store:
        ready_at = store.frontier.next_ready_at()
        counts = store.statistics.counts(utc_now())

    assert [] == watch.visited
    assert 0 == counts.in_turn
    assert ready_at is not None
    assert 60 <= (ready_at - began_at).total_seconds() < 62
