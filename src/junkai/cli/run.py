"""`junkai run`: settings in; the whole system, running until it is stopped, and a summary, out."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from junkai.cli import options


def run(
    *,
    brokers: Annotated[
        int | None, typer.Option("--brokers", metavar="N", min=1, help="Broker processes; else one for each core.")
    ] = None,
    is_once: Annotated[bool, typer.Option("--once", help="One round of what is due now, and end.")] = False,
    is_all: Annotated[
        bool, typer.Option("--all", help="Treat every active source as due; delays and holds stay.")
    ] = False,
    is_json: Annotated[bool, typer.Option("--json", help="Only the summary, as one JSON object.")] = False,
    has_no_web: Annotated[bool, typer.Option("--no-web", help="Without the web page.")] = False,
    store: options.StoreAddress = None,
    assignments: options.Assignments = None,
    config: options.ConfigFile = None,
) -> None:
    """Keep the whole system running: brokers that crawl, the web page, the status port.

    SIGTERM or Ctrl-C stops it, what is in flight is recorded; SIGHUP takes up changed settings and a new version.
    """
    import msgspec

    from junkai.launch import MANAGER, Launch, System, program_of

    words = options.command_line(store=store, assignments=assignments or [])
    if brokers is not None:
        words["brokers"] = str(brokers)
    launch = Launch(program=program_of(sys.argv[0]), command_line=words, config_file=config)
    system = System(launch=launch, is_once=is_once, is_all=is_all, is_quiet=is_json, has_web=not has_no_web)
    # The manager stays for months: it begins afresh in this process, without what it took to read the command line.
    command = [*launch.program, MANAGER, msgspec.json.encode(system).decode()]
    os.execv(command[0], command)  # noqa: S606  # this very program
