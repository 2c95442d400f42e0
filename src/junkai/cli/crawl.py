"""`junkai crawl`: what is due in; visits as they happen, and a summary, out."""

from __future__ import annotations

import contextlib
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Annotated

import typer

from junkai.cli import options, output

if TYPE_CHECKING:
    from datetime import datetime

    from junkai.app import Progress, Summary
    from junkai.config import Effective, Settings


@options.with_settings
def crawl(
    effective: Effective,
    *,
    is_once: Annotated[
        bool, typer.Option("--once", help="Visit what is due now, each source at most once, and end.")
    ] = False,
    is_all: Annotated[
        bool, typer.Option("--all", help="Treat every active source as due; delays and holds stay.")
    ] = False,
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", min=1, help="End after N visits.")] = None,
    is_json: Annotated[bool, typer.Option("--json", help="Only the summary, as one JSON object.")] = False,
) -> None:
    """Visit what is due, politely: until stopped, or one round with --once."""
    from junkai import app

    settings = effective.settings
    with watching(settings, is_quiet=is_json, has_end=is_once) as progress:
        summary = app.crawl(settings, is_once=is_once, is_all=is_all, visits_max=limit, progress=progress)
    if is_json:
        output.write_json(summary)
    else:
        write_summary(summary, settings)


def watching(settings: Settings, *, is_quiet: bool, has_end: bool) -> AbstractContextManager[Progress]:
    """How the crawl is shown: a live display on a terminal, log lines elsewhere or where `log_format` asks for them."""
    from junkai import logs
    from junkai.cli.progress import Display, Lines, Silence

    logs.write_troubles(is_json=logs.is_json(settings, is_terminal=output.is_terminal()))
    if is_quiet:
        return contextlib.nullcontext(Silence())
    if output.is_terminal() and settings.log_format == "auto":
        return Display(has_end=has_end)
    return contextlib.nullcontext(Lines(is_json=logs.is_json(settings, is_terminal=output.is_terminal())))


def write_summary(summary: Summary, settings: Settings) -> None:
    """What the crawl did: a sentence and some numbers; one more log line where the log is JSON."""
    import msgspec

    from junkai import logs, wording

    if logs.is_json(settings, is_terminal=output.is_terminal()):
        output.write_json({"event": "summary", **msgspec.structs.asdict(summary)})
        return
    output.write_heading(f"{wording.visits(summary.visits)} in {wording.span(summary.seconds)}.")
    if not summary.visits and not summary.skipped:
        output.write_line(_why_none(summary.next_visit_at))
        return
    output.write_facts(
        (
            ("Fetched", wording.count(summary.ok)),
            ("Not modified", wording.count(summary.not_modified)),
            ("Redirected", wording.count(summary.redirected) if summary.redirected else ""),
            ("Failed", wording.count(summary.failed)),
            ("Skipped", f"{wording.count(summary.skipped)}, their host is held" if summary.skipped else ""),
            ("New entries", wording.count(summary.entries_new)),
            ("Edited entries", wording.count(summary.entries_updated) if summary.entries_updated else ""),
            ("Received", wording.size(summary.bytes)),
            ("CPU", f"{summary.cpu_seconds:.1f} s"),
        )
    )


def _why_none(next_visit_at: datetime | None) -> str:
    from junkai import clock, wording

    if next_visit_at is None:
        return "Nothing to visit yet: `junkai add URL` or `junkai import FILE.opml` brings some."
    when = wording.clock(next_visit_at, clock.utc_now())
    return f"Nothing is due; the next visit is at {when}. `junkai crawl --once --all` asks all feeds now."
