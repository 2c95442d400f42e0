"""What is due, what fails and who is held in; those sections of the page out. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from junkai import url as urls
from junkai import visitlog, wording
from junkai.backend.listed import Counts, FailingFeed, HeldHost
from junkai.fleet import Backlog
from junkai.immutable import Struct
from junkai.visitlog import VisitBrief
from junkai.web import chart
from junkai.web.chart import Path
from junkai.web.shown import Moment, moment

_COLOURS: Final = {"Gone": "gone", "Held": "held"}  #: by the word of a failing feed


class DuePart(Struct, frozen=True, kw_only=True):
    """What is due, by what it waits for."""

    words: str
    bar: tuple[tuple[float, float], ...]
    sentence: str
    free: str
    free_hint: str
    turn: str
    turn_hint: str
    held: str
    held_hint: str


class FailingRow(Struct, frozen=True, kw_only=True):
    """A failing feed."""

    colour: str
    word: str
    title: str
    url: str
    sentence: str
    when: str
    next_visit: Moment | None
    strip: tuple[Path, ...]
    strip_width: float
    strip_sentence: str


class HeldRow(Struct, frozen=True, kw_only=True):
    """A host that is not asked."""

    host: str
    why: str
    feeds: str
    until: Moment | None


def due_part(backlog: Backlog, counts: Counts, now: datetime) -> DuePart:
    """The section of what is due."""
    due = backlog.free + backlog.turn
    free_s = (now - backlog.oldest_free_at).total_seconds() if backlog.free and backlog.oldest_free_at else None
    due_s = (now - backlog.oldest_due_at).total_seconds() if due and backlog.oldest_due_at else None
    capped = "+" * backlog.is_capped
    longest = f" Longest {wording.span(due_s)}." if backlog.turn and due_s is not None else ""
    return DuePart(
        words=f"{wording.feeds(due)}{capped}, and what they wait for" if due else "nothing is due",
        bar=tuple(chart.shares((backlog.free, backlog.turn))) if due else (),
        sentence=(
            f"{wording.count(backlog.free)} wait for a free broker, {wording.count(backlog.turn)} for their host’s turn"
        ),
        free=wording.count(backlog.free),
        free_hint=(
            "Ours to fix; under 1 min is fine."
            if free_s is None
            else f"Ours to fix. Longest {wording.span(free_s)}; under 1 min is fine."
        ),
        turn=wording.count(backlog.turn),
        turn_hint=f"Politeness: one visit at a time, spaced.{longest}",
        held=wording.count(backlog.held),
        held_hint=f"{wording.hosts(counts.held)} asked for a pause." if counts.held else "No host is held.",
    )


def failing_row(feed: FailingFeed, now: datetime) -> FailingRow:
    """A line of the failing feeds."""
    standing = wording.failing(feed)
    briefs = visitlog.briefs(feed.recent)
    visited = f"Visited {wording.relative(feed.last_visit_at, now)}" if feed.last_visit_at else "Not visited"
    return FailingRow(
        colour=_COLOURS.get(standing.word, "failed"),
        word=standing.word,
        title=feed.title or urls.without_credentials(feed.url),
        url=urls.without_credentials(feed.url) if feed.title else "",
        sentence=standing.sentence,
        when=visited,
        next_visit=None if feed.due_at is None else moment(feed.due_at, wording.relative(feed.due_at, now)),
        strip=chart.strip(briefs),
        strip_width=chart.strip_width(briefs),
        strip_sentence=_strip_sentence(briefs),
    )


def _strip_sentence(briefs: Sequence[VisitBrief]) -> str:
    if not briefs:
        return "No visit is remembered."
    seen: dict[str, int] = {}
    for brief in briefs:
        word = wording.RESULT_WORDS[brief.result]
        seen[word] = seen.get(word, 0) + 1
    told = ", ".join(f"{number} {word}" for word, number in seen.items())
    return f"Last {wording.visits(len(briefs))}: {told}. Latest: {wording.RESULT_WORDS[briefs[-1].result]}."


def held_row(host: HeldHost, now: datetime) -> HeldRow:
    """A line of the held hosts."""
    return HeldRow(
        host=host.host,
        why=wording.holding(host),
        feeds=wording.count(host.sources),
        until=None if host.until is None else moment(host.until, wording.clock(host.until, now).removesuffix(" UTC")),
    )
