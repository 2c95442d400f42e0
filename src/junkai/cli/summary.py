"""What a crawl did in; a sentence and some numbers, or a line of JSON, on standard output out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from junkai.cli import output

if TYPE_CHECKING:
    from datetime import datetime

    from junkai.config import Settings
    from junkai.fleet import Summary


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
