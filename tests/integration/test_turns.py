"""Turns as the broker keeps them: renewed, spaced over a domain, given back; and what becomes of a record in trouble."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncGenerator, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from junkai import app
from junkai.backend import open_store
from junkai.backend.listed import FeedFilter
from junkai.backend.protocol import NewSource, Recorded, Store
from junkai.bridge import StoreBridge
from junkai.broker import Bounds, Broker
from junkai.clock import utc_now
from junkai.config import Settings
from junkai.crawler import TurnTime
from junkai.document import Document
from junkai.model import Claim, CrawlState, Decision, Fetched, NotModified, Outcome, Source, Turn, Validators, Visit
from junkai.politeness import DomainBudget
from junkai.shards import ShardWalk
from scripted_site import Answer, ScriptedSite


class Watch:
    def __init__(self) -> None:
        self.recorded: list[Recorded] = []

    def on_round(self, total: int) -> None:
        pass

    def on_claims(self, claims: Sequence[Claim]) -> None:
        pass

    def on_phase(self) -> None:
        pass

    def on_idle(self, ready_at: datetime | None) -> None:
        pass

    def on_stop(self) -> None:
        pass

    def on_visit(self, _visit: Visit, _source: Source, _decision: Decision, recorded: Recorded) -> None:
        self.recorded.append(recorded)


class Scripted:
    """A place where turns are crawled that answers each source with the same outcome, and counts turns at once."""

    def __init__(self, outcome: Outcome | Exception, seconds: float = 0.0) -> None:
        self.outcome = outcome
        self.seconds = seconds
        self.running = self.most_at_once = 0
        self.turns: list[Turn] = []

    async def crawl(self, turn: Turn, _time: TurnTime) -> AsyncGenerator[Visit, None]:
        self.turns.append(turn)
        self.running += 1
        self.most_at_once = max(self.most_at_once, self.running)
        try:
            await asyncio.sleep(self.seconds)
            for source in turn.sources:
                if isinstance(self.outcome, Exception):
                    raise self.outcome
                now = utc_now()
                yield Visit(
                    source_id=source.source_id, url=source.url, started_at=now, ended_at=now, outcome=self.outcome
                )
        finally:
            self.running -= 1


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(store=f"sqlite:///{tmp_path}/test.db", delay_seconds=0.05)


def subscribe(settings: Settings, *urls: str) -> None:
    with closing(app.open_store(settings)) as store:
        store.frontier.add([NewSource(url=url) for url in urls], utc_now())


def broker_of(bridge: StoreBridge, dispatcher: Scripted, settings: Settings, watch: Watch) -> Broker:
    return Broker(
        bridge,
        dispatcher,
        DomainBudget(in_flight_max=settings.domain_in_flight_max, per_second_max=settings.domain_per_second_max),
        settings,
        now=utc_now,
        owner="test",
        listener=watch,
        walk=ShardWalk(),
    )


def rounds(settings: Settings, dispatcher: Scripted, *, passes: int = 1) -> list[Recorded]:
    """Real brokers over a real store; only where turns are crawled is scripted."""
    watch = Watch()

    def opened() -> Store:
        return open_store(settings.store, delay_s=settings.delay_seconds)

    async def run() -> None:
        async with StoreBridge(opened) as bridge:
            for _ in range(passes):
                await broker_of(bridge, dispatcher, settings, watch).run(Bounds(round_at=utc_now()))

    asyncio.run(run())
    return watch.recorded


def test_the_hosts_of_one_domain_are_asked_a_few_at_a_time_and_none_is_forgotten(settings: Settings) -> None:
    urls = [f"https://blog{n}.platform.example.com/feed" for n in range(20)]
    subscribe(settings, *urls, "https://elsewhere.test/feed")
    dispatcher = Scripted(NotModified(), seconds=0.02)

    recorded = rounds(replace(settings, domain_in_flight_max=3), dispatcher)

    assert len(recorded) == 21
    assert dispatcher.most_at_once <= 4
    assert {source.url for turn in dispatcher.turns for source in turn.sources} == {
        *urls,
        "https://elsewhere.test/feed",
    }


def test_a_turn_longer_than_its_lease_is_renewed_and_loses_nothing(tmp_path: Path) -> None:
    settings = Settings(
        store=f"sqlite:///{tmp_path}/test.db",
        allow_networks=("127.0.0.0/8",),
        delay_seconds=0.0,
        lease_seconds=1.0,
        fetch_deadline_seconds=0.5,
    )
    with ScriptedSite() as site:
        answer = Answer(body=b"<rss><channel><item><guid>1</guid></item></channel></rss>", delay_s=0.2)
        subscribe(settings, *[site.put(1, f"/{n}", answer) for n in range(12)])
        watch = Watch()
        summary = app.crawl(settings, is_once=True, is_all=False, visits_max=None, progress=watch)

    assert (summary.ok, summary.lost) == (12, 0)
    assert len(site.asked) == 12
    assert site.overlaps() == []


@pytest.mark.parametrize("word", ["block", "hold", "pause"])
def test_the_operators_word_reaches_a_turn_under_way(tmp_path: Path, word: str) -> None:
    settings = Settings(store=f"sqlite:///{tmp_path}/test.db", allow_networks=("127.0.0.0/8",), delay_seconds=0.1)
    with ScriptedSite() as site:
        urls = [site.put(1, f"/{n}", b"<rss><channel/></rss>") for n in range(60)]
        subscribe(settings, *urls)

        def speak() -> None:
            site.wait_for(3)
            with closing(app.open_store(settings)) as store:
                if word == "pause":
                    for url in urls:
                        store.catalogue.pause(url, utc_now())
                else:
                    hold_until = utc_now() + timedelta(hours=1) if word == "hold" else None
                    store.hosts.change(
                        site.host(1), utc_now(), hold_until=hold_until, is_blocked=word == "block" or None
                    )

        operator = threading.Thread(target=speak)
        operator.start()
        app.crawl(settings, is_once=True, is_all=False, visits_max=None, progress=Watch())
        operator.join()

    assert 3 <= len(site.asked) <= 25


def test_a_visit_that_cannot_be_stored_backs_off_instead_of_being_made_for_ever(settings: Settings) -> None:
    subscribe(settings, "https://a.test/feed")
    unstorable = Document(format="rss", title="\ud800")
    outcome = Fetched(status=200, validators=Validators(url="https://a.test/feed"), body_hash=b"", document=unstorable)
    dispatcher = Scripted(outcome)

    recorded = rounds(settings, dispatcher, passes=2)

    with closing(app.open_store(settings)) as store:
        [row] = store.catalogue.feeds(FeedFilter())
    assert len(recorded) == len(dispatcher.turns) == 1
    assert recorded[0].error is not None
    assert row.source.state.state == CrawlState.FETCH_ERROR
    assert row.source.state.due_at is not None
    assert row.source.state.due_at > utc_now() + timedelta(minutes=30)


def test_a_fault_while_crawling_costs_that_turn_only_and_does_not_spin(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    logger = logging.getLogger("junkai.turns")  # whatever other tests made of its parents
    subscribe(settings, "https://a.test/feed")
    dispatcher = Scripted(ZeroDivisionError())

    async def run() -> None:
        async with StoreBridge(lambda: open_store(settings.store)) as bridge:
            broker = broker_of(bridge, dispatcher, settings, Watch())
            asyncio.get_running_loop().call_later(0.6, broker.stop)
            await broker.run(Bounds())

    logger.addHandler(caplog.handler)
    try:
        asyncio.run(run())
    finally:
        logger.removeHandler(caplog.handler)

    assert len(dispatcher.turns) == 1
    assert "a turn at a.test failed" in caplog.text
