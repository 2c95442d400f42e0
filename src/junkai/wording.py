"""What is known of a source or a moment in; what a person is told of it out: a word, a sentence, a number. Pure.

One table for every place that speaks: the lists, the pages, the log.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final, NamedTuple

from junkai import visitlog
from junkai.backend.listed import Counts, FailingFeed, FeedRow, HeldHost, HostRow
from junkai.fleet import Backlog, BrokerRow, Phase, Snapshot
from junkai.model import CrawlState, SourceState
from junkai.schedule import duration
from junkai.visitlog import VisitResult

UNKNOWN: Final = "–"

#: A crawl keeps up while nothing that could be asked waits longer than this for a broker.
BROKER_WAIT_SECONDS_MAX: Final = 60
#: What is due and has waited no longer than this needs no words.
DUE_WAIT_SECONDS_MAX: Final = 300
#: A broker says something every second; one that has not for so long may hang.
SILENT_SECONDS_MAX: Final = 30

RESULT_WORDS: Final = {
    VisitResult.FAILED: "failed",
    VisitResult.FETCHED: "fetched",
    VisitResult.SAME_BODY: "same body",
    VisitResult.NOT_MODIFIED: "not modified",
    VisitResult.REDIRECTED: "redirected",
    VisitResult.GONE: "gone",
    VisitResult.RATE_LIMITED: "rate limited",
}


class NextVisit(NamedTuple):
    """When a source is asked next, and why then; `at` is None where it never is."""

    at: datetime | None
    why: str


class Standing(NamedTuple):
    """How a source stands: one word for lists, one sentence for people."""

    word: str
    sentence: str


# ── sources ──────────────────────────────────────────────────────────────────────────────────────────────────────


def next_visit(row: FeedRow) -> NextVisit:
    """The later of the source's own moment and its host's; a hold's reason wins where the hold is what decides."""
    state = row.source.state
    if row.is_paused:
        return NextVisit(None, "paused by the operator")
    if state.due_at is None:
        return NextVisit(None, state.why or "no more visits")
    floor_at = row.host_not_before
    if floor_at is not None and floor_at >= state.due_at:
        return NextVisit(floor_at, row.host_hold_why or "the host's delay between two requests")
    return NextVisit(state.due_at, state.why or ("first visit" if state.last_visit_at is None else "due"))


def standing(row: FeedRow, now: datetime) -> Standing:
    """A source's word and sentence, as lists and the feed page show them."""
    state = row.source.state
    if row.is_paused:
        return Standing("Paused", "Paused by the operator. Its entries stay; `junkai resume` starts it again.")
    if state.state is CrawlState.ERROR:
        return _ended(state)
    held = next_visit(row)
    if row.host_hold_why and held.at is not None and held.at > now and held.at == row.host_not_before:
        return Standing("Held", f"Its host is held until {clock(held.at, now)}: {row.host_hold_why}.")
    match state.state:
        case CrawlState.DISCOVERED:
            since = f"Added {relative(row.added_at, now)}" if row.added_at else "Known"
            return Standing("Not visited yet", f"{since}; no visit so far.")
        case CrawlState.REDIRECTION:
            return Standing("Redirected", f"On its way to {state.pending_url or 'another host'}, asked there next.")
        case CrawlState.FETCH_ERROR:
            return _failing(state)
        case _:
            return _answering(state, now)


def failing(feed: FailingFeed) -> Standing:
    """A failing feed's word and sentence, the same as in `standing`; "Held" where its host asked us to wait."""
    if feed.state is CrawlState.ERROR:
        return _ended(feed)
    last = visitlog.briefs(feed.recent)[-1:]
    is_held = bool(last) and last[0].result is VisitResult.RATE_LIMITED
    return _failing(feed)._replace(word="Held") if is_held else _failing(feed)


def _ended(state: SourceState | FailingFeed) -> Standing:
    if state.http_status in (410, 451):
        return Standing("Gone", f"The server says that it is gone for good ({state.http_status}). No more visits.")
    return Standing("Given up", f"{_capitalised(state.error or 'It failed')}. No more visits.")


def _failing(state: SourceState | FailingFeed) -> Standing:
    times = f" {state.attempts} visits in a row." if state.attempts > 1 else ""
    return Standing("Failed", f"{_capitalised(state.error or 'The last visit failed')}.{times}")


def _answering(state: SourceState, now: datetime) -> Standing:
    if state.move is not None:
        return Standing("Moving", f"Permanently redirected to {state.move.to}, seen on {visits(state.move.seen)}.")
    visited = f"Visited {relative(state.last_visit_at, now)}"
    last = visitlog.briefs(state.recent)[-1:]
    if last and last[0].changes:
        changed = (
            "1 new or changed entry" if last[0].changes == 1 else f"{count(last[0].changes)} new or changed entries"
        )
        return Standing("New entries", f"{visited}: {changed}.")
    if last and last[0].result is VisitResult.FETCHED:
        return Standing("Not changed", f"{visited}: a new body, no new entry.")
    return Standing("Not modified", f"{visited}: nothing new.")


def _capitalised(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:].rstrip(".")


def visits(number: int) -> str:
    """`1 visit`, `3 visits`."""
    return "1 visit" if number == 1 else f"{count(number)} visits"


# ── hosts ────────────────────────────────────────────────────────────────────────────────────────────────────────


def host_standing(row: HostRow, now: datetime) -> Standing:
    """A host's word and sentence: whether it is asked now, and if not, why and until when."""
    if row.is_blocked:
        return Standing("Blocked", "Blocked by the operator: never asked. `junkai host HOST --unblock` lifts that.")
    if row.hold is not None and row.hold.until > now:
        return Standing("Held", f"Not asked until {clock(row.hold.until, now)}: {row.hold.why}.")
    if row.lease_until is not None and row.lease_until > now:
        until = f"until {clock(row.lease_until, now)} at the latest"
        return Standing("In a turn", f"Being asked now, by {row.owner or 'a crawl'}, {until}.")
    if row.ready_at is None:
        return Standing("Nothing due", "Nothing to ask it for: no source here is visited again.")
    if row.ready_at > now:
        return Standing("Waiting", f"Asked next {relative(row.ready_at, now)}, {clock(row.ready_at, now)}.")
    return Standing("Ready", f"Ready: asked as soon as a crawl has a turn for it; {sources(row.due)} due.")


def host_explanation(row: HostRow, now: datetime) -> list[str]:
    """Why a host is or is not asked now, rule by rule, one sentence each."""
    lines = [host_standing(row, now).sentence]
    if row.is_blocked:
        lines.append("The floor: no request until `--unblock`.")
    elif row.not_before is not None and row.not_before > now:
        lines.append(f"The floor: no request before {clock(row.not_before, now)}, {relative(row.not_before, now)}.")
    else:
        lines.append("The floor: the time since its last request is long enough.")
    lines.append(f"The delay: at least {row.delay_s:g} s from the end of a request to the start of the next.")
    connections = "one request at a time" if row.slots == 1 else f"up to {row.slots} requests at a time"
    lines.append(f"Slots: {connections}, for {sources(row.sources)}.")
    is_held = row.hold is not None and row.hold.until > now
    lines.append(f"Holds: one until {clock(row.hold.until, now)}." if row.hold and is_held else "Holds: none.")
    is_in_turn = row.lease_until is not None and row.lease_until > now
    lines.append(f"Turns: in one until {clock(row.lease_until, now)}." if is_in_turn else "Turns: in none now.")
    if row.is_exempt:
        lines.append("Exempt: an answer of 429 or 503 does not hold it.")
    return lines


def entries(number: int) -> str:
    """`1 entry`, `3 entries`."""
    return "1 entry" if number == 1 else f"{count(number)} entries"


def sources(number: int) -> str:
    """`1 source`, `3 sources`."""
    return "1 source" if number == 1 else f"{count(number)} sources"


def holding(host: HeldHost) -> str:
    """Why a host is not asked, in a phrase."""
    return "by the operator's word" if host.until is None else host.why


# ── the system ───────────────────────────────────────────────────────────────────────────────────────────────────


def system_standing(snapshot: Snapshot | None, backlog: Backlog, counts: Counts, now: datetime) -> Standing:
    """Whether the system keeps up, and whose trouble it is if not. `snapshot` None: its manager does not answer."""
    if snapshot is None:
        return Standing("No answer", "The manager does not answer; whether anything is visited is not known.")
    if (stands_still := fleet_standing(snapshot)) is not None:
        return stands_still
    if counts.sources == 0:
        return Standing("Nothing to visit yet", "`junkai add URL` or `junkai import FILE.opml` gives it something.")
    waits_s = 0.0 if backlog.oldest_free_at is None else (now - backlog.oldest_free_at).total_seconds()
    if backlog.free and waits_s > BROKER_WAIT_SECONDS_MAX:
        return Standing(
            "Falling behind",
            f"{sources(backlog.free).capitalize()} could be asked and wait for a free broker, one for {span(waits_s)}.",
        )
    return Standing("Keeping up", _on_time(backlog, now))


def fleet_standing(snapshot: Snapshot) -> Standing | None:
    """Why nothing new is visited, as the manager alone can tell; None: it is."""
    if snapshot.is_draining:
        return Standing("Stopping", "What is in flight is recorded; nothing new is begun.")
    if not snapshot.brokers:
        return Standing("No broker runs", "Nothing is visited until one does.")
    if not heard_of(snapshot):
        silent_s = min(row.silent_s for row in snapshot.brokers)
        return Standing("No broker answers", f"The last word of any was {span(silent_s)} ago.")
    return None


def _on_time(backlog: Backlog, now: datetime) -> str:
    if not backlog.free + backlog.turn or backlog.oldest_due_at is None:
        return "Nothing is due."
    due_s = (now - backlog.oldest_due_at).total_seconds()
    if due_s <= DUE_WAIT_SECONDS_MAX:
        return f"Nothing due has waited longer than {span(DUE_WAIT_SECONDS_MAX)}."
    return f"No broker is waited for; the longest wait, {span(due_s)}, is for a host's turn."


def heard_of(snapshot: Snapshot) -> int:
    """How many brokers are alive, and not silent for longer than SILENT_SECONDS_MAX."""
    return sum(row.silent_s <= SILENT_SECONDS_MAX for row in snapshot.brokers)


def broker_doing(row: BrokerRow) -> str:
    """What a broker does at the moment, in a phrase."""
    if row.silent_s > SILENT_SECONDS_MAX:
        return f"Silent for {span(row.silent_s)}"
    heartbeat = row.heartbeat
    match heartbeat.phase:
        case Phase.STARTING:
            return "Starting"
        case Phase.DRAINING:
            return "Ending, once what it has is recorded"
        case Phase.SLEEPING:
            return "Sleeping: nothing is ready"
        case Phase.PASS:
            where = "Pass" if heartbeat.shard is None else f"Shard {heartbeat.shard}, pass"
            return f"{where} of {span(heartbeat.pass_s)}"


def feeds(number: int) -> str:
    """`1 feed`, `3 feeds`."""
    return "1 feed" if number == 1 else f"{count(number)} feeds"


def hosts(number: int) -> str:
    """`1 host`, `3 hosts`."""
    return "1 host" if number == 1 else f"{count(number)} hosts"


# ── moments, numbers ─────────────────────────────────────────────────────────────────────────────────────────────


def relative(moment: datetime | None, now: datetime) -> str:
    """`8 min ago`, `in 43 min`, `just now`; a dash for None. Steps at 90 s, 90 min, 36 h and 14 days."""
    if moment is None:
        return UNKNOWN
    distance_s = (moment - now).total_seconds()
    if abs(distance_s) < 1:
        return "just now" if distance_s < 0 else "now"
    text = _steps(abs(distance_s))
    return f"in {text}" if distance_s > 0 else f"{text} ago"


def _steps(distance_s: float) -> str:
    for limit_s, size_s, unit in ((90, 1, "s"), (5_400, 60, "min"), (129_600, 3_600, "h"), (1_209_600, 86_400, "days")):
        if distance_s < limit_s:
            return f"{round(distance_s / size_s)} {unit}"
    return f"{round(distance_s / 604_800)} weeks"


def clock(moment: datetime | None, now: datetime) -> str:
    """`14:20 UTC` where it is today, else date and time; a dash for None."""
    if moment is None:
        return UNKNOWN
    return f"{moment:%H:%M} UTC" if moment.date() == now.date() else f"{moment:%Y-%m-%d %H:%M} UTC"


def stamp(moment: datetime) -> str:
    """A moment to the second: `Fri 27 Nov 2026, 04:48:20 UTC`."""
    return f"{moment:%a %d %b %Y, %H:%M:%S} UTC"


def rate(number: float) -> str:
    """A rate or an average: whole from 10 on, else with at most one decimal."""
    return count(round(number)) if number >= 9.95 else f"{number:.1f}".removesuffix(".0")


def count(number: int) -> str:
    """Exact up to 99,999, then in thousands or millions."""
    if number < 100_000:
        return f"{number:,}"
    return f"{number / 1_000:,.0f} k" if number < 10_000_000 else f"{number / 1_000_000:,.1f} M"


def size(number: int) -> str:
    """Bytes for people, in steps of 1,000."""
    if number < 1_000:
        return f"{number} B"
    power = min((len(str(number)) - 1) // 3, 3)
    scaled = number / 1_000**power
    unit = ("KB", "MB", "GB")[power - 1]
    return f"{scaled:.1f} {unit}" if scaled < 9.95 else f"{scaled:,.0f} {unit}"


def span(seconds: float | None) -> str:
    """A span for people, a dash for None."""
    return UNKNOWN if seconds is None else duration(seconds)
