"""`junkai pause`, `resume`, `refresh` and `remove`: a source's URL in; the operator's word kept, and said, out."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from junkai.cli import options, output

if TYPE_CHECKING:
    from junkai.config import Effective


@options.with_settings
def pause(effective: Effective, *, url: options.SourceUrl) -> None:
    """Stop visiting a source until it is resumed; its entries stay."""
    from junkai import clock
    from junkai.cli import stores

    with stores.opened(effective.settings) as store:
        store.catalogue.pause(url, clock.utc_now())
    output.write_line(f"paused {url}")


@options.with_settings
def resume(effective: Effective, *, url: options.SourceUrl) -> None:
    """Visit a paused or given-up source again; it is due now."""
    from junkai import clock
    from junkai.cli import stores

    with stores.opened(effective.settings) as store:
        store.catalogue.resume(url, clock.utc_now())
    output.write_line(f"resumed {url}: due now")


@options.with_settings
def refresh(
    effective: Effective,
    *,
    url: options.SourceUrl,
    is_unconditional: Annotated[
        bool, typer.Option("--unconditional", help="Ask for the whole document once, without validators.")
    ] = False,
) -> None:
    """Make a source due now; holds and delays of its host stay."""
    from junkai import clock
    from junkai.cli import stores

    with stores.opened(effective.settings) as store:
        changed = store.catalogue.refresh(url, clock.utc_now(), is_unconditional=is_unconditional)
    if changed:
        output.write_line(f"due now: {url}")
    else:
        output.write_line(f"not active: {url}; `junkai resume` starts it again")
        raise typer.Exit(1)


@options.with_settings
def remove(
    effective: Effective,
    *,
    url: options.SourceUrl,
    is_confirmed: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Forget a source and its entries. Asks first on a terminal."""
    from junkai import wording
    from junkai.cli import stores

    with stores.opened(effective.settings) as store:
        row = store.catalogue.feed(url)
        if not is_confirmed and sys.stdin.isatty() and output.is_terminal():
            title = row.title or row.source.url
            output.write_line(f"{title} and its {wording.entries(row.entries)} are forgotten, and do not come back.")
            output.write_line("`junkai pause` keeps them and only stops the visits.")
            if not typer.confirm("Remove it?"):
                output.write_line("kept")
                return
        entries = store.catalogue.remove(url)
    output.write_line(f"removed {row.source.url} with {wording.entries(entries)}")
