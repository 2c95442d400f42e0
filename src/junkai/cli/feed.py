"""`junkai feed URL`: one source in; how it stands, its next visit and why, its last visits and its facts out."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from junkai.cli import options, output
from junkai.cli.output import Cell, Column

if TYPE_CHECKING:
    from junkai.backend.listed import FeedRow
    from junkai.config import Effective


@options.with_settings
def feed(effective: Effective, *, url: options.SourceUrl, is_json: options.AsJson = False) -> None:
    """Show one source: state, validators, next visit and why, last visits."""
    from junkai import clock
    from junkai.cli import rows, stores

    now = clock.utc_now()
    with stores.opened_to_read(effective.settings) as store:
        row = store.catalogue.feed(url)
    if is_json:
        output.write_json(rows.feed_page_keys(row, now))
        return
    output.write_heading(row.title or row.source.url)
    output.write_facts(_facts(row, now))
    _write_visits(row)


def _facts(row: FeedRow, now: datetime) -> Iterator[tuple[str, str]]:
    from junkai import wording

    source, state = row.source, row.source.state
    yield "State", " · ".join(wording.standing(row, now))
    at, why = wording.next_visit(row)
    when = "none" if at is None else f"{wording.relative(at, now)}, {wording.clock(at, now)}"
    yield "Next visit", f"{'due now' if at is not None and at <= now else when}: {why}"
    last_at = state.last_visit_at
    yield "Last visit", f"{wording.relative(last_at, now)}, {wording.clock(last_at, now)}" if last_at else "none yet"
    yield "Address", source.url
    yield "Asked next", state.pending_url or ""
    for earlier in row.earlier_urls:
        yield "Earlier", earlier
    yield "Site", state.site_url or ""
    yield "Host", source.host
    yield "Owners", ", ".join(owner or "the operator" for owner in row.owners)
    yield "Groups", ", ".join(row.groups)
    yield "Entries", wording.count(row.entries)
    yield "Interval", wording.span(state.interval_s) if state.interval_s else ""
    yield "Set interval", wording.span(source.explicit_interval_s) if source.explicit_interval_s else ""
    yield "Rhythm", _rhythm(row, now)
    yield "It asks for", ", ".join(_hints(row))
    if state.validators:
        yield "ETag", state.validators.etag or ""
        yield "Last-Modified", state.validators.last_modified or ""
    elif last_at:
        yield "Validators", "none: the whole document each time"
    yield "Added", f"{wording.relative(row.added_at, now)}, {wording.clock(row.added_at, now)}" if row.added_at else ""


def _rhythm(row: FeedRow, now: datetime) -> str:
    from junkai import wording

    rhythm = row.source.state.rhythm
    newest = f"newest post {wording.relative(rhythm.newest_at, now)}" if rhythm.newest_at else ""
    gap = f"a post about every {wording.span(rhythm.gap_s)}" if rhythm.gap_s else ""
    return ", ".join(part for part in (gap, newest) if part)


def _hints(row: FeedRow) -> Iterator[str]:
    from junkai import wording

    hints = row.source.state.hints
    if hints.ttl_s:
        yield f"{wording.span(hints.ttl_s)} between visits (ttl)"
    if hints.update_period_s:
        yield f"{wording.span(hints.update_period_s)} between visits (update period)"
    if hints.skip_hours:
        yield f"no visits at {', '.join(map(str, hints.skip_hours))} h GMT"
    if hints.skip_days:
        days = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
        yield f"no visits on {', '.join(days[day] for day in hints.skip_days)}"


def _write_visits(row: FeedRow) -> None:
    from junkai import visitlog, wording

    briefs = visitlog.briefs(row.source.state.recent)
    if not briefs:
        return
    if output.is_terminal():
        output.write_line("")
    output.write_heading("Last visits, newest first")
    output.write_list(
        reversed(briefs),
        is_json=False,
        view=lambda brief: brief,
        fields=lambda brief: (
            f"{brief.at:%Y-%m-%dT%H:%M:%SZ}",
            wording.RESULT_WORDS[brief.result],
            str(brief.status or "-"),
            f"{brief.elapsed_ms} ms",
            str(brief.changes),
        ),
        columns=(
            Column("When (UTC)", is_whole=True),
            Column("Outcome"),
            Column("Status", is_right=True),
            Column("Took", is_right=True),
            Column("New, changed", is_right=True),
        ),
        cells=lambda brief: (
            Cell(f"{brief.at:%Y-%m-%d %H:%M:%S}"),
            Cell(wording.RESULT_WORDS[brief.result]),
            Cell(str(brief.status or wording.UNKNOWN)),
            Cell(f"{brief.elapsed_ms:,} ms"),
            Cell(wording.count(brief.changes)),
        ),
        empty="",
    )
