"""`junkai demo`: nothing in; a site of feeds on this machine's loopback, crawled before your eyes, out."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from junkai.cli import options, output

if TYPE_CHECKING:
    from junkai.backend.protocol import Catalogue
    from junkai.config import Settings

#: A day of feeds in a few minutes: loopback allowed, short delays, intervals of seconds.
SETTINGS: Final = {
    "store": "sqlite:///demo.db",
    "allow_networks": "127.0.0.0/8",
    "delay_seconds": "0.2",
    "interval_first_seconds": "10",
    "interval_min_seconds": "10",
    "interval_max_seconds": "60",
    "fetch_deadline_seconds": "5",
    "retry_after_max_seconds": "60",
    "move_seconds_min": "30",
}


def demo(
    *,
    is_once: Annotated[bool, typer.Option("--once", help="One round, and end.")] = False,
    seconds: Annotated[
        float | None, typer.Option("--seconds", metavar="N", min=1, help="End after so many seconds.")
    ] = None,
    store: options.StoreAddress = None,
    assignments: options.Assignments = None,
    is_json: Annotated[bool, typer.Option("--json", help="Only the summary, as one JSON object.")] = False,
) -> None:
    """Crawl a made-up site on this machine, without internet: see what Junkai does.

    It has a store (demo.db) and settings of its own; junkai.toml and JUNKAI_* do not count here.
    """
    from junkai import app, clock, intake
    from junkai.cli import stores
    from junkai.cli.crawl import watching, write_summary
    from junkai.demo import start_demo_site
    from junkai.parse.opml import read_opml

    settings = _settings(store, assignments or [])
    with start_demo_site() as site:
        wanted = intake.wanted_by_opml(
            read_opml(site.opml, "the demo site").feeds, owner="", groups=(), interval_s=None
        )
        accepted, _ = intake.sift(wanted, settings)
        with stores.opened(settings) as opened:
            _forget_others(opened.catalogue, {one.source.url for one in accepted})
            intake.take(opened.frontier, accepted, clock.utc_now())
        if not is_json and output.is_terminal():
            output.write_line(f"{len(accepted):,} feeds on loopback addresses, kept in {settings.store}.")
        with watching(settings, is_quiet=is_json, has_end=is_once) as progress, _ending_after(seconds):
            summary = app.crawl(settings, is_once=is_once, is_all=False, visits_max=None, progress=progress)
    if is_json:
        output.write_json(summary)
    else:
        write_summary(summary, settings)


def _forget_others(catalogue: Catalogue, urls: set[str]) -> None:
    """Remove what an earlier demo served on ports that are closed now."""
    from junkai.backend.protocol import FeedFilter

    for row in list(catalogue.feeds(FeedFilter())):
        if urls.isdisjoint((row.source.url, *row.earlier_urls)):
            catalogue.remove(row.source.url)


def _settings(store: str | None, assignments: list[str]) -> Settings:
    """The demo's own, with what its command line says; an empty file and environment stand for the usual ones."""
    from junkai import config

    command_line = {**SETTINGS, **options.command_line(store=store, assignments=assignments)}
    return config.load(command_line=command_line, config_file=Path(os.devnull), environ={}).settings


@contextmanager
def _ending_after(seconds: float | None) -> Iterator[None]:
    """The signal that drains a crawl, sent by ourselves."""
    if seconds is None:
        yield
        return
    timer = threading.Timer(seconds, signal.raise_signal, [signal.SIGTERM])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
