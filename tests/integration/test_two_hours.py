"""Two hours of a moved clock over feeds of 24 rhythms: each is asked as often as it posts wants, and the numbers agree."""

from __future__ import annotations

import asyncio
import itertools
import os
import resource
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Final

import pytest

from junkai import app, wording
from junkai.backend.listed import EntryFilter
from junkai.backend.protocol import NewSource, Recorded
from junkai.bridge import StoreBridge
from junkai.broker import Bounds, Broker
from junkai.config import Settings
from junkai.dispatch.local import LocalDispatcher
from junkai.fetch import Fetcher
from junkai.model import Claim, Decision, Source, Visit
from junkai.shards import ShardWalk
from junkai.web.facts import FactsReader, read_numbers, read_series
from junkai.web.metrics import Process, render
from junkai.web.overview import overview
from junkai.web.series import DAY
from scripted_site import Answer, Asked, ScriptedSite

FEEDS: Final = 10_000 if os.environ.get("JUNKAI_TEST_FULL") else 480
FEEDS_PER_HOST: Final = 20
#: Minutes between two posts.
RHYTHMS: Final = (
    20,
    25,
    30,
    35,
    40,
    45,
    50,
    60,
    70,
    80,
    90,
    100,
    120,
    140,
    160,
    180,
    210,
    240,
    300,
    360,
    480,
    720,
    960,
    1_440,
)
START: Final = datetime(2026, 12, 1, 6, 0, tzinfo=UTC)
STEP: Final = timedelta(minutes=2)
INTERVAL_MIN: Final = timedelta(minutes=15)
POSTS_IN_FEED: Final = 12


class _Clock:
    """A clock that only the test moves."""

    def __init__(self) -> None:
        self.at = START

    def __call__(self) -> datetime:
        return self.at


class _Feed:
    """A feed that posts every `gap`, at a phase of its own, and remembers when it was asked."""

    def __init__(self, number: int, clock: _Clock) -> None:
        self.gap = timedelta(minutes=RHYTHMS[number % len(RHYTHMS)])
        self._first_at = START - 40 * self.gap + (number * timedelta(seconds=97)) % self.gap
        self._number = number
        self._clock = clock
        self.asked_at: list[datetime] = []

    def posts_until(self, moment: datetime) -> int:
        return (moment - self._first_at) // self.gap + 1

    def answer(self, asked: Asked) -> Answer:
        self.asked_at.append(self._clock())
        newest = self.posts_until(self._clock())
        etag = f'"{newest}"'
        if asked.fields.get("if-none-match") == etag:
            return Answer(status=304, fields=(("ETag", etag),))
        items = "".join(
            f"<item><guid>{self._number}-{n}</guid><title>Post {n}</title>"
            f"<pubDate>{format_datetime(self._first_at + (n - 1) * self.gap, usegmt=True)}</pubDate></item>"
            for n in range(newest, newest - POSTS_IN_FEED, -1)
        )
        body = f"<rss version='2.0'><channel><title>Feed {self._number}</title>{items}</channel></rss>"
        return Answer(body=body.encode(), fields=(("ETag", etag), ("Content-Type", "application/rss+xml")))


class _Silent:
    """A listener that counts what was recorded."""

    def __init__(self) -> None:
        self.visits = 0
        self.entries_new = 0

    def on_claims(self, claims: Sequence[Claim]) -> None:
        pass

    def on_visit(self, visit: Visit, source: Source, decision: Decision, recorded: Recorded) -> None:
        self.visits += 1
        self.entries_new += recorded.entries_new

    def on_phase(self) -> None:
        pass

    def on_idle(self, ready_at: datetime | None) -> None:
        pass


async def _two_hours(settings: Settings, clock: _Clock, listener: _Silent) -> None:
    budget = app.domain_budget(settings, 1)
    async with StoreBridge(lambda: app.open_store(settings)) as bridge, Fetcher(settings, now=clock) as fetcher:
        while clock.at <= START + timedelta(hours=2):
            broker = Broker(
                bridge,
                LocalDispatcher(fetcher, settings, clock, budget),
                budget,
                settings,
                now=clock,
                owner=f"test:{clock.at}",
                listener=listener,
                walk=ShardWalk(),
            )
            await broker.run(Bounds(round_at=clock.at))
            clock.at += STEP
    clock.at -= STEP


@contextmanager
def _many_files() -> Iterator[None]:
    """Each of the site's hosts has a listening socket."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.timeout(300)
def test_two_hours_of_24_rhythms_follow_the_schedule_and_page_metrics_and_store_agree(tmp_path: Path) -> None:
    settings = Settings(
        store=f"sqlite:///{tmp_path}/two-hours.db",
        allow_networks=("127.0.0.0/8",),
        delay_seconds=0.0,
        interval_min_seconds=INTERVAL_MIN.total_seconds(),
    )
    clock, listener = _Clock(), _Silent()
    feeds = [_Feed(number, clock) for number in range(FEEDS)]
    with _many_files(), ScriptedSite() as site, closing(app.open_store(settings)) as store:
        urls = [site.put(n // FEEDS_PER_HOST + 1, f"/{n}", feed.answer) for n, feed in enumerate(feeds)]
        store.frontier.add([NewSource(url=url) for url in urls], START)
        asyncio.run(_two_hours(settings, clock, listener))

        asked = len(site.asked)
        overlaps = site.overlaps()
        stored = Counter(each.feed_url for each in store.entries.recent(EntryFilter()))
        counts = store.statistics.counts(clock.at)
        statistics = store.statistics
        minutes = statistics.minutes(START, clock.at + STEP)
        # A minute later, so that the last one is whole and in the page's bins.
        seen_at = clock.at + STEP
        day = read_series(DAY)(store, seen_at)
        page = overview(FactsReader().read(store, seen_at), None, day, day)
        metrics = render(read_numbers(store, seen_at), None, Process(version="1", memory_bytes=0, cpu_s=0.0))

    visits_by_rhythm: defaultdict[timedelta, Counter[int]] = defaultdict(Counter)
    for feed in feeds:
        visits_by_rhythm[feed.gap][len(feed.asked_at)] += 1
        usual = feed.gap / 2
        least, most = max(INTERVAL_MIN, 0.9 * usual), max(INTERVAL_MIN, usual) + STEP
        gaps = [later - earlier for earlier, later in itertools.pairwise(feed.asked_at)]

        assert feed.asked_at[0] == START
        assert [gap for gap in gaps if not least <= gap <= most] == []
        assert clock.at - feed.asked_at[-1] < most
    assert len(visits_by_rhythm) == len(RHYTHMS)
    assert overlaps == []
    assert [
        (feed.posts_until(feed.asked_at[-1]) - feed.posts_until(START)) + POSTS_IN_FEED - stored[url]
        for feed, url in zip(feeds, urls, strict=True)
    ] == [0] * FEEDS

    samples = dict(line.rsplit(" ", 1) for line in metrics.splitlines() if not line.startswith("#"))
    numbers = {stat.label: f"{stat.number} | {stat.sub}" for stat in page.stats}

    assert asked == listener.visits == sum(len(feed.asked_at) for feed in feeds)
    assert sum(each.visits for each in minutes) == asked
    assert sum(each.entries_new for each in minutes) == listener.entries_new == stored.total() == counts.entries
    assert asked == sum(float(value) for name, value in samples.items() if name.startswith("junkai_visits_total{"))
    assert asked == day.visits == float(samples["junkai_visit_seconds_count"])
    assert stored.total() == float(samples["junkai_entries_new_total"]) == day.entries_new
    assert (
        numbers["Feeds on the rounds"]
        == f"{FEEDS:,} | on {wording.hosts(counts.hosts)}, {wording.entries(counts.entries)}"
    )
    assert numbers["New entries an hour"].endswith(f"| {wording.count(stored.total())} in 24 h")
    assert float(samples['junkai_sources{state="fetched"}']) == FEEDS
