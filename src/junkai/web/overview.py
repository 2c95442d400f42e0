"""Facts of the store and the manager's snapshot in; every word, number and shape of the first page out. Pure.

Templates place what is here and decide nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from junkai import url as urls
from junkai import wording
from junkai.backend.listed import Counts
from junkai.fleet import BrokerRow, Snapshot
from junkai.immutable import Struct
from junkai.model import CrawlState
from junkai.web import chart
from junkai.web.chart import Spark
from junkai.web.facts import Facts, NewEntry
from junkai.web.series import SPANS, Series, rates
from junkai.web.shown import Moment, moment, outside
from junkai.web.visits import ChartPart, chart_part, href
from junkai.web.waiting import DuePart, FailingRow, HeldRow, due_part, failing_row, held_row
from junkai.wording import Standing

BROKERS_MAX: Final = 64
_STATE_COLOURS: Final = {
    "Keeping up": "ok",
    "Nothing to visit yet": "new",
    "Stopping": "paused",
    "Falling behind": "held",
}


class Stat(Struct, frozen=True, kw_only=True):
    """One answering number."""

    label: str
    number: str
    unit: str = ""
    sub: str = ""
    spark: Spark | None = None
    spark_label: str = ""


class SpanLink(Struct, frozen=True, kw_only=True):
    """A link to the same page over another span."""

    label: str
    href: str
    is_current: bool


class EntryRow(Struct, frozen=True, kw_only=True):
    """A new entry."""

    title: str
    href: str | None  #: http or https, or none
    language: str | None
    feed_title: str
    seen: Moment


class ProcessRow(Struct, frozen=True, kw_only=True):
    """A broker."""

    name: str
    doing: str
    in_turn: str
    visits_a_minute: str
    memory: str
    version: str


class Overview(Struct, frozen=True, kw_only=True):
    """The first page."""

    at: Moment
    standing: Standing
    colour: str
    lede: str
    trouble: str
    here: str  #: this page's own path and query
    spans: tuple[SpanLink, ...]
    stats: tuple[Stat, ...]
    chart: ChartPart | None  #: None: no visit in its span
    chart_words: str
    due: DuePart
    failing: tuple[FailingRow, ...]
    failing_words: str
    held: tuple[HeldRow, ...]
    held_words: str
    newest: tuple[EntryRow, ...]
    brokers: tuple[ProcessRow, ...]
    brokers_words: str
    brokers_empty: str  #: what is said where there is none to show


def overview(
    facts: Facts, snapshot: Snapshot | None, shown: Series, day: Series, *, is_table: bool = False
) -> Overview:
    """The page as of `facts.at`; `shown` is the span of its chart, `day` that of the lines under the numbers."""
    now = facts.at
    standing = wording.system_standing(snapshot, facts.backlog, facts.counts, now)
    failing = facts.counts.by_state.get("fetch_error", 0) + facts.counts.by_state.get("error", 0)
    held_feeds = sum(host.sources for host in facts.held)
    return Overview(
        at=moment(now, f"{now:%H:%M}"),
        standing=standing,
        colour=_STATE_COLOURS.get(standing.word, "failed"),
        lede=_lede(facts.counts, failing),
        trouble=snapshot.trouble if snapshot else "",
        here=href(shown.span, is_table=is_table),
        spans=tuple(
            SpanLink(label=span.label, href=href(span, is_table=is_table), is_current=span is shown.span)
            for span in SPANS.values()
        ),
        stats=_stats(facts, snapshot, day, failing),
        chart=chart_part(shown, facts.planned, rates(facts.hour), is_table=is_table)
        if shown.visits or any(due for _, due in facts.planned)
        else None,
        chart_words=shown.span.words,
        due=due_part(facts.backlog, facts.counts, now),
        failing=tuple(failing_row(feed, now) for feed in facts.failing),
        failing_words=_first_of(len(facts.failing), failing, "the last visited first"),
        held=tuple(held_row(host, now) for host in facts.held),
        held_words=_first_of(len(facts.held), max(facts.counts.held, len(facts.held)), wording.feeds(held_feeds)),
        newest=tuple(_entry_row(new, now) for new in facts.newest),
        brokers=tuple(_process_row(row) for row in (snapshot.brokers if snapshot else ())[:BROKERS_MAX]),
        brokers_words=_brokers_words(snapshot),
        brokers_empty=(
            "Which of them run is not known until the manager answers."
            if snapshot is None
            else "None runs. The manager starts them; its log says what stands in the way."
        ),
    )


# ── the answer, and the numbers ──────────────────────────────────────────────────────────────────────────────────


def _lede(counts: Counts, failing: int) -> str:
    looks = []
    if counts.held:
        looks.append(f"{wording.hosts(counts.held)} on hold")
    if failing:
        looks.append(f"{wording.feeds(failing)} failing")
    if not looks:
        return "No host is held and no feed fails." if counts.sources else ""
    return f"{' and '.join(looks)}; the others go on."


def _stats(facts: Facts, snapshot: Snapshot | None, day: Series, failing: int) -> tuple[Stat, ...]:
    hour, counts, backlog, freshness = facts.hour, facts.counts, facts.backlog, facts.freshness
    due = backlog.free + backlog.turn
    oldest_s = (facts.at - backlog.oldest_due_at).total_seconds() if due and backlog.oldest_due_at else None
    given_up = counts.by_state.get(CrawlState.ERROR.value, 0)
    # Before the first visit there is nothing to draw.
    known = [part for part in day.bins if day.first_at is not None and part.at + day.span.width > day.first_at]
    return (
        Stat(
            label="Visits a minute",
            number=wording.rate(_visits_a_minute(hour, snapshot)),
            sub=f"{wording.count(hour.visits)} in the past hour",
            spark=chart.spark([part.total / part.minutes for part in known]),
            spark_label=_range("Visits a minute", [part.total / part.minutes for part in known]),
        ),
        Stat(
            label="Due now",
            number=wording.count(due) + "+" * backlog.is_capped,
            unit="feeds" if due != 1 else "feed",
            sub="nothing waits" if oldest_s is None else f"longest wait {wording.span(oldest_s)}",
        ),
        Stat(
            label="Freshness",
            number=wording.span(freshness.median_s).partition(" ")[0],
            unit="" if freshness.median_s is None else f"{wording.span(freshness.median_s).partition(' ')[2]} median",
            sub=(
                f"95 % within {wording.span(freshness.p95_s)}"
                if freshness.p95_s is not None
                else "no new entry in the past hour"
            ),
        ),
        Stat(
            label="New entries an hour",
            number=wording.count(hour.entries_new),
            sub=f"{wording.count(max(day.entries_new, hour.entries_new))} in 24 h",
            spark=chart.spark([part.entries_new * 60 / part.minutes for part in known]),
            spark_label=_range("New entries an hour", [part.entries_new * 60 / part.minutes for part in known]),
        ),
        Stat(
            label="Failing feeds",
            number=wording.count(failing),
            unit=_percent(failing, counts.sources),
            sub=f"{wording.count(given_up)} given up" if given_up else "none given up",
        ),
        Stat(
            label="Feeds on the rounds",
            number=wording.count(max(counts.sources - counts.paused - given_up, 0)),
            sub=f"on {wording.hosts(counts.hosts)}, {wording.entries(counts.entries)}",
        ),
    )


def _visits_a_minute(hour: Series, snapshot: Snapshot | None) -> float:
    """Over the last whole minutes; before the first of them has passed, as the brokers say."""
    if hour.first_at is None and snapshot is not None:
        return sum(row.visits_a_minute for row in snapshot.brokers)
    return sum(rates(hour).values())


def _range(what: str, values: Sequence[float]) -> str:
    if not values:
        return ""
    return f"{what} over 24 hours: {wording.rate(min(values))} to {wording.rate(max(values))}"


def _percent(part: int, whole: int) -> str:
    if not part or not whole:
        return ""
    percent = 100 * part / whole
    return f"{percent:.1f} %" if percent < 9.95 else f"{percent:.0f} %"


def _first_of(shown: int, all_of_them: int, otherwise: str) -> str:
    if not shown:
        return ""
    return f"{shown} of {wording.count(all_of_them)}, {otherwise}" if all_of_them > shown else otherwise


# ── what came in, and who works ──────────────────────────────────────────────────────────────────────────────────


def _entry_row(new: NewEntry, now: datetime) -> EntryRow:
    entry = new.stored.entry
    return EntryRow(
        title=entry.title.strip() or entry.url or "Without a title",
        href=outside(entry.url),
        language=entry.language,
        feed_title=new.feed_title.strip() or urls.without_credentials(new.stored.feed_url),
        seen=moment(new.stored.first_seen_at, wording.relative(new.stored.first_seen_at, now)),
    )


def _process_row(row: BrokerRow) -> ProcessRow:
    return ProcessRow(
        name=f"{row.name} · {row.pid}",
        doing=wording.broker_doing(row),
        in_turn=wording.count(row.heartbeat.in_turn),
        visits_a_minute=wording.rate(row.visits_a_minute),
        memory=wording.size(row.heartbeat.memory_bytes) if row.heartbeat.memory_bytes else wording.UNKNOWN,
        version=row.version,
    )


def _brokers_words(snapshot: Snapshot | None) -> str:
    if snapshot is None:
        return "the manager does not answer"
    replaced = f"; {wording.count(snapshot.restarts)} replaced" if snapshot.restarts else ""
    killed = f", {wording.count(snapshot.killed)} of them killed for being late or silent" if snapshot.killed else ""
    return f"{wording.heard_of(snapshot)} of {snapshot.brokers_wanted}{replaced}{killed}"
