"""`junkai status`: the store and the manager's word in; their numbers, and whether the crawl keeps up, out."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from junkai.cli import options, output

if TYPE_CHECKING:
    from junkai.backend.listed import Counts
    from junkai.config import Effective
    from junkai.fleet import Backlog, BrokerRow, Snapshot


@options.with_settings
def status(effective: Effective, *, is_json: options.AsJson = False) -> None:
    """Show how the crawl stands: what is known, due and held, and what the brokers in the background do."""
    from junkai import clock
    from junkai.cli import background, rows, stores

    settings = effective.settings
    now = clock.utc_now()
    with stores.opened_to_read(settings) as store:
        counts = store.statistics.counts(now)
        backlog = store.statistics.backlog(now)
    answer = background.ask_manager(settings)
    if is_json:
        output.write_json(
            {
                "sources": counts.sources,
                "hosts": counts.hosts,
                "entries": counts.entries,
                "due": counts.due,
                "held": counts.held,
                "in_turn": counts.in_turn,
                "paused": counts.paused,
                "by_state": counts.by_state,
                "oldest_due_at": counts.oldest_due_at,
                "manager": rows.manager_keys(answer.snapshot) if answer.snapshot else None,
            }
        )
        return
    output.write_heading(_sentence(answer.snapshot, counts, backlog, now))
    if answer.snapshot is None:
        output.write_line(_nothing_runs(answer.why_none, counts))
    output.write_facts((*_store_facts(counts, now), ("Store", settings.store), *_manager_facts(answer.snapshot)))


def _nothing_runs(why: str, counts: Counts) -> str:
    if counts.in_turn:
        return f"Nothing is crawling in the background, unless `junkai crawl` is: {why}."
    return f"Nothing is crawling in the background: {why}. `junkai run` starts it."


def _store_facts(counts: Counts, now: datetime) -> list[tuple[str, str]]:
    from junkai import wording

    return [
        ("Sources", wording.count(counts.sources)),
        *((f"  {state}", wording.count(number)) for state, number in counts.by_state.items() if number),
        ("  paused", wording.count(counts.paused) if counts.paused else ""),
        ("Hosts", wording.count(counts.hosts)),
        ("  held", wording.count(counts.held) if counts.held else ""),
        ("  in a turn", wording.count(counts.in_turn) if counts.in_turn else ""),
        ("Entries", wording.count(counts.entries)),
        ("Due now", wording.count(counts.due)),
        ("Oldest due", wording.relative(counts.oldest_due_at, now) if counts.oldest_due_at else ""),
    ]


def _manager_facts(snapshot: Snapshot | None) -> list[tuple[str, str]]:
    """What the manager says, each broker under the number of them."""
    from junkai import status_port

    if snapshot is None:
        return []
    brokers, *rest = status_port.facts(snapshot)
    return [brokers, *((f"  {row.name}", _broker(row)) for row in snapshot.brokers), *rest]


def _broker(row: BrokerRow) -> str:
    from junkai import wording

    facts = (
        wording.broker_doing(row),
        f"{wording.hosts(row.heartbeat.in_turn)} in turn" if row.heartbeat.in_turn else "",
        f"{wording.rate(row.visits_a_minute)} visits a minute",
        wording.size(row.heartbeat.memory_bytes),
        f"pid {row.pid}",
    )
    return ", ".join(filter(None, facts))


def _sentence(snapshot: Snapshot | None, counts: Counts, backlog: Backlog, now: datetime) -> str:
    from junkai import wording

    if snapshot is not None:
        standing = wording.system_standing(snapshot, backlog, counts, now)
        return f"{standing.word}. {standing.sentence}"
    if counts.sources == 0:
        return "Nothing to visit yet: `junkai add URL` or `junkai import FILE.opml`."
    if counts.due == 0 or counts.oldest_due_at is None:
        return "Nothing is due."
    waited = wording.span((now - counts.oldest_due_at).total_seconds())
    return f"{wording.sources(counts.due).capitalize()} due, the oldest for {waited}."
