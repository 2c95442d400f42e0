"""When to come back: a source and what its visit met in, a Decision out. The only module that decides it, and pure.

Precedence: host hold > operator's explicit interval > the server's lower bounds, capped > our own adaptive interval.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Final

from msgspec.structs import replace

from junkai import visitlog
from junkai.config import Settings
from junkai.document import Document
from junkai.errors import FailureKind
from junkai.model import (
    CrawlState,
    Decision,
    Failed,
    FeedHints,
    Fetched,
    Gone,
    Hold,
    Hop,
    Move,
    NotModified,
    RateLimited,
    Redirected,
    Rhythm,
    Source,
    SourceState,
    Validators,
    Visit,
)

EXPLICIT_INTERVAL_MIN_S: Final = 300.0
_JITTER: Final = 0.1
_RHYTHM_POSTS: Final = 11
_STRETCH: Final = 1.5
_SHRINK: Final = 0.5
_BACKOFF_DOUBLINGS_MAX: Final = 16
_RATE_LIMITED: Final = frozenset({429, 503})
_UNAVAILABLE_HOLD_S: Final = 300.0
#: Our failures, not the site's: tried again soon, and not counted against the source.
_OURS: Final = frozenset({FailureKind.DNS_TEMPORARY, FailureKind.INTERNAL})
#: Answers that say "not here" or "not you": slowed down from the start.
_SLOW: Final = frozenset({FailureKind.NOT_FOUND, FailureKind.FORBIDDEN, FailureKind.BLOCKED})


def decide(source: Source, visit: Visit, settings: Settings, now: datetime, *, parser_version: int = 0) -> Decision:
    """What follows from a visit. `now` is the moment of deciding, aware UTC; intervals count from the visit's start."""
    before = source.state
    seen = replace(
        before,
        last_visit_at=visit.started_at,
        http_status=visit.outcome.status,
        pending_url=None,
        pending_hops=(),
        recent=visitlog.appended(before.recent, visit),
    )
    match visit.outcome:
        case Fetched() as fetched:
            return _after_accepted(
                source, _with_body(seen, fetched, settings, now, parser_version), visit, settings, now
            )
        case NotModified() as answer:
            return _after_accepted(source, _with_validators_of(seen, answer, settings), visit, settings, now)
        case Redirected(to=to):
            return _after_redirect(before, seen, visit, to, now)
        case Gone(status=status) if not all(hop.is_permanent for hop in visit.hops):
            # The target of a temporary redirect is gone; the source itself said nothing of the kind (RFC 9110 §15.4.3).
            gone = Failed(kind=FailureKind.STATUS, detail="where it redirects to for now is gone", status=status)
            return _after_failure(source, seen, visit, gone, settings)
        case Gone(status=status):
            return Decision(
                state=replace(
                    seen,
                    state=CrawlState.ERROR,
                    due_at=None,
                    why=f"gone for good (HTTP {status}); `junkai resume` asks it again",
                    error=f"gone (HTTP {status})",
                )
            )
        case RateLimited() as limited:
            return _after_rate_limit(source, seen, visit, limited, settings)
        case Failed() as failed:
            return _after_failure(source, seen, visit, failed, settings)


# ── what an accepted answer changes ──────────────────────────────────────────────────────────────────────────────


def _with_body(
    state: SourceState, fetched: Fetched, settings: Settings, now: datetime, parser_version: int
) -> SourceState:
    validators = fetched.validators
    state = replace(
        state,
        validators=validators if validators.etag or validators.last_modified else None,
        body_hash=fetched.body_hash,
        parser_version=parser_version,
    )
    document = fetched.document
    if document is None:
        return replace(state, rhythm=_stretched(state.rhythm, _STRETCH, settings))
    return replace(
        state,
        known=document.known,
        title=document.title,
        site_url=document.site_url,
        rhythm=_rhythm(document, state, settings, now),
        hints=FeedHints(
            ttl_s=document.ttl_s,
            skip_hours=document.skip_hours,
            skip_days=document.skip_days,
            update_period_s=document.update_period_s,
        ),
    )


def _with_validators_of(state: SourceState, answer: NotModified, settings: Settings) -> SourceState:
    """Those present replace, those absent stay (RFC 9111 §4.3.4)."""
    held = state.validators
    if held is not None:
        held = Validators(
            url=held.url,
            etag=answer.etag if answer.etag is not None else held.etag,
            last_modified=answer.last_modified if answer.last_modified is not None else held.last_modified,
        )
    return replace(state, validators=held, rhythm=_stretched(state.rhythm, _STRETCH, settings))


def _rhythm(document: Document, state: SourceState, settings: Settings, now: datetime) -> Rhythm:
    """From the dates of the newest posts where there are two of them, else from whether our visits found news."""
    dates = [moment for moment in document.posted_at if moment <= now][:_RHYTHM_POSTS]
    if len(dates) >= 2:
        gap_s = (dates[0] - dates[-1]).total_seconds() / (len(dates) - 1)
        return Rhythm(gap_s=gap_s, newest_at=dates[0])
    newest_at = dates[0] if dates else None
    if not state.known:
        return Rhythm(newest_at=newest_at)
    undated = replace(state.rhythm, gap_s=None, newest_at=newest_at)
    return _stretched(undated, _SHRINK if document.entries else _STRETCH, settings)


def _stretched(rhythm: Rhythm, by: float, settings: Settings) -> Rhythm:
    """Without dates: the interval made longer or shorter, no further than the operator's bounds reach."""
    if rhythm.gap_s is not None:
        return rhythm
    first_s = settings.interval_first_seconds
    least, most = settings.interval_min_seconds / first_s, settings.interval_max_seconds / first_s
    return replace(rhythm, factor=min(max(rhythm.factor * by, least), most))


def _after_accepted(source: Source, state: SourceState, visit: Visit, settings: Settings, now: datetime) -> Decision:
    outcome = visit.outcome
    assert isinstance(outcome, Fetched | NotModified)
    adaptive_s, reason = _adaptive(state.rhythm, settings, now)
    if source.explicit_interval_s is not None:
        interval_s = max(source.explicit_interval_s, EXPLICIT_INTERVAL_MIN_S)
        due_at, why = visit.started_at + timedelta(seconds=interval_s), "the operator's interval"
    else:
        interval_s = max(adaptive_s * (1 - _JITTER * _chance(source, visit)), settings.interval_min_seconds)
        bound_s, bound_reason = _server_bound(outcome.freshness.fresh_s, state.hints, settings)
        if bound_s > interval_s:
            interval_s, reason = bound_s, bound_reason
        due_at, why = _outside_skips(visit.started_at, interval_s, state.hints, settings, reason)
    move, new_url = _move(state.move, visit.hops, settings, now)
    unconditional_at = state.unconditional_at if isinstance(outcome, NotModified) else visit.started_at
    return Decision(
        state=replace(
            state,
            state=CrawlState.FETCHED,
            due_at=due_at,
            why=why,
            attempts=0,
            error=None,
            interval_s=interval_s,
            move=move,
            unconditional_at=unconditional_at,
        ),
        new_url=new_url,
    )


def _adaptive(rhythm: Rhythm, settings: Settings, now: datetime) -> tuple[float, str]:
    """Twice as often as it posts; a silent one ever more rarely; within the operator's bounds."""
    low_s, high_s = settings.interval_min_seconds, settings.interval_max_seconds
    first_s = min(max(settings.interval_first_seconds, low_s), high_s)
    if rhythm.gap_s is None or rhythm.newest_at is None:
        wanted_s = first_s * rhythm.factor
        reason = "rhythm not known yet" if rhythm.factor == 1 else "by how often visits find something new"
    else:
        silent_s = (now - rhythm.newest_at).total_seconds()
        expected_s = max(rhythm.gap_s, silent_s / 2)
        wanted_s = expected_s / 2
        reason = (
            f"posts about every {duration(rhythm.gap_s)}"
            if expected_s == rhythm.gap_s
            else f"nothing new for {duration(silent_s)}"
        )
    return min(max(wanted_s, low_s), high_s), reason


def _server_bound(fresh_s: float | None, hints: FeedHints, settings: Settings) -> tuple[float, str]:
    """The longest wait that server or document ask for, capped (RFC 9111 §4.2; RSS 2.0 ttl; RSS syndication)."""
    asked = [(fresh_s or 0.0, "the server's freshness lifetime")]
    if hints.ttl_s:
        asked.append((float(hints.ttl_s), "the feed's ttl"))
    if hints.update_period_s:
        asked.append((float(hints.update_period_s), "the feed's update period"))
    longest_s, reason = max(asked)
    if longest_s > settings.interval_max_seconds:
        capped_s = settings.interval_max_seconds
        return capped_s, f"{reason}, {duration(longest_s)}, capped at {duration(capped_s)}"
    return longest_s, reason


def _outside_skips(
    started_at: datetime, interval_s: float, hints: FeedHints, settings: Settings, reason: str
) -> tuple[datetime, str]:
    """Past the hours and days that the feed asks to be left alone in (RSS 2.0 skipHours and skipDays, GMT), capped."""
    due_at = started_at + timedelta(seconds=interval_s)
    if not hints.skip_hours and not hints.skip_days:
        return due_at, reason
    latest_at = started_at + timedelta(seconds=max(interval_s, settings.interval_max_seconds))
    moved_at = due_at
    for _ in range(24 * 8):
        if moved_at.hour not in hints.skip_hours and moved_at.weekday() not in hints.skip_days:
            break
        moved_at = moved_at.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    else:
        return due_at, reason  # every hour skipped: not a schedule
    if moved_at == due_at:
        return due_at, reason
    return min(moved_at, latest_at), "outside the hours that the feed asks to skip"


def _move(
    held: Move | None, hops: tuple[Hop, ...], settings: Settings, now: datetime
) -> tuple[Move | None, str | None]:
    """A permanent redirect on probation, and the URL to store once it has been seen often and long enough."""
    to: str | None = None
    for hop in hops:
        if not hop.is_permanent:
            break
        to = hop.to
    if to is None:
        return None, None
    move = replace(held, seen=held.seen + 1) if held and held.to == to else Move(to=to, seen=1, first_seen_at=now)
    is_old_enough = (now - move.first_seen_at).total_seconds() >= settings.move_seconds_min
    if move.seen >= settings.move_visits_min and is_old_enough:
        return None, to
    return move, None


# ── what other answers change ────────────────────────────────────────────────────────────────────────────────────


def _after_redirect(before: SourceState, seen: SourceState, visit: Visit, to: str, now: datetime) -> Decision:
    """Due at the other host at once; where it was due already, since then, so that a round still counts it."""
    return Decision(
        state=replace(
            seen,
            state=CrawlState.REDIRECTION,
            pending_url=to,
            pending_hops=visit.hops,
            due_at=min(before.due_at or now, now),
            why="redirected to another host",
        )
    )


def _after_rate_limit(
    source: Source, seen: SourceState, visit: Visit, limited: RateLimited, settings: Settings
) -> Decision:
    """The whole host waits; never counted as a failure of the source (RFC 6585 §4, RFC 9110 §10.2.3).

    Retry-After is a lower bound: a source that is limited again right after waiting it out waits its usual interval.
    A 503 that names no time may be one source's trouble: the source waits, its host only a little.
    """
    usual_s = max(seen.interval_s or settings.interval_first_seconds, settings.interval_min_seconds)
    if source.explicit_interval_s is not None:
        usual_s = max(source.explicit_interval_s, EXPLICIT_INTERVAL_MIN_S)
    interval_s = usual_s
    if limited.retry_after_s is None:
        interval_s = max(min(usual_s * 2, settings.interval_max_seconds), usual_s)
        wait_s, hold_s = interval_s, interval_s
        if limited.status == 503:
            hold_s = min(wait_s, _UNAVAILABLE_HOLD_S)
        why = f"rate limited (HTTP {limited.status}): waiting {duration(wait_s)}, twice the interval"
    else:
        hold_s = min(limited.retry_after_s, settings.retry_after_max_seconds)
        wait_s = hold_s if source.state.http_status not in _RATE_LIMITED else max(hold_s, usual_s)
        capped = f", capped from {duration(limited.retry_after_s)}" if hold_s < limited.retry_after_s else ""
        again = f"; again, so waiting {duration(wait_s)}" if wait_s > hold_s else ""
        why = f"rate limited (HTTP {limited.status}): Retry-After {duration(hold_s)}{capped}{again}"
    return Decision(
        state=replace(
            seen,
            state=CrawlState.FETCH_ERROR,
            due_at=visit.ended_at + timedelta(seconds=wait_s),
            why=why,
            error=why,
            interval_s=interval_s,
        ),
        hold=None if source.is_exempt else Hold(until=visit.ended_at + timedelta(seconds=hold_s), why=why),
    )


def _after_failure(source: Source, seen: SourceState, visit: Visit, failed: Failed, settings: Settings) -> Decision:
    """Back-off with jitter from the shortest interval (or the operator's), doubling up to the longest."""
    is_ours = failed.kind in _OURS
    attempts = seen.attempts if is_ours else seen.attempts + 1
    base_s = settings.interval_min_seconds
    if source.explicit_interval_s is not None:
        base_s = max(source.explicit_interval_s, EXPLICIT_INTERVAL_MIN_S)
    doublings = 0 if is_ours else attempts - 1 + (2 if failed.kind in _SLOW else 0)
    wait_s = min(base_s * 2 ** min(doublings, _BACKOFF_DOUBLINGS_MAX), max(settings.interval_max_seconds, base_s))
    wait_s *= 1 + _JITTER * _chance(source, visit)
    times = "" if attempts <= 1 else f" {attempts} times in a row"
    return Decision(
        state=replace(
            seen,
            state=CrawlState.FETCH_ERROR,
            due_at=visit.started_at + timedelta(seconds=wait_s),
            why="our own trouble: trying again soon" if is_ours else f"failed{times}: backing off {duration(wait_s)}",
            attempts=attempts,
            error=_sentence(failed),
        )
    )


def _sentence(failed: Failed) -> str:
    status = f"HTTP {failed.status}" if failed.status is not None and failed.kind is not FailureKind.DEADLINE else ""
    words = failed.kind.value.replace("_", " ")
    return ": ".join(part for part in (words, status, failed.detail) if part)


# ── small things ─────────────────────────────────────────────────────────────────────────────────────────────────


def _chance(source: Source, visit: Visit) -> float:
    """0 to 1, spread over sources and visits, the same for the same visit: jitter without a random generator."""
    digest = blake2b(f"{source.source_id} {visit.started_at.timestamp()}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") / 0xFFFFFFFF


def duration(seconds: float) -> str:
    """A span in words for people: `45 s`, `5 min`, `2 h`, `3 d`; at most one decimal."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f}".removesuffix(".0") + f" {unit}"
    return f"{seconds:.0f} s"
