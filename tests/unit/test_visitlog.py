"""The packed log of visits: what goes in, what comes out, and how long it grows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from junkai.document import Document, Entry, IdSource
from junkai.errors import FailureKind
from junkai.model import Failed, Fetched, Gone, NotModified, Outcome, RateLimited, Redirected, Validators, Visit
from junkai.visitlog import VISITS_MAX, VisitBrief, VisitResult, appended, briefs, result_of

NOW: Final = datetime(2026, 3, 1, 12, tzinfo=UTC)
VALIDATORS: Final = Validators(url="https://a.example/feed")
ENTRY: Final = Entry(id="1", id_source=IdSource.ID)
DOCUMENT: Final = Document(format="atom", entries=(ENTRY, ENTRY, ENTRY), entry_count=9)


def fetched(document: Document | None) -> Fetched:
    return Fetched(status=200, validators=VALIDATORS, body_hash=b"x", document=document)


def visit(outcome: Outcome, *, minutes: float = 0, seconds: float = 1.5) -> Visit:
    started_at = NOW + timedelta(minutes=minutes)
    ended_at = started_at + timedelta(seconds=seconds)
    return Visit(source_id=1, url="https://a.example/", started_at=started_at, ended_at=ended_at, outcome=outcome)


@pytest.mark.parametrize(
    ("outcome", "result", "status", "changes"),
    [
        (fetched(DOCUMENT), VisitResult.FETCHED, 200, 3),
        (fetched(None), VisitResult.SAME_BODY, 200, 0),
        (NotModified(), VisitResult.NOT_MODIFIED, 304, 0),
        (Redirected(to="https://b.example/", status=301), VisitResult.REDIRECTED, 301, 0),
        (Gone(status=410), VisitResult.GONE, 410, 0),
        (RateLimited(status=429), VisitResult.RATE_LIMITED, 429, 0),
        (Failed(kind=FailureKind.NOT_FOUND, status=404), VisitResult.FAILED, 404, 0),
        (Failed(kind=FailureKind.DNS_UNKNOWN), VisitResult.FAILED, None, 0),
    ],
)
def test_a_visit_comes_back_as_a_line(outcome: Outcome, result: VisitResult, status: int | None, changes: int) -> None:
    log = appended(b"", visit(outcome))

    assert result is result_of(outcome)
    assert [VisitBrief(at=NOW, result=result, status=status, elapsed_ms=1_500, changes=changes)] == briefs(log)


def test_the_log_is_oldest_first_and_drops_the_oldest() -> None:
    log = b""
    for minute in range(VISITS_MAX + 5):
        log = appended(log, visit(NotModified(), minutes=minute))

    assert [NOW + timedelta(minutes=minute) for minute in range(5, VISITS_MAX + 5)] == [line.at for line in briefs(log)]
    assert 17 * VISITS_MAX == len(log)


def test_an_empty_log_has_no_lines() -> None:
    assert [] == briefs(b"")


def test_a_torn_tail_is_left_out() -> None:
    log = appended(appended(b"", visit(NotModified())), visit(Gone(status=410)))

    for torn in range(1, 17):
        assert [VisitResult.NOT_MODIFIED] == [line.result for line in briefs(log[:-torn])]


@given(st.floats(0, 1e9), st.integers(0, 70_000))
def test_numbers_too_large_for_the_log_are_capped(seconds: float, count: int) -> None:
    document = Document(format="rss", entries=(ENTRY,) * count)
    (line,) = briefs(appended(b"", visit(fetched(document), seconds=seconds)))

    elapsed_ms = int(timedelta(seconds=seconds).total_seconds() * 1000)
    assert min(elapsed_ms, 2**32 - 1) == line.elapsed_ms
    assert min(count, 2**16 - 1) == line.changes
