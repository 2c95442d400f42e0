"""A source's last visits, packed small enough to ride in its row: bytes in, bytes or VisitBriefs out."""

from __future__ import annotations

import struct
from datetime import datetime
from enum import IntEnum
from typing import Final

from junkai.clock import from_ms, to_ms
from junkai.immutable import Struct
from junkai.model import Fetched, Gone, NotModified, Outcome, RateLimited, Redirected, Visit

VISITS_MAX: Final = 20
_PACKING: Final = struct.Struct(">QBHIH")


class VisitResult(IntEnum):
    """The kind of outcome, as the log keeps it."""

    FAILED = 0
    FETCHED = 1  #: a new body
    SAME_BODY = 2  #: 200 with the body of the last time
    NOT_MODIFIED = 3
    REDIRECTED = 4
    GONE = 5
    RATE_LIMITED = 6


class VisitBrief(Struct, frozen=True, kw_only=True):
    """One visit in a line."""

    at: datetime
    result: VisitResult
    status: int | None
    elapsed_ms: int
    changes: int  #: entries new to us or changed, as the document showed them


def result_of(outcome: Outcome) -> VisitResult:
    """The log's word for an outcome."""
    match outcome:
        case Fetched():
            return VisitResult.SAME_BODY if outcome.document is None else VisitResult.FETCHED
        case NotModified():
            return VisitResult.NOT_MODIFIED
        case Redirected():
            return VisitResult.REDIRECTED
        case Gone():
            return VisitResult.GONE
        case RateLimited():
            return VisitResult.RATE_LIMITED
        case _:
            return VisitResult.FAILED


def appended(log: bytes, visit: Visit) -> bytes:
    """The log with one more visit, the oldest dropped beyond VISITS_MAX."""
    outcome = visit.outcome
    document = outcome.document if isinstance(outcome, Fetched) else None
    packed = _PACKING.pack(
        to_ms(visit.started_at),
        result_of(outcome),
        min(outcome.status or 0, 0xFFFF),
        # The wall clock may be set back, or far forward, during a visit.
        min(max(int((visit.ended_at - visit.started_at).total_seconds() * 1000), 0), 0xFFFFFFFF),
        min(len(document.entries) if document else 0, 0xFFFF),
    )
    return (log + packed)[-VISITS_MAX * _PACKING.size :]


def briefs(log: bytes) -> list[VisitBrief]:
    """The visits in a log, oldest first; a torn tail is left out."""
    whole = len(log) - len(log) % _PACKING.size
    return [
        VisitBrief(
            at=from_ms(at_ms), result=VisitResult(result), status=status or None, elapsed_ms=elapsed_ms, changes=changes
        )
        for at_ms, result, status, elapsed_ms, changes in _PACKING.iter_unpack(log[:whole])
    ]
