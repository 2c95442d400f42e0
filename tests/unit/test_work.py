from __future__ import annotations

from datetime import UTC, datetime

import pytest

from junkai.backend.protocol import Recorded
from junkai.errors import FailureKind
from junkai.fleet import Work
from junkai.model import (
    Claim,
    Failed,
    Fetched,
    Gone,
    NotModified,
    Outcome,
    RateLimited,
    Redirected,
    Source,
    TurnRef,
    Validators,
    Visit,
)
from junkai.work import WorkCount

T0 = datetime(2026, 3, 1, tzinfo=UTC)
URL = "https://a.test/"


def visit(outcome: Outcome) -> Visit:
    return Visit(source_id=1, url=URL, started_at=T0, ended_at=T0, outcome=outcome, bytes_received=10)


@pytest.mark.parametrize(
    ("outcome", "kind"),
    [
        (Fetched(status=200, validators=Validators(url=URL), body_hash=b"", document=None), "ok"),
        (NotModified(), "not_modified"),
        (Redirected(to=URL, status=302), "redirected"),
        (Failed(kind=FailureKind.CONNECT), "failed"),
        (RateLimited(status=429), "failed"),
        (Gone(status=410), "failed"),
    ],
)
def test_a_visit_counts_as_what_it_met(outcome: Outcome, kind: str) -> None:
    work = WorkCount()
    work.add_visit(visit(outcome), Recorded(entries_new=2, entries_updated=1))

    assert Work(visits=1, entries_new=2, entries_updated=1, bytes=10, **{kind: 1}) == work.so_far()


def test_a_visit_whose_turn_was_lost_is_none() -> None:
    work = WorkCount()
    work.add_visit(visit(NotModified()), Recorded(is_lost=True))

    assert Work(lost=1) == work.so_far()


def test_hosts_with_nothing_due_are_counted_among_the_claimed_and_apart() -> None:
    work = WorkCount()
    usual = Claim(
        ref=TurnRef(host_id=1, turn_no=1),
        host="a.test",
        slot=0,
        domain="a.test",
        lease_until=T0,
        delay_s=1.0,
        sources=(Source(source_id=1, url=URL, host="a.test"),),
    )
    idle = Claim(
        ref=TurnRef(host_id=2, turn_no=1),
        host="b.test",
        slot=0,
        domain="b.test",
        lease_until=T0,
        delay_s=1.0,
        sources=(),
    )
    work.add_claims([usual, idle])
    work.add_claims([usual])

    assert Work(hosts_claimed=3, hosts_claimed_idle=1) == work.so_far()
