"""The pass on a scripted site: what is asked, in what order and when, and what the store holds afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from junkai import app
from junkai.backend.listed import EntryFilter, FeedFilter, FeedRow
from junkai.backend.protocol import NewSource, Recorded
from junkai.clock import utc_now
from junkai.config import Settings
from junkai.errors import FailureKind
from junkai.fleet import Summary
from junkai.model import CrawlState, Decision, Failed, RateLimited, Source, Visit
from junkai.recorder import RECORD_SECONDS
from scripted_site import Answer, Asked, ScriptedSite


def rss(*ids: str) -> bytes:
    items = "".join(f"<item><guid>{each}</guid><title>{each}</title></item>" for each in ids)
    return f"<rss version='2.0'><channel><title>t</title>{items}</channel></rss>".encode()


class Watch:
    """A listener that keeps what it is told."""

    def __init__(self) -> None:
        self.total = 0
        self.visits: list[tuple[Visit, Recorded]] = []

    def on_round(self, total: int) -> None:
        self.total = total

    def on_idle(self, ready_at: datetime | None) -> None:
        pass

    def on_stop(self) -> None:
        pass

    def on_visit(self, visit: Visit, source: Source, decision: Decision, recorded: Recorded) -> None:
        assert visit.source_id == source.source_id
        assert decision.state.last_visit_at == visit.started_at
        self.visits.append((visit, recorded))


class Crawl:
    """A store and the settings to crawl it with."""

    def __init__(self, folder: Path) -> None:
        self.settings = Settings(
            store=f"sqlite:///{folder}/test.db",
            allow_networks=("127.0.0.0/8",),
            delay_seconds=0.05,
            fetch_deadline_seconds=2.0,
            lease_seconds=10.0,
        )

    def add(self, *urls: str) -> None:
        with closing(app.open_store(self.settings)) as store:
            store.frontier.add([NewSource(url=url) for url in urls], utc_now())

    def round(self, *, is_all: bool = False, visits_max: int | None = None) -> tuple[Summary, Watch]:
        watch = Watch()
        summary = app.crawl(self.settings, is_once=True, is_all=is_all, visits_max=visits_max, progress=watch)
        return summary, watch

    def feeds(self) -> dict[str, FeedRow]:
        with closing(app.open_store(self.settings)) as store:
            return {row.source.url: row for row in store.catalogue.feeds(FeedFilter())}

    def entries(self) -> Counter[tuple[str, str]]:
        with closing(app.open_store(self.settings)) as store:
            return Counter((each.feed_url, each.entry.id) for each in store.entries.recent(EntryFilter()))


@pytest.fixture
def crawl(tmp_path: Path) -> Crawl:
    return Crawl(tmp_path)


@pytest.fixture
def site() -> Iterator[ScriptedSite]:
    with ScriptedSite() as running:
        yield running


def paths(asked: Iterable[object]) -> list[str]:
    return [each.path for each in asked]  # type: ignore[attr-defined]  # they are Asked


def test_a_round_visits_each_due_source_once_and_the_next_round_has_nothing_to_do(
    crawl: Crawl, site: ScriptedSite
) -> None:
    urls = [site.put(host, f"/{n}", rss(f"{host}-{n}")) for host in (1, 2, 3) for n in range(4)]
    crawl.add(*urls)
    first, watch = crawl.round()
    second, _ = crawl.round()

    assert (first.visits, first.ok, first.entries_new, watch.total) == (12, 12, 12, 12)
    assert second.visits == 0
    assert Counter(f"http://{each.host}{each.path}" for each in site.asked) == dict.fromkeys(urls, 1)
    assert site.overlaps() == []
    assert site.gaps_below(0.05) == []
    assert max((recorded.entries_new for _, recorded in watch.visits)) == 1


def test_a_forced_round_is_conditional_and_stores_nothing_new(crawl: Crawl, site: ScriptedSite) -> None:
    crawl.add(site.put(1, "/f", rss("a", "b")))
    crawl.round()
    summary, _ = crawl.round(is_all=True)

    assert [each.is_conditional for each in site.asked] == [False, True]
    assert (summary.not_modified, summary.entries_new) == (1, 0)


def test_the_limit_bounds_the_visits_of_a_round(crawl: Crawl, site: ScriptedSite) -> None:
    crawl.add(*[site.put(host, f"/{n}", rss("a")) for host in (1, 2, 3) for n in range(5)])
    summary, _ = crawl.round(visits_max=7)

    assert summary.visits == 7
    assert len(site.asked) == 7


def test_a_redirect_at_the_same_host_is_followed_in_the_turn_after_the_delay(crawl: Crawl, site: ScriptedSite) -> None:
    site.put(1, "/new", rss("a"))
    crawl.add(site.put(1, "/old", Answer(status=302, fields=(("Location", "/new"),))))
    summary, _ = crawl.round()

    assert (summary.ok, summary.visits) == (1, 1)
    assert paths(site.asked) == ["/old", "/new"]
    assert site.gaps_below(0.05) == []


def test_a_redirect_to_another_host_is_asked_there_in_a_turn_and_returns_to_its_own_url(
    crawl: Crawl, site: ScriptedSite
) -> None:
    target = site.put(2, "/new", rss("a"))
    old = site.put(1, "/old", Answer(status=302, fields=(("Location", target),)))
    crawl.add(old)
    first, _ = crawl.round()
    row = crawl.feeds()[old]
    second, _ = crawl.round(is_all=True)

    assert (first.redirected, first.ok, first.entries_new) == (1, 1, 1)
    assert (row.source.state.state, row.source.state.pending_url) == (CrawlState.FETCHED, None)
    assert (second.redirected, second.not_modified) == (1, 1)
    assert paths(site.asked) == ["/old", "/new", "/old", "/new"]
    assert [each.is_conditional for each in site.asked] == [False, False, False, True]
    assert crawl.entries() == {(old, "a"): 1}


def test_a_chain_over_many_hosts_ends_at_the_bound(crawl: Crawl, site: ScriptedSite) -> None:
    for host in range(1, 20):
        site.put(host, "/f", Answer(status=302, fields=(("Location", site.url(host + 1, "/f")),)))
    crawl.add(site.url(1, "/f"))
    summary, watch = crawl.round()
    last = watch.visits[-1][0].outcome

    assert summary.failed == 1
    assert isinstance(last, Failed)
    assert last.kind == FailureKind.REDIRECTS
    assert len(site.asked) <= 11


def test_two_hosts_that_redirect_to_each_other_are_a_loop(crawl: Crawl, site: ScriptedSite) -> None:
    site.put(1, "/f", Answer(status=301, fields=(("Location", site.url(2, "/f")),)))
    site.put(2, "/f", Answer(status=301, fields=(("Location", site.url(1, "/f")),)))
    crawl.add(site.url(1, "/f"))
    summary, _ = crawl.round()

    assert summary.failed == 1
    assert len(site.asked) == 2


def test_a_rate_limit_ends_the_turn_and_holds_the_host_but_no_other(crawl: Crawl, site: ScriptedSite) -> None:
    limited = Answer(status=429, fields=(("Retry-After", "3600"),))
    crawl.add(*[site.put(1, f"/{n}", limited) for n in range(5)], site.put(2, "/f", rss("a")))
    first, watch = crawl.round()
    second, _ = crawl.round(is_all=True)

    assert (first.ok, first.failed, first.skipped) == (1, 1, 4)
    assert sum(isinstance(visit.outcome, RateLimited) for visit, _ in watch.visits) == 1
    assert second.skipped == 5
    assert len(site.asked_at(1)) == 1


def test_a_gone_source_is_never_asked_again(crawl: Crawl, site: ScriptedSite) -> None:
    gone = site.put(1, "/f", Answer(status=410))
    crawl.add(gone)
    crawl.round()
    second, _ = crawl.round(is_all=True)

    assert second.visits == 0
    assert crawl.feeds()[gone].source.state.state == CrawlState.ERROR


def test_an_error_page_keeps_validators_and_entries(crawl: Crawl, site: ScriptedSite) -> None:
    html = Answer(body=b"<!doctype html><title>maintenance</title>", fields=(("Content-Type", "text/html"),))
    feed = Answer(body=rss("a"), fields=(("ETag", '"one"'), ("Last-Modified", "Tue, 01 Dec 2026 00:00:00 GMT")))
    url = site.put(1, "/f", [feed, html, Answer(status=304)])
    crawl.add(url)
    summaries = [crawl.round(is_all=True)[0] for _ in range(3)]

    assert [summary.failed for summary in summaries] == [0, 1, 0]
    assert [each.fields.get("if-none-match") for each in site.asked] == [None, '"one"', '"one"']
    assert crawl.entries() == {(url, "a"): 1}


def test_the_same_bytes_with_new_validators_store_nothing_and_the_new_pair_is_sent_next(
    crawl: Crawl, site: ScriptedSite
) -> None:
    answers = [Answer(body=rss("a"), fields=(("ETag", f'"{n}"'), ("Last-Modified", f"day {n}"))) for n in (1, 2, 3)]
    crawl.add(site.put(1, "/f", list(answers)))
    summaries = [crawl.round(is_all=True)[0] for _ in range(3)]
    sent = [(each.fields.get("if-none-match"), each.fields.get("if-modified-since")) for each in site.asked]

    assert [summary.entries_new for summary in summaries] == [1, 0, 0]
    assert sent == [(None, None), ('"1"', "day 1"), ('"2"', "day 2")]


def test_an_edit_updates_the_entry_and_counts_a_revision(crawl: Crawl, site: ScriptedSite) -> None:
    url = site.put(1, "/f", [rss("a", "b"), rss("a", "b").replace(b"<title>a", b"<title>A")])
    crawl.add(url)
    crawl.round()
    summary, _ = crawl.round(is_all=True)
    with closing(app.open_store(crawl.settings)) as store:
        stored = {each.entry.id: (each.entry.title, each.revision) for each in store.entries.recent(EntryFilter())}

    assert (summary.entries_new, summary.entries_updated) == (0, 1)
    assert stored == {"a": ("A", 2), "b": ("b", 1)}


def test_a_site_that_drips_ends_by_the_deadline_and_delays_no_other(crawl: Crawl, site: ScriptedSite) -> None:
    crawl.settings = replace(crawl.settings, fetch_deadline_seconds=0.5)
    site.put(1, "/f", Answer(body=rss("a") * 50, piece_bytes=1, piece_pause_s=0.05))
    crawl.add(site.url(1, "/f"), *[site.put(host, "/f", rss("a")) for host in range(2, 30)])
    summary, watch = crawl.round()
    failed = [visit.outcome for visit, _ in watch.visits if isinstance(visit.outcome, Failed)]

    assert (summary.ok, summary.failed) == (28, 1)
    assert [each.kind for each in failed] == [FailureKind.DEADLINE]


def test_a_document_cut_short_hides_nothing_behind_a_304(crawl: Crawl, site: ScriptedSite) -> None:
    whole = rss("a", "b", "c")
    etag = ("ETag", '"v"')

    def answer(asked: Asked) -> Answer:
        if asked.fields.get("if-none-match") == '"v"':
            return Answer(status=304)
        body = whole if len(site.asked) > 1 else whole[: whole.index(b"<item><guid>c")]
        return Answer(body=body, is_close_delimited=True, fields=(etag,))

    url = site.put(1, "/f", answer)
    crawl.add(url)
    for _ in range(3):
        crawl.round(is_all=True)

    assert [each.status for each in site.asked] == [200, 200, 304]
    assert crawl.entries() == {(url, "a"): 1, (url, "b"): 1, (url, "c"): 1}


def test_a_document_that_stays_cut_short_is_taken_for_all_there_is(crawl: Crawl, site: ScriptedSite) -> None:
    url = site.put(1, "/f", rss("a", "b")[:-20])
    crawl.add(url)
    for _ in range(3):
        crawl.round(is_all=True)

    assert [each.status for each in site.asked] == [200, 200, 304]
    assert crawl.entries() == {(url, "a"): 1, (url, "b"): 1}


@pytest.mark.parametrize("status", [b"70000", b"999", b"99", b"0", b"2000", b"abc"])
def test_a_status_that_http_does_not_have_is_a_failure_and_no_fault_of_ours(
    crawl: Crawl, site: ScriptedSite, status: bytes
) -> None:
    raw = b"HTTP/1.1 " + status + b" OK\r\nContent-Length: 0\r\n\r\n"
    crawl.add(site.put(1, "/f", Answer(raw=raw)))
    summary, watch = crawl.round()

    assert (summary.visits, summary.failed) == (1, 1)
    assert isinstance(watch.visits[0][0].outcome, Failed)
    assert crawl.round()[0].visits == 0


def test_a_host_outside_the_allowed_networks_is_not_asked(crawl: Crawl, site: ScriptedSite) -> None:
    crawl.settings = replace(crawl.settings, allow_networks=())
    crawl.add(site.put(1, "/f", rss("a")))
    _, watch = crawl.round()
    outcome = watch.visits[0][0].outcome

    assert isinstance(outcome, Failed)
    assert outcome.kind == FailureKind.BLOCKED
    assert site.asked == []


def test_visits_are_recorded_within_a_quarter_of_a_second() -> None:
    assert RECORD_SECONDS < 0.25
