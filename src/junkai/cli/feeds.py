"""`junkai feeds`: filters in; sources with their state, next visit and why out."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from junkai.cli import options, output
from junkai.cli.output import Cell, Column

if TYPE_CHECKING:
    from junkai.backend.listed import FeedRow
    from junkai.config import Effective


class StateChoice(StrEnum):
    """What `--state` takes: the crawl states, and paused."""

    DISCOVERED = "discovered"
    FETCHED = "fetched"
    REDIRECTION = "redirection"
    FETCH_ERROR = "fetch_error"
    ERROR = "error"
    PAUSED = "paused"


@options.with_settings
def feeds(
    effective: Effective,
    *,
    state: Annotated[StateChoice | None, typer.Option("--state", help="Only in this state.")] = None,
    owner: options.Owner = None,
    group: options.Group = None,
    host: Annotated[str | None, typer.Option("--host", metavar="HOST", help="Only at this host.")] = None,
    limit: options.Limit = None,
    is_json: options.AsJson = False,
) -> None:
    """List sources: how they stand, when they are visited next, and why then."""
    from junkai import clock
    from junkai.backend.listed import FeedFilter
    from junkai.cli import rows, stores
    from junkai.model import CrawlState

    now = clock.utc_now()
    is_paused_wanted = state is StateChoice.PAUSED
    which = FeedFilter(
        owner=owner,
        group=group,
        host=host,
        state=CrawlState(state.value) if state is not None and not is_paused_wanted else None,
    )
    with stores.opened_to_read(effective.settings) as store:
        found = store.catalogue.feeds(which)
        output.write_list(
            (row for row in found if row.is_paused) if is_paused_wanted else found,
            is_json=is_json,
            view=rows.feed_keys,
            fields=_fields,
            columns=(
                Column("Feed", ratio=5),
                Column("State", ratio=5),
                Column("Entries", is_right=True, is_whole=True),
                Column("Next visit", ratio=3),
            ),
            cells=lambda row: _cells(row, now),
            empty="No such sources. `junkai add URL` or `junkai import FILE.opml` brings some.",
            limit=limit,
        )


def _fields(row: FeedRow) -> tuple[str, ...]:
    from junkai import wording

    at, why = wording.next_visit(row)
    return (
        row.source.url,
        "paused" if row.is_paused else row.source.state.state.value,
        str(row.entries),
        f"{at:%Y-%m-%dT%H:%M:%SZ}" if at else "-",
        why,
        row.title,
    )


def _cells(row: FeedRow, now: datetime) -> tuple[Cell, ...]:
    from junkai import wording

    word, sentence = wording.standing(row, now)
    at, why = wording.next_visit(row)
    return (
        Cell(row.title or row.source.url, row.source.url if row.title else "", "bold"),
        Cell(word, sentence, output.STATE_STYLES.get(word, "")),
        Cell(wording.count(row.entries)),
        Cell("due now" if at and at <= now else wording.relative(at, now), why),
    )
