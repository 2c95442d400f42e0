"""`schedule.decide` as a table: each outcome, and what follows from it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from junkai.config import Settings
from junkai.document import Document, Entry, IdSource
from junkai.errors import FailureKind
from junkai.model import (
    CrawlState,
    Decision,
    Failed,
    FeedHints,
    Fetched,
    Freshness,
    Gone,
    Hop,
    Move,
    NotModified,
    Outcome,
    RateLimited,
    Redirected,
    Rhythm,
    Source,
    SourceState,
    Validators,
    Visit,
)
from junkai.schedule import decide, duration

NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)  # a Tuesday
URL = "https://blog.example/feed"
HOUR = 3_600.0
DAY = 86_400.0
SETTINGS = Settings()
HELD = Validators(url=URL, etag='"a"', last_modified="Tue, 01 Dec 2026 00:00:00 GMT")


def a_source(state: SourceState | None = None, explicit_s: float | None = None, *, is_exempt: bool = False) -> Source:
    return Source(
        source_id=7,
        url=URL,
        host="blog.example",
        explicit_interval_s=explicit_s,
        is_exempt=is_exempt,
        state=state or SourceState(due_at=NOW),
    )


def a_visit(outcome: Outcome, hops: tuple[Hop, ...] = ()) -> Visit:
    return Visit(source_id=7, url=URL, started_at=NOW, ended_at=NOW + timedelta(seconds=1), outcome=outcome, hops=hops)


def a_document(
    gap_s: float = 4 * HOUR, posts: int = 10, *, newest_ago_s: float = HOUR, ttl_s: int | None = None, news: int = 0
) -> Document:
    posted_at = tuple(NOW - timedelta(seconds=newest_ago_s + gap_s * n) for n in range(posts))
    entries = tuple(Entry(id=str(n), id_source=IdSource.ID) for n in range(news))
    return Document(format="rss", known=b"k" * 16, posted_at=posted_at, ttl_s=ttl_s, title="T", entries=entries)


def fetched(document: Document | None, fresh_s: float | None = None, validators: Validators = HELD) -> Fetched:
    return Fetched(
        status=200,
        validators=validators,
        body_hash=b"h",
        document=document,
        freshness=Freshness(fresh_s=fresh_s),
    )


def decided(outcome: Outcome, source: Source | None = None, settings: Settings = SETTINGS, **visit: object) -> Decision:
    hops = visit.get("hops", ())
    assert isinstance(hops, tuple)
    return decide(source or a_source(), a_visit(outcome, hops), settings, NOW, parser_version=3)


def wait_s(decision: Decision) -> float:
    assert decision.state.due_at is not None
    return (decision.state.due_at - NOW).total_seconds()


# Each line: what was met, the source before, the least and the most seconds until the next visit, a word of the reason.
CASES: dict[str, tuple[Outcome, SourceState | None, float, float, str]] = {
    "a feed that posts every 4 h is asked twice as often": (fetched(a_document()), None, 1.8 * HOUR, 2 * HOUR, "4 h"),
    "a busy feed is not asked below the shortest interval": (
        fetched(a_document(60.0, newest_ago_s=60)),
        None,
        HOUR,
        HOUR,
        "1 min",
    ),
    "a feed that posts monthly is asked daily": (fetched(a_document(30 * DAY)), None, 0.9 * DAY, DAY, "30 d"),
    "a feed that fell silent is asked ever more rarely": (
        fetched(a_document(HOUR, newest_ago_s=20 * HOUR)),
        None,
        4.5 * HOUR,
        5 * HOUR,
        "nothing new for 20 h",
    ),
    "a feed without dates is asked after the first guess": (
        fetched(a_document(posts=0)),
        None,
        1.8 * HOUR,
        2 * HOUR,
        "not known",
    ),
    "a feed dated in the future has no rhythm": (
        fetched(a_document(newest_ago_s=-900 * DAY)),
        None,
        1.8 * HOUR,
        2 * HOUR,
        "not known",
    ),
    "max-age is the earliest next poll": (fetched(a_document(), fresh_s=5 * HOUR), None, 5 * HOUR, 5 * HOUR, "fresh"),
    "a year of max-age is capped": (fetched(a_document(), fresh_s=365 * DAY), None, DAY, DAY, "capped"),
    "a max-age below our interval changes nothing": (
        fetched(a_document(), fresh_s=60),
        None,
        1.8 * HOUR,
        2 * HOUR,
        "posts",
    ),
    "max-age on a 304 counts": (
        NotModified(freshness=Freshness(fresh_s=7 * HOUR)),
        None,
        7 * HOUR,
        7 * HOUR,
        "freshness",
    ),
    "ttl is a lower bound": (fetched(a_document(ttl_s=int(6 * HOUR))), None, 6 * HOUR, 6 * HOUR, "ttl"),
    "a ttl that a 304 does not repeat still holds": (
        NotModified(),
        SourceState(hints=FeedHints(ttl_s=int(6 * HOUR))),
        6 * HOUR,
        6 * HOUR,
        "ttl",
    ),
    "sy:updatePeriod is a lower bound": (
        NotModified(),
        SourceState(hints=FeedHints(update_period_s=int(8 * HOUR))),
        8 * HOUR,
        8 * HOUR,
        "update period",
    ),
    "a skipped hour is passed over": (
        NotModified(),
        SourceState(hints=FeedHints(skip_hours=(13, 14, 15))),
        4 * HOUR,
        4 * HOUR,
        "skip",
    ),
    "a skipped day is passed over, up to the cap": (
        NotModified(),
        SourceState(hints=FeedHints(skip_days=(1, 2, 3))),
        DAY,
        DAY,
        "skip",
    ),
    "skipping every hour is no schedule": (
        NotModified(),
        SourceState(hints=FeedHints(skip_hours=tuple(range(24)))),
        1.8 * 1.5 * HOUR,
        2 * 1.5 * HOUR,
        "",
    ),
    "not found is slowed down at once": (
        Failed(kind=FailureKind.NOT_FOUND, status=404),
        None,
        4 * HOUR,
        4.4 * HOUR,
        "backing off",
    ),
    "forbidden is slowed down at once": (
        Failed(kind=FailureKind.FORBIDDEN, status=403),
        None,
        4 * HOUR,
        4.4 * HOUR,
        "backing off",
    ),
    "the first failure is tried again after the shortest interval": (
        Failed(kind=FailureKind.CONNECT),
        None,
        HOUR,
        1.1 * HOUR,
        "failed",
    ),
    "the third failure in a row waits four times as long": (
        Failed(kind=FailureKind.STATUS, status=500),
        SourceState(attempts=2),
        4 * HOUR,
        4.4 * HOUR,
        "3 times",
    ),
    "back-off ends at the longest interval": (
        Failed(kind=FailureKind.DEADLINE),
        SourceState(attempts=400),
        DAY,
        1.1 * DAY,
        "401 times",
    ),
    "a resolver's trouble is ours": (
        Failed(kind=FailureKind.DNS_TEMPORARY),
        SourceState(attempts=3),
        HOUR,
        1.1 * HOUR,
        "our own",
    ),
    "Retry-After is waited out from the answer's end": (
        RateLimited(status=429, retry_after_s=120),
        None,
        121,
        121,
        "2 min",
    ),
    "a Retry-After of years is capped": (
        RateLimited(status=503, retry_after_s=1e9),
        None,
        7 * DAY + 1,
        7 * DAY + 1,
        "capped",
    ),
    "429 without Retry-After doubles the interval": (
        RateLimited(status=429),
        SourceState(interval_s=3 * HOUR),
        6 * HOUR + 1,
        6 * HOUR + 1,
        "twice",
    ),
    "a redirect to another host is due there at once": (
        Redirected(to="http://other.example/f", status=302),
        None,
        0,
        0,
        "redirected",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_each_outcome_sets_the_next_visit(name: str) -> None:
    outcome, before, least_s, most_s, reason = CASES[name]

    decision = decided(outcome, a_source(before))

    assert least_s <= wait_s(decision) <= most_s
    assert reason in decision.state.why


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (fetched(a_document()), CrawlState.FETCHED),
        (fetched(None), CrawlState.FETCHED),
        (NotModified(), CrawlState.FETCHED),
        (Redirected(to="http://other.example/", status=301), CrawlState.REDIRECTION),
        (Gone(status=410), CrawlState.ERROR),
        (Gone(status=451), CrawlState.ERROR),
        (RateLimited(status=429), CrawlState.FETCH_ERROR),
        *[(Failed(kind=kind), CrawlState.FETCH_ERROR) for kind in FailureKind],
    ],
)
def test_each_outcome_sets_the_crawl_state(outcome: Outcome, expected: CrawlState) -> None:
    assert decided(outcome).state.state == expected


def test_gone_is_never_asked_again() -> None:
    assert decided(Gone(status=410)).state.due_at is None


def test_the_operators_interval_wins_over_the_servers_bound_and_has_no_jitter() -> None:
    decision = decided(fetched(a_document(), fresh_s=9 * HOUR), a_source(explicit_s=1_200))

    assert wait_s(decision) == 1_200


def test_the_operators_interval_has_a_floor_of_five_minutes() -> None:
    assert wait_s(decided(NotModified(), a_source(explicit_s=1))) == 300


def test_a_rate_limit_holds_the_host_and_is_no_failure() -> None:
    decision = decided(RateLimited(status=429, retry_after_s=120), a_source(SourceState(attempts=1), explicit_s=300))

    assert decision.hold is not None
    assert decision.hold.until == NOW + timedelta(seconds=121)
    assert decision.state.attempts == 1


def test_an_exempt_host_is_not_held_but_the_source_waits() -> None:
    decision = decided(RateLimited(status=429, retry_after_s=120), a_source(is_exempt=True))

    assert decision.hold is None
    assert wait_s(decision) == 121


def test_rate_limits_without_a_time_double_again_and_again_up_to_the_cap() -> None:
    source, waits = a_source(SourceState(interval_s=HOUR)), []
    for _ in range(6):
        decision = decided(RateLimited(status=429), source)
        waits.append(wait_s(decision) - 1)
        source = a_source(decision.state)

    assert waits == [2 * HOUR, 4 * HOUR, 8 * HOUR, 16 * HOUR, DAY, DAY]


@pytest.mark.parametrize("retry_after_s", [0.0, 1.0, 5.0])
def test_a_source_that_is_limited_again_and_again_is_not_asked_more_often_than_usual(retry_after_s: float) -> None:
    first = decided(RateLimited(status=429, retry_after_s=retry_after_s))
    second = decided(RateLimited(status=429, retry_after_s=retry_after_s), a_source(first.state))

    assert wait_s(first) == retry_after_s + 1
    assert wait_s(second) >= HOUR
    assert second.hold is not None
    assert second.hold.until == NOW + timedelta(seconds=retry_after_s + 1)


def test_a_503_that_names_no_time_holds_its_host_for_minutes_only() -> None:
    decision = decided(RateLimited(status=503))

    assert decision.hold is not None
    assert decision.hold.until == NOW + timedelta(seconds=301)
    assert wait_s(decision) == 4 * HOUR + 1
    assert decision.state.attempts == 0


def test_a_rate_limit_never_shortens_the_operators_interval() -> None:
    assert wait_s(decided(RateLimited(status=429), a_source(explicit_s=3 * DAY))) == 3 * DAY + 1


def test_a_temporary_redirect_to_what_is_gone_is_a_failure_of_the_source_not_its_end() -> None:
    temporary = Hop(url=URL, status=302, to="https://cdn.example/x")

    assert decided(Gone(status=410), hops=(temporary,)).state.due_at is not None
    assert decided(Gone(status=410), hops=(PERMANENT,)).state.due_at is None


def test_the_interval_of_a_feed_without_dates_turns_round_at_once_after_a_long_time_of_news() -> None:
    source = a_source(SourceState(known=b"k" * 16))
    for _ in range(500):
        source = a_source(decided(fetched(a_document(posts=0, news=1)), source).state)
    busy = wait_s(decided(NotModified(), source))

    assert 0.9 * 1.5 * HOUR <= busy <= 1.5 * HOUR


def test_an_accepted_answer_takes_exactly_the_validators_it_carried() -> None:
    carried = Validators(url=URL, etag='W/"b"')
    decision = decided(fetched(None, validators=carried), a_source(SourceState(validators=HELD)))

    assert decision.state.validators == carried


def test_an_accepted_answer_without_validators_deletes_them() -> None:
    decision = decided(fetched(a_document(), validators=Validators(url=URL)), a_source(SourceState(validators=HELD)))

    assert decision.state.validators is None


def test_a_304_replaces_what_it_carries_and_keeps_the_rest() -> None:
    decision = decided(NotModified(etag='"n"'), a_source(SourceState(validators=HELD)))

    assert decision.state.validators == replace(HELD, etag='"n"')


@pytest.mark.parametrize(
    "outcome",
    [
        Failed(kind=FailureKind.NOT_A_DOCUMENT, status=200),
        Failed(kind=FailureKind.EMPTY, status=200),
        Failed(kind=FailureKind.INCOMPLETE),
        RateLimited(status=503),
        Redirected(to="http://other.example/", status=302),
    ],
)
def test_an_answer_that_is_not_accepted_changes_neither_validators_nor_hash_nor_entries(outcome: Outcome) -> None:
    before = SourceState(validators=HELD, body_hash=b"body", known=b"k" * 16)
    after = decided(outcome, a_source(before)).state

    assert (after.validators, after.body_hash, after.known) == (HELD, b"body", b"k" * 16)


def test_a_feed_without_dates_and_news_is_asked_ever_more_rarely_and_news_bring_it_back() -> None:
    source, waits = a_source(SourceState(known=b"k" * 16)), []
    for _ in range(8):
        decision = decided(fetched(None), source)
        waits.append(wait_s(decision))
        source = a_source(decision.state)
    after_news = wait_s(decided(fetched(a_document(posts=0, news=1)), source))

    assert waits == sorted(waits)
    assert 0.9 * DAY <= waits[-1] <= DAY
    assert after_news <= DAY
    assert decided(fetched(a_document(posts=0, news=1)), source).state.rhythm.factor < source.state.rhythm.factor


PERMANENT = Hop(url=URL, status=301, to="https://new.example/feed")


def test_a_permanent_move_is_believed_after_three_visits_over_a_day() -> None:
    first = decided(NotModified(), hops=(PERMANENT,))
    seen_often = a_source(SourceState(move=Move(to=PERMANENT.to, seen=9, first_seen_at=NOW - timedelta(hours=23))))
    seen_long = a_source(SourceState(move=Move(to=PERMANENT.to, seen=1, first_seen_at=NOW - timedelta(days=9))))
    seen_enough = a_source(SourceState(move=Move(to=PERMANENT.to, seen=2, first_seen_at=NOW - timedelta(days=1))))

    assert first.state.move == Move(to=PERMANENT.to, seen=1, first_seen_at=NOW)
    assert decided(NotModified(), seen_often, hops=(PERMANENT,)).new_url is None
    assert decided(NotModified(), seen_long, hops=(PERMANENT,)).new_url is None
    assert decided(NotModified(), seen_enough, hops=(PERMANENT,)).new_url == PERMANENT.to


def test_only_the_permanent_prefix_of_a_chain_counts_as_a_move() -> None:
    temporary = Hop(url=PERMANENT.to, status=302, to="https://cdn.example/x")
    mixed = decided(NotModified(), hops=(PERMANENT, temporary))
    temporary_first = decided(NotModified(), hops=(replace(temporary, url=URL), PERMANENT))

    assert mixed.state.move is not None
    assert mixed.state.move.to == PERMANENT.to
    assert temporary_first.state.move is None


def test_a_move_to_somewhere_else_starts_its_probation_anew() -> None:
    held = SourceState(move=Move(to="https://elsewhere.example/", seen=2, first_seen_at=NOW - timedelta(days=9)))
    decision = decided(NotModified(), a_source(held), hops=(PERMANENT,))

    assert decision.new_url is None
    assert decision.state.move == Move(to=PERMANENT.to, seen=1, first_seen_at=NOW)


def test_a_redirected_source_stays_due_since_it_was_so_that_its_round_still_counts_it() -> None:
    due_at = NOW - timedelta(hours=5)
    decision = decided(Redirected(to="http://other.example/f", status=302), a_source(SourceState(due_at=due_at)))

    assert decision.state.due_at == due_at
    assert decision.state.pending_url == "http://other.example/f"


@given(
    gap_s=st.floats(0, 400 * DAY),
    silent_s=st.floats(0, 400 * DAY),
    factor=st.floats(1e-9, 1e9),
    fresh_s=st.none() | st.floats(0, 1e9),
    ttl_s=st.none() | st.integers(0, 10**9),
    low=st.floats(60, HOUR),
    high=st.floats(HOUR, 30 * DAY),
)
def test_without_the_operators_word_the_next_visit_keeps_within_the_operators_bounds(
    *, gap_s: float, silent_s: float, factor: float, fresh_s: float | None, ttl_s: int | None, low: float, high: float
) -> None:
    settings = Settings(interval_min_seconds=low, interval_max_seconds=high)
    rhythm = Rhythm(gap_s=gap_s, newest_at=NOW - timedelta(seconds=silent_s), factor=factor)
    state = SourceState(rhythm=rhythm, hints=FeedHints(ttl_s=ttl_s))
    decision = decided(NotModified(freshness=Freshness(fresh_s=fresh_s)), a_source(state), settings)

    assert low - 1 <= wait_s(decision) <= high + 1


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0, "0 s"), (59, "59 s"), (60, "1 min"), (90, "1.5 min"), (7_200, "2 h"), (86_400, "1 d"), (864_000, "10 d")],
)
def test_durations_read_as_people_say_them(seconds: float, expected: str) -> None:
    assert duration(seconds) == expected
