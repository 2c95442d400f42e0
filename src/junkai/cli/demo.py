"""`junkai demo`: nothing in; a site of feeds on this machine's loopback, and the whole system on it, out."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated, Final

import typer

from junkai.cli import options, output

if TYPE_CHECKING:
    from junkai.backend.protocol import Catalogue
    from junkai.launch import Launch

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
    """Run the whole system on a made-up site on this machine, without internet: see what Junkai does.

    It has a store (demo.db) and settings of its own; junkai.toml and JUNKAI_* do not count here.
    """
    from junkai import clock, intake
    from junkai.cli import stores
    from junkai.cli.system import run_system
    from junkai.demo import start_demo_site
    from junkai.launch import System
    from junkai.parse.opml import read_opml

    launch = _launch(store, assignments or [])
    settings = launch.settings()
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
        run_system(System(launch=launch, is_once=is_once, is_quiet=is_json, takes_any_port=True, seconds=seconds))


def _forget_others(catalogue: Catalogue, urls: set[str]) -> None:
    """Remove what an earlier demo served on ports that are closed now."""
    from junkai.backend.listed import FeedFilter

    for row in list(catalogue.feeds(FeedFilter())):
        if urls.isdisjoint((row.source.url, *row.earlier_urls)):
            catalogue.remove(row.source.url)


def _launch(store: str | None, assignments: list[str]) -> Launch:
    """The demo's own settings, with what its command line says; an empty file and environment stand for the usual."""
    from junkai.launch import Launch, program_of

    words = {**SETTINGS, **options.command_line(store=store, assignments=assignments)}
    return Launch(program=program_of(sys.argv[0]), command_line=words, config_file=os.devnull, is_alone=True)
