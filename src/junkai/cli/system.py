"""A system to run in; the system, running to its end, and a summary of what it did, out. The manager's own process."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import msgspec

from junkai import clock, logs
from junkai.backend import crawl_lock
from junkai.cli import output
from junkai.cli.summary import write_summary
from junkai.fleet import Summary, Work
from junkai.launch import System
from junkai.manager import Manager
from junkai.supervision.ports import Ports, listening

if TYPE_CHECKING:
    from junkai.config import Settings


def main(words: list[str]) -> int:
    """Run the system that the command line describes; the exit code. Raises like `run_system`."""
    run_system(msgspec.json.decode(words[0], type=System))
    return 0


def run_system(system: System) -> None:
    """Run it to its end, and say what it did.

    Raises SettingsError, UsageError for a port in use, StoreError and its kinds, JunkaiError where nothing starts.
    """
    settings = system.launch.settings()
    logs.write_troubles(is_json=logs.is_json(settings, is_terminal=sys.stderr.isatty()), is_wordy=not system.is_quiet)
    with crawl_lock(settings.store):
        _prepare(settings, is_all=system.is_all)
        summary = asyncio.run(_run(system, settings))
    if system.is_quiet:
        output.write_json(summary)
    else:
        write_summary(summary, settings)


def _prepare(settings: Settings, *, is_all: bool) -> None:
    """Make the store, or bring it to this version, before many processes open it; the manager itself never does."""
    from junkai.cli import stores  # here: it is needed for a moment only

    with stores.opened(settings) as store:
        if is_all:
            store.catalogue.refresh(None, clock.utc_now())


async def _run(system: System, settings: Settings) -> Summary:
    began_s = clock.monotonic()
    is_shown = not system.is_quiet and output.is_terminal() and settings.log_format == "auto"
    async with listening(settings, has_web=system.has_web, takes_any=system.takes_any_port) as ports:
        manager = Manager(
            system.launch,
            settings,
            ports,
            round_at=clock.utc_now() if system.is_once else None,
            is_silent=system.is_quiet or is_shown,
        )
        if not system.is_quiet:
            _announce(ports, settings)
        if system.seconds is not None:
            asyncio.get_running_loop().call_later(system.seconds, manager.drain)
        await (_shown(manager) if is_shown else manager.run())
    done = manager.snapshot()
    return Summary(
        **{name: getattr(done.work, name) for name in Work.__struct_fields__},
        skipped=manager.skipped,
        seconds=round(clock.monotonic() - began_s, 3),
        cpu_seconds=done.cpu_s,
    )


def _announce(ports: Ports, settings: Settings) -> None:
    """Where the system can be looked at: the first that it says."""
    status = f"127.0.0.1:{ports.status_number}"
    if logs.is_json(settings, is_terminal=output.is_terminal()):
        output.write_json({"event": "listening", "page": ports.page or None, "status_port": ports.status_number})
    else:
        output.write_facts((("Page", ports.page), ("Status", f"telnet {status.replace(':', ' ')}")))
    sys.stdout.flush()


async def _shown(manager: Manager) -> None:
    """The manager's run with a live display of it on the terminal."""
    from junkai.cli.board import Board

    with Board() as board:
        watching = asyncio.create_task(board.watch(manager))
        try:
            await manager.run()
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
