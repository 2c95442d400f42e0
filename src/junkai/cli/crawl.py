"""`junkai crawl`: what is due in; visits as they happen, and a summary, out."""

from __future__ import annotations

import contextlib
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Annotated

import typer

from junkai.cli import options, output

if TYPE_CHECKING:
    from junkai.app import Progress
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
    from junkai.cli.summary import write_summary

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
