"""What the first page says, from facts."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from junkai import visitlog
from junkai.backend.listed import FailingFeed, Freshness, HeldHost, MinuteCount
from junkai.errors import FailureKind
from junkai.fleet import Backlog, Heartbeat, Phase
from junkai.model import CrawlState, Failed, RateLimited, Visit
from junkai.web.overview import Overview, overview
from junkai.web.series import DAY, HOUR, SPANS, series
from junkai.web.shown import outside
from scene_of_the_page import COUNTS, NOW, ago, broker, facts, new_entry, no_day, snapshot

MINUTE = timedelta(minutes=1)


def page(**different: Any) -> Overview:
    found = facts(**different)
    return overview(found, snapshot(), found.hour, no_day())


def stat(shown: Overview, label: str) -> str:
    return next(f"{stat.number} {stat.unit}".strip() for stat in shown.stats if stat.label == label)


def failing(**different: Any) -> FailingFeed:
    usual = FailingFeed(
        source_id=1, url="https://u:secret@blog.example/feed", title="Blog", state=CrawlState.FETCH_ERROR,
        error="not found: HTTP 404", http_status=404, attempts=3, last_visit_at=ago(60), due_at=NOW + 90 * MINUTE,
    )  # fmt: skip
    return replace(usual, **different)


# ── the sentence ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_system_that_keeps_up_says_so() -> None:
    shown = page()

    assert ("Keeping up", "Nothing due has waited longer than 5 min.") == shown.standing
    assert "ok" == shown.colour
    assert "2 hosts on hold and 20 feeds failing; the others go on." == shown.lede


def test_waiting_for_a_broker_is_falling_behind() -> None:
    backlog = Backlog(at=NOW, free=6_140, turn=9, oldest_free_at=ago(1_500), oldest_due_at=ago(1_600))

    assert "held" == page(backlog=backlog).colour
    assert (
        "Falling behind",
        "6,140 sources could be asked and wait for a free broker, one for 25 min.",
    ) == page(backlog=backlog).standing


def test_waiting_for_a_host_is_not() -> None:
    backlog = Backlog(at=NOW, turn=900, oldest_due_at=ago(7_200))

    assert (
        "No broker is waited for; the longest wait, 2 h, is for a host's turn."
        == page(backlog=backlog).standing.sentence
    )


@pytest.mark.parametrize(
    ("different", "word", "colour"),
    [
        ({"brokers": ()}, "No broker runs", "failed"),
        ({"brokers": (broker(silent_s=100),)}, "No broker answers", "failed"),
        ({"brokers": (broker(silent_s=100), broker(2))}, "Keeping up", "ok"),
        ({"is_draining": True}, "Stopping", "paused"),
    ],
)
def test_what_is_wrong_with_the_brokers_comes_first(different: Any, word: str, colour: str) -> None:
    shown = overview(facts(), snapshot(**different), facts().hour, no_day())

    assert (word, colour) == (shown.standing.word, shown.colour)


def test_a_manager_that_does_not_answer_is_no_reason_to_hide_the_store() -> None:
    shown = overview(facts(), None, facts().hour, no_day())

    assert ("No answer", "failed", ()) == (shown.standing.word, shown.colour, shown.brokers)
    assert "1,000" not in shown.standing.sentence
    assert "995" == stat(shown, "Feeds on the rounds")


def test_the_managers_trouble_is_told_word_for_word() -> None:
    shown = overview(facts(), snapshot(trouble="The new version does not start."), facts().hour, no_day())

    assert "The new version does not start." == shown.trouble


def test_an_empty_store_says_what_to_do() -> None:
    counts = replace(COUNTS, sources=0, hosts=0, entries=0, due=0, held=0, in_turn=0, by_state={})
    shown = page(counts=counts, backlog=Backlog(at=NOW), freshness=Freshness())

    assert "Nothing to visit yet" == shown.standing.word
    assert "`junkai add URL`" in shown.standing.sentence
    assert (None, (), (), ()) == (shown.chart, shown.failing, shown.held, shown.newest)
    assert "–" == stat(shown, "Freshness").split(" ")[0]


# ── numbers ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_numbers_are_those_of_the_store() -> None:
    counts = [
        MinuteCount(at=NOW.replace(second=0) - ago_min * MINUTE, outcome=outcome, visits=visits, entries_new=new)
        for ago_min in range(1, 31)
        for outcome, visits, new in (("new", 100, 130), ("same", 500, 0), ("failed", 20, 0))
    ]
    hour, day = series(counts, HOUR, NOW), series(counts, DAY, NOW)

    shown = overview(facts(hour=hour), snapshot(), hour, day)

    assert "620" == stat(shown, "Visits a minute")
    assert "7 feeds" == stat(shown, "Due now")
    assert "31 min median" == stat(shown, "Freshness")
    assert "3,900" == stat(shown, "New entries an hour")
    assert "20 2.0 %" == stat(shown, "Failing feeds")
    assert "995" == stat(shown, "Feeds on the rounds")
    assert shown.chart is not None
    assert [("New entries", "100"), ("Not modified", "500"), ("Redirected", "0"), ("Failed", "20")] == [
        (item.word, item.number) for item in shown.chart.legend[:4]
    ]


def test_in_the_first_minute_of_all_the_brokers_say_how_fast_it_goes() -> None:
    assert "369" == stat(page(), "Visits a minute")


def test_the_chart_says_what_is_planned() -> None:
    planned = tuple((NOW.replace(second=0) + number * MINUTE, 60) for number in range(30))

    shown = page(planned=planned)

    assert shown.chart is not None
    assert "the past hour, and what falls due in the next 30 minutes" == shown.chart.words
    assert ("Planned", "60") == (shown.chart.legend[-1].word, shown.chart.legend[-1].number)
    assert "60 feeds a minute fall due in the next 30 minutes." == shown.chart.planned_words


def test_as_a_table_each_bin_is_a_row_the_newest_first() -> None:
    counts = [MinuteCount(at=NOW.replace(second=0) - 7 * MINUTE, outcome="failed", visits=1_234)]
    shown_span = series(counts, SPANS["6h"], NOW)

    shown = overview(facts(), snapshot(), shown_span, no_day(), is_table=True)

    assert shown.chart is not None
    assert 72 == len(shown.chart.rows)
    moment, numbers = shown.chart.rows[1]
    assert ("13:40", ("0", "0", "0", "1,234", "0", "0", "1,234")) == (moment.text, numbers)
    assert "/?span=6h" == shown.chart.other_view_href


def test_a_link_to_another_span_keeps_the_view() -> None:
    hour = facts().hour

    shown = overview(facts(), snapshot(), hour, no_day(), is_table=True)

    assert ["/?span=1h&view=table", "/?span=6h&view=table", "/?span=24h&view=table", "/?span=7d&view=table"] == [
        span.href for span in shown.spans
    ]
    assert [True, False, False, False] == [span.is_current for span in shown.spans]


def test_what_is_due_is_split_by_whom_it_waits_for() -> None:
    due = page().due

    assert ("3", "4", "0") == (due.free, due.turn, due.held)
    assert "Ours to fix. Longest 20 s; under 1 min is fine." == due.free_hint
    [free, turn] = due.bar
    assert pytest.approx(3 / 4, rel=0.01) == free[1] / turn[1]


def test_a_count_that_was_cut_off_says_so() -> None:
    assert "100 k+ feeds" == stat(page(backlog=Backlog(at=NOW, turn=100_000, is_capped=True)), "Due now")


# ── rows ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_failing_feed_says_why_and_when_it_is_asked_next() -> None:
    [row] = page(failing=(failing(),)).failing

    assert ("Failed", "failed", "Blog") == (row.word, row.colour, row.title)
    assert "Not found: HTTP 404. 3 visits in a row." == row.sentence
    assert row.next_visit is not None
    assert "in 2 h" == row.next_visit.text
    assert "https://blog.example/feed" == row.url


def test_a_feed_without_a_title_is_called_by_its_address_and_no_password_is_shown() -> None:
    [row] = page(failing=(failing(title=""),)).failing

    assert ("https://blog.example/feed", "") == (row.title, row.url)


def test_a_feed_that_is_gone_is_not_asked_again() -> None:
    [row] = page(failing=(failing(state=CrawlState.ERROR, http_status=410, due_at=None),)).failing

    assert ("Gone", "gone", None) == (row.word, row.colour, row.next_visit)


def test_a_feed_whose_host_asked_us_to_wait_is_held() -> None:
    log = b""
    for outcome in (Failed(kind=FailureKind.STATUS, status=404), RateLimited(status=429)):
        visit = Visit(source_id=1, url="https://a.example/", started_at=ago(60), ended_at=ago(59), outcome=outcome)
        log = visitlog.appended(log, visit)

    [row] = page(failing=(failing(recent=log),)).failing

    assert ("Held", "held") == (row.word, row.colour)
    assert "Last 2 visits: 1 failed, 1 rate limited. Latest: rate limited." == row.strip_sentence
    assert ["f-failed", "s-held"] == [path.colour for path in row.strip]


def test_a_held_host_says_until_when_and_a_blocked_one_that_it_is_the_operators_word() -> None:
    held = HeldHost(host="a.example", why="rate limited (HTTP 429)", until=NOW + 32 * MINUTE, sources=1_012)
    blocked = HeldHost(host="b.example", why="blocked", until=None, sources=3)

    [first, second] = page(held=(held, blocked)).held

    assert first.until is not None
    assert ("14:20", "1,012") == (first.until.text, first.feeds)
    assert (None, "by the operator's word") == (second.until, second.why)


def test_a_broker_says_what_it_does() -> None:
    rows = (
        broker(),
        broker(2, silent_s=40),
        broker(3, heartbeat=Heartbeat(phase=Phase.SLEEPING)),
        broker(4, heartbeat=Heartbeat(phase=Phase.DRAINING)),
        broker(5, heartbeat=Heartbeat(phase=Phase.STARTING)),
    )

    shown = overview(facts(), snapshot(brokers=rows, brokers_wanted=5, restarts=3, killed=1), facts().hour, no_day())

    assert [
        "Shard 37, pass of 1.2 min", "Silent for 40 s", "Sleeping: nothing is ready",
        "Ending, once what it has is recorded", "Starting",
    ] == [row.doing for row in shown.brokers]  # fmt: skip
    assert ("broker 1 · 4001", "12", "184", "58 MB") == (
        shown.brokers[0].name, shown.brokers[0].in_turn, shown.brokers[0].visits_a_minute, shown.brokers[0].memory,
    )  # fmt: skip
    assert "4 of 5; 3 replaced, 1 of them killed for being late or silent" == shown.brokers_words


def test_a_new_entry_has_its_title_its_feed_and_its_age() -> None:
    [row] = page(newest=(new_entry(language="ja"),)).newest

    assert ("A title", "A blog", "12 s ago", "ja") == (row.title, row.feed_title, row.seen.text, row.language)
    assert "2026-11-27T13:48:08Z" == row.seen.iso
    assert "Fri 27 Nov 2026, 13:48:08 UTC" == row.seen.title


@pytest.mark.parametrize("url", ["http://a.example/", "HTTPS://a.example/"])
def test_a_link_leads_outside_over_http(url: str) -> None:
    assert url == outside(url)


@pytest.mark.parametrize(
    "url",
    [
        None,
        "",
        "javascript:alert(1)",
        " https://a.example/",
        "data:text/html,x",
        "https:/a",
        "//a.example/",
        "ftp://a/",
    ],
)
def test_no_link_leads_anywhere_else(url: str | None) -> None:
    assert outside(url) is None
