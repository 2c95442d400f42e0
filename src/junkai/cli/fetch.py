"""`junkai fetch URL`: one URL in; what it answered now, hop by hop, and the verdict, out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Final

import typer

from junkai.cli import options, output

if TYPE_CHECKING:
    from junkai.app import FetchReport
    from junkai.config import Effective
    from junkai.model import Visit

ENTRIES_SHOWN_MAX: Final = 5


@options.with_settings
def fetch(
    effective: Effective,
    *,
    url: Annotated[str, typer.Argument(metavar="URL", help="Any http or https URL, in the store or not.")],
    is_json: options.AsJson = False,
) -> None:
    """Ask one URL once and show everything: hops, headers, verdict. Stores nothing but when its host was asked."""
    from junkai import app
    from junkai.model import Fetched

    report = app.fetch_url(effective.settings, url)
    visit = report.visit
    if is_json:
        output.write_json(_keys(report))
    elif visit is not None:
        _write(report, visit)
    if visit is None:
        output.write_error(f"junkai: {report.host}: not asked: {report.refusal}")
    if visit is None or not isinstance(visit.outcome, Fetched):
        raise typer.Exit(1)


def _keys(report: FetchReport) -> dict[str, object]:
    from junkai.cli import rows

    return {
        "host": report.host,
        "refusal": report.refusal,
        "visit": rows.visit_keys(report.visit) if report.visit else None,
        "fields": report.fields,
        "document": rows.document_keys(report.document) if report.document else None,
    }


def _write(report: FetchReport, visit: Visit) -> None:
    output.write_heading(_verdict(visit))
    output.write_facts(_facts(visit))
    if report.fields:
        _gap()
        output.write_heading("Header fields")
        output.write_facts(report.fields)
    document = report.document
    if document is None:
        return
    from junkai.parse.sanitize import text_of_entry

    _gap()
    output.write_heading("Document")
    output.write_facts(
        (
            ("Title", document.title),
            ("Format", f"{document.format} {document.version}".strip()),
            ("Encoding", document.encoding),
            ("Language", document.language or ""),
            ("Site", document.site_url or ""),
            ("Entries", str(document.entry_count)),
            *(
                ("Entry", entry.title or text_of_entry(entry)[:80] or entry.id)
                for entry in document.entries[:ENTRIES_SHOWN_MAX]
            ),
            *(("Problem", problem.message) for problem in document.problems),
        )
    )


def _gap() -> None:
    if output.is_terminal():
        output.write_line("")


def _verdict(visit: Visit) -> str:
    from junkai import wording
    from junkai.model import Fetched, Gone, NotModified, RateLimited, Redirected

    match visit.outcome:
        case Fetched(document=document):
            return f"A feed with {wording.entries(document.entry_count)}." if document else "A feed."
        case NotModified():
            return "Not modified."
        case Redirected(to=to):
            return f"Redirected to another host, which was not asked: {to}"
        case Gone(status=status):
            return f"Gone for good ({status})."
        case RateLimited(status=status):
            return f"The host asks us to wait ({status})."
        case failed:
            return f"Failed, {failed.kind.value.replace('_', ' ')}: {failed.detail or failed.status or 'no detail'}"


def _facts(visit: Visit) -> Iterator[tuple[str, str]]:
    from junkai import wording

    for hop in visit.hops:
        yield f"Hop {hop.status}", f"{hop.url} → {hop.to}"
    yield "Answered by" if visit.outcome.status else "Asked", visit.url
    yield "Status", str(visit.outcome.status or "")
    yield "Type", visit.content_type
    yield "Body", f"{wording.size(visit.bytes_received)} on the wire"
    yield "Took", f"{(visit.ended_at - visit.started_at).total_seconds() * 1000:,.0f} ms"
    yield "Requests", str(visit.requests)
