"""`junkai entries`: filters in; entries, newest first, out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from junkai.cli import options, output
from junkai.cli.output import Cell, Column

if TYPE_CHECKING:
    from junkai.backend.listed import StoredEntry
    from junkai.config import Effective


@options.with_settings
def entries(
    effective: Effective,
    *,
    feed: Annotated[str | None, typer.Option("--feed", metavar="URL", help="Only of this source.")] = None,
    owner: options.Owner = None,
    group: options.Group = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--since", metavar="T", help="First seen since: 2026-11-27, 2026-11-27T13:48:00Z, or 2h for two hours ago."
        ),
    ] = None,
    limit: options.Limit = None,
    is_json: options.AsJson = False,
) -> None:
    """List what the sources published, newest first."""
    from junkai import clock, timespan, wording
    from junkai.backend.listed import EntryFilter
    from junkai.cli import rows, stores
    from junkai.parse.sanitize import text_of_entry

    now = clock.utc_now()
    which = EntryFilter(
        feed_url=feed,
        owner=owner,
        group=group,
        since=timespan.moment(since, now) if since is not None else None,
        limit=limit,
    )

    def fields(stored: StoredEntry) -> tuple[str, ...]:
        return (
            f"{stored.first_seen_at:%Y-%m-%dT%H:%M:%SZ}",
            stored.feed_url,
            stored.entry.url or "-",
            stored.entry.title or text_of_entry(stored.entry)[:80],
        )

    def cells(stored: StoredEntry) -> tuple[Cell, ...]:
        edited = f", edited {stored.revision - 1}×" if stored.revision > 1 else ""
        return (
            Cell(
                stored.entry.title or text_of_entry(stored.entry)[:80] or "(no title)", stored.entry.url or "", "bold"
            ),
            Cell(wording.relative(stored.first_seen_at, now) + edited, _published(stored)),
            Cell(stored.feed_url),
        )

    with stores.opened_to_read(effective.settings) as store:
        output.write_list(
            store.entries.recent(which),
            is_json=is_json,
            view=rows.entry_keys,
            fields=fields,
            columns=(Column("Entry", ratio=5), Column("First seen", ratio=2), Column("Feed", ratio=3)),
            cells=cells,
            empty="No such entries. `junkai crawl --once` visits what is due.",
            limit=limit,
        )


def _published(stored: StoredEntry) -> str:
    published_at = stored.entry.published_at or stored.entry.updated_at
    return f"dated {published_at:%Y-%m-%d}" if published_at else "undated"
