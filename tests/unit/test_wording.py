"""What people are told of a source, a host, a moment."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from junkai import visitlog, wording
from junkai.backend.listed import FailingFeed, FeedRow, HostRow
from junkai.model import CrawlState, Gone, Hold, Move, NotModified, Source, SourceState, Visit

NOW = datetime(2026, 11, 27, 13, 48, tzinfo=UTC)
HOUR = timedelta(hours=1)


def row(state: SourceState, *, is_paused: bool = False, **host: object) -> FeedRow:
    source = Source(source_id=1, url="https://blog.example/feed", host="blog.example", state=state)
    plain = FeedRow(source=source, owners=("",), groups=(), title="Blog", entries=3, is_paused=is_paused, added_at=NOW)
    return replace(plain, **host)


def fetched(**facts: object) -> SourceState:
    state = SourceState(state=CrawlState.FETCHED, due_at=NOW + HOUR, why="posts about every 2 h", last_visit_at=NOW)
    return replace(state, **facts)


def host_row(**facts: object) -> HostRow:
    plain = HostRow(
        host="blog.example",
        domain="blog.example",
        slots=1,
        delay_s=1.0,
        sources=3,
        due=1,
        ready_at=NOW,
        not_before=None,
        hold=None,
        lease_until=None,
        owner=None,
        is_exempt=False,
        is_blocked=False,
    )
    return replace(plain, **facts)


# ── the next visit ───────────────────────────────────────────────────────────────────────────────────────────────


def test_a_source_is_visited_when_its_own_moment_comes() -> None:
    actual = wording.next_visit(row(fetched()))

    assert (NOW + HOUR, "posts about every 2 h") == actual


def test_a_hold_that_ends_later_decides_and_says_why() -> None:
    actual = wording.next_visit(row(fetched(), host_not_before=NOW + 2 * HOUR, host_hold_why="rate limited (HTTP 429)"))

    assert (NOW + 2 * HOUR, "rate limited (HTTP 429)") == actual


def test_a_hold_that_ends_sooner_decides_nothing() -> None:
    actual = wording.next_visit(row(fetched(), host_not_before=NOW, host_hold_why="rate limited (HTTP 429)"))

    assert (NOW + HOUR, "posts about every 2 h") == actual


def test_a_floor_without_a_hold_is_the_delay() -> None:
    actual = wording.next_visit(row(fetched(), host_not_before=NOW + 2 * HOUR))

    assert (NOW + 2 * HOUR, "the host's delay between two requests") == actual


def test_a_paused_source_has_no_next_visit() -> None:
    actual = wording.next_visit(row(fetched(), is_paused=True))

    assert (None, "paused by the operator") == actual


def test_a_source_that_is_gone_has_no_next_visit() -> None:
    actual = wording.next_visit(row(fetched(state=CrawlState.ERROR, due_at=None, why="gone for good (HTTP 410)")))

    assert (None, "gone for good (HTTP 410)") == actual


# ── standings ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("feed", "word", "sentence"),
    [
        (
            row(SourceState(due_at=NOW), added_at=NOW - timedelta(seconds=40)),
            "Not visited yet",
            "Added 40 s ago; no visit so far.",
        ),
        (row(fetched()), "Not modified", "Visited now: nothing new."),
        (
            row(fetched(state=CrawlState.FETCH_ERROR, error="not found: HTTP 404", attempts=9)),
            "Failed",
            "Not found: HTTP 404. 9 visits in a row.",
        ),
        (
            row(fetched(state=CrawlState.ERROR, due_at=None, http_status=410)),
            "Gone",
            "The server says that it is gone for good (410). No more visits.",
        ),
        (
            row(fetched(state=CrawlState.REDIRECTION, pending_url="https://new.example/feed")),
            "Redirected",
            "On its way to https://new.example/feed, asked there next.",
        ),
        (
            row(fetched(move=Move(to="https://new.example/feed", seen=6, first_seen_at=NOW))),
            "Moving",
            "Permanently redirected to https://new.example/feed, seen on 6 visits.",
        ),
        (
            row(fetched(due_at=NOW), host_not_before=NOW + HOUR, host_hold_why="rate limited (HTTP 429)"),
            "Held",
            "Its host is held until 14:48 UTC: rate limited (HTTP 429).",
        ),
        (
            row(fetched(), is_paused=True),
            "Paused",
            "Paused by the operator. Its entries stay; `junkai resume` starts it again.",
        ),
    ],
)
def test_a_source_stands_as_its_facts_say(feed: FeedRow, word: str, sentence: str) -> None:
    actual = wording.standing(feed, NOW)

    assert (word, sentence) == actual


def test_a_visit_that_brought_nothing_is_not_modified() -> None:
    visit = Visit(source_id=1, url="https://blog.example/", started_at=NOW, ended_at=NOW, outcome=NotModified())

    actual = wording.standing(row(fetched(recent=visitlog.appended(b"", visit))), NOW).word

    assert actual == "Not modified"


def test_every_result_of_a_visit_has_a_word() -> None:
    assert set(visitlog.VisitResult) == set(wording.RESULT_WORDS)
    assert wording.RESULT_WORDS[visitlog.result_of(Gone(status=410))] == "gone"


# ── hosts ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("host", "word", "sentence"),
    [
        (host_row(), "Ready", "Ready: asked as soon as a crawl has a turn for it; 1 source due."),
        (host_row(ready_at=NOW + HOUR), "Waiting", "Asked next in 60 min, 14:48 UTC."),
        (host_row(ready_at=None), "Nothing due", "Nothing to ask it for: no source here is visited again."),
        (
            host_row(hold=Hold(until=NOW + HOUR, why="rate limited (HTTP 503)")),
            "Held",
            "Not asked until 14:48 UTC: rate limited (HTTP 503).",
        ),
        (
            host_row(lease_until=NOW + HOUR, owner="crawl 7"),
            "In a turn",
            "Being asked now, by crawl 7, until 14:48 UTC at the latest.",
        ),
        (
            host_row(is_blocked=True),
            "Blocked",
            "Blocked by the operator: never asked. `junkai host HOST --unblock` lifts that.",
        ),
    ],
)
def test_a_host_stands_as_its_facts_say(host: HostRow, word: str, sentence: str) -> None:
    actual = wording.host_standing(host, NOW)

    assert (word, sentence) == actual


def test_an_explanation_goes_through_every_rule() -> None:
    actual = wording.host_explanation(host_row(slots=2, is_exempt=True, not_before=NOW + HOUR), NOW)

    assert [
        "Ready: asked as soon as a crawl has a turn for it; 1 source due.",
        "The floor: no request before 14:48 UTC, in 60 min.",
        "The delay: at least 1 s from the end of a request to the start of the next.",
        "Slots: up to 2 requests at a time, for 3 sources.",
        "Holds: none.",
        "Turns: in none now.",
        "Exempt: an answer of 429 or 503 does not hold it.",
    ] == actual


# ── moments and numbers ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0, "now"),
        (-8, "8 s ago"),
        (89, "in 89 s"),
        (-90, "2 min ago"),
        (43 * 60, "in 43 min"),
        (91 * 60, "in 2 h"),
        (-35 * 3600, "35 h ago"),
        (3 * 86_400, "in 3 days"),
        (-21 * 86_400, "3 weeks ago"),
    ],
)
def test_a_moment_is_told_from_now(seconds: float, expected: str) -> None:
    actual = wording.relative(NOW + timedelta(seconds=seconds), NOW)

    assert expected == actual


def test_a_moment_that_is_not_known_is_a_dash() -> None:
    assert ("–", "–") == (wording.relative(None, NOW), wording.clock(None, NOW))


def test_a_moment_on_another_day_has_its_date() -> None:
    actual = wording.clock(NOW + timedelta(days=1), NOW)

    assert actual == "2026-11-28 13:48 UTC"


@pytest.mark.parametrize(
    ("number", "expected"), [(0, "0"), (99_999, "99,999"), (226_400, "226 k"), (12_345_678, "12.3 M")]
)
def test_a_count_is_exact_while_it_can_be_read(number: int, expected: str) -> None:
    assert expected == wording.count(number)


@pytest.mark.parametrize(
    ("number", "expected"),
    [(0, "0 B"), (999, "999 B"), (1_000, "1.0 KB"), (11_402, "11 KB"), (9_999, "10 KB"), (2_500_000, "2.5 MB")],
)
def test_bytes_are_told_in_thousands(number: int, expected: str) -> None:
    assert expected == wording.size(number)


# ── the system, and rates ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("number", "expected"),
    [(0, "0"), (0.04, "0"), (0.25, "0.2"), (9.94, "9.9"), (9.96, "10"), (713.4, "713"), (250_000, "250 k")],
)
def test_a_rate_has_a_decimal_only_where_it_is_small(number: float, expected: str) -> None:
    assert expected == wording.rate(number)


def test_a_stamp_is_to_the_second_and_says_its_zone() -> None:
    assert "Fri 27 Nov 2026, 13:48:00 UTC" == wording.stamp(NOW)


def test_a_failing_feed_is_told_of_as_the_lists_do() -> None:
    state = fetched(state=CrawlState.FETCH_ERROR, error="not found: HTTP 404", http_status=404, attempts=3)
    feed = FailingFeed(
        source_id=1, url="https://blog.example/feed", title="Blog", state=state.state, error="not found: HTTP 404",
        http_status=404, attempts=3, last_visit_at=NOW, due_at=NOW + HOUR,
    )  # fmt: skip

    assert wording.standing(row(state), NOW) == wording.failing(feed)


def test_one_of_a_thing_has_no_plural() -> None:
    assert ("1 feed", "2 feeds", "1 host", "0 hosts") == (
        wording.feeds(1), wording.feeds(2), wording.hosts(1), wording.hosts(0),
    )  # fmt: skip
