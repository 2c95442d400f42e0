"""A visit and what followed from it in; one structured log line out, its keys fixed, for people or as JSON."""

from __future__ import annotations

import logging
import sys
from datetime import datetime

import msgspec

from junkai import clock, terminal, url, visitlog, wording
from junkai.backend.protocol import Recorded
from junkai.config import Settings
from junkai.model import Decision, Failed, Source, Visit
from junkai.schedule import duration
from junkai.visitlog import VisitResult


class VisitLine(msgspec.Struct, frozen=True, kw_only=True):
    """One visit in the log. Every key is there every time, in this order."""

    event: str = "visit"
    at: datetime  #: the end of the visit
    source: str  #: its URL
    host: str  #: that was asked
    outcome: str
    status: int | None
    bytes: int  #: of bodies, on the wire
    ms: int
    next_visit_at: datetime | None
    entries_new: int
    entries_updated: int
    detail: str | None  #: what went wrong, one sentence


def visit_line(visit: Visit, source: Source, decision: Decision, recorded: Recorded) -> VisitLine:
    """The facts of a visit as its log line has them."""
    result = visitlog.result_of(visit.outcome)
    detail = (
        decision.state.error if result in (VisitResult.FAILED, VisitResult.RATE_LIMITED, VisitResult.GONE) else None
    )
    if recorded.is_lost:
        detail = "the turn was lost: nothing of this visit was stored"
    elif recorded.error is not None:
        detail = f"could not be stored: {recorded.error}"
    return VisitLine(
        at=visit.ended_at,
        source=source.url,
        host=url.parse(visit.url).host,
        outcome=visit.outcome.kind.value if isinstance(visit.outcome, Failed) else result.name.lower(),
        status=visit.outcome.status,
        bytes=visit.bytes_received,
        ms=round((visit.ended_at - visit.started_at).total_seconds() * 1000),
        next_visit_at=decision.state.due_at,
        entries_new=recorded.entries_new,
        entries_updated=recorded.entries_updated,
        detail=detail,
    )


def is_json(settings: Settings, *, is_terminal: bool) -> bool:
    """Whether lines are JSON: as `log_format` says, and for `auto` everywhere but on a terminal."""
    return settings.log_format == "json" or (settings.log_format == "auto" and not is_terminal)


def as_json(line: msgspec.Struct) -> str:
    """The line as one JSON object: UTF-8, moments in RFC 3339 with Z, nothing in it that steers a terminal."""
    return terminal.safe_json(msgspec.json.encode(line)).decode()


def as_text(line: VisitLine) -> str:
    """The line for people, columns in the order of the keys; nothing in it that steers a terminal."""
    news = [f"{line.entries_new} new"] * bool(line.entries_new) + [f"{line.entries_updated} edited"] * bool(
        line.entries_updated
    )
    wait = (
        "no more visits"
        if line.next_visit_at is None
        else f"next in {duration(max(0.0, (line.next_visit_at - line.at).total_seconds()))}"
    )
    facts = [
        f"{line.at:%H:%M:%S}",
        f"{line.outcome.replace('_', ' '):14}",
        f"{line.status or wording.UNKNOWN:>3}",
        f"{wording.size(line.bytes):>8}",
        f"{line.ms:>6} ms",
        terminal.safe(line.source),
        ", ".join((*news, wait)),
    ]
    if line.detail:
        facts.append(f"({terminal.safe(line.detail)})")
    return "  ".join(facts)


# ── our own troubles ─────────────────────────────────────────────────────────────────────────────────────────────


class TroubleLine(msgspec.Struct, frozen=True, kw_only=True):
    """Something that Junkai itself has to say, as a log line."""

    event: str
    at: datetime
    message: str
    trace: str | None


class _TroubleHandler(logging.Handler):
    """Writes to standard error as it is at that moment: a live display may stand before it."""

    def __init__(self, level: int, *, is_json: bool) -> None:
        super().__init__(level)
        self._is_json = is_json

    def emit(self, record: logging.LogRecord) -> None:
        trace = logging.Formatter().formatException(record.exc_info) if record.exc_info else None
        line = TroubleLine(
            event=getattr(record, "event", record.levelname.lower()),
            at=clock.from_ms(int(record.created * 1000)),
            message=record.getMessage(),
            trace=trace,
        )
        sys.stderr.write((as_json(line) if self._is_json else _as_lines(line)) + "\n")


def _as_lines(line: TroubleLine) -> str:
    head = f"{line.at:%H:%M:%S}  {line.event:14}  {terminal.safe(line.message)}"
    return "\n".join((head, *(f"    {terminal.safe(part)}" for part in (line.trace or "").splitlines())))


def write_troubles(*, is_json: bool, is_wordy: bool = False) -> None:
    """From now on, warnings and errors of Junkai's own modules go to standard error, in the same form as visits; with
    `is_wordy`, also what is no trouble: that a broker started, say."""
    level = logging.INFO if is_wordy else logging.WARNING
    logger = logging.getLogger("junkai")
    logger.handlers = [_TroubleHandler(level, is_json=is_json)]
    logger.setLevel(level)
    logger.propagate = False
