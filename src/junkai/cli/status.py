"""`junkai status`: the store in; its numbers, and whether the crawl keeps up, out."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

from junkai.cli import options, output

if TYPE_CHECKING:
    from junkai.backend.protocol import Counts
    from junkai.config import Effective

#: Nothing due waits longer than this while a crawl keeps up.
KEEPING_UP_SECONDS: Final = 300


@options.with_settings
def status(effective: Effective, *, is_json: options.AsJson = False) -> None:
    """Show the store in numbers: what is known, due and held."""
    from junkai import clock, wording
    from junkai.cli import stores

    now = clock.utc_now()
    with stores.opened_to_read(effective.settings) as store:
        counts = store.frontier.counts(now)
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
            }
        )
        return
    output.write_heading(_sentence(counts, now))
    output.write_facts(
        (
            ("Sources", wording.count(counts.sources)),
            *((f"  {state}", wording.count(number)) for state, number in counts.by_state.items() if number),
            ("  paused", wording.count(counts.paused) if counts.paused else ""),
            ("Hosts", wording.count(counts.hosts)),
            ("  held", wording.count(counts.held) if counts.held else ""),
            ("  in a turn", wording.count(counts.in_turn) if counts.in_turn else ""),
            ("Entries", wording.count(counts.entries)),
            ("Due now", wording.count(counts.due)),
            ("Oldest due", wording.relative(counts.oldest_due_at, now) if counts.oldest_due_at else ""),
            ("Store", effective.settings.store),
        )
    )


def _sentence(counts: Counts, now: datetime) -> str:
    from junkai import wording

    if counts.sources == 0:
        return "Nothing to visit yet: `junkai add URL` or `junkai import FILE.opml`."
    if counts.due == 0 or counts.oldest_due_at is None:
        return "Nothing is due."
    waited = (now - counts.oldest_due_at).total_seconds()
    if waited <= KEEPING_UP_SECONDS:
        return "Keeping up: nothing due has waited longer than 5 min."
    if counts.in_turn == 0:
        return f"Not crawling: {wording.count(counts.due)} due, the oldest for {wording.span(waited)}. `junkai crawl`"
    return f"Falling behind: {wording.count(counts.due)} due, the oldest for {wording.span(waited)}."
