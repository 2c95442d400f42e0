"""Snapshots of a running system in; a live display of its totals on a terminal out."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from junkai import terminal, wording
from junkai.cli import output
from junkai.fleet import Phase

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from junkai.fleet import Backlog, BrokerRow, Snapshot
    from junkai.manager import Manager

_SECONDS: Final = 0.5
_BACKLOG_EVERY: Final = 10  #: pictures: what is due is asked of a broker, which looks into the store
_BROKERS_MAX: Final = 16
RUNNING: Final = "Ctrl-C stops: what is in flight is still recorded."
STOPPING: Final = "Stopping: what is in flight ends and is recorded. Ctrl-C again ends at once; nothing is lost."


class Board:
    """A few lines at the bottom of the terminal; what the log has to say scrolls by above them."""

    def __init__(self) -> None:
        self._live = Live(console=output.console(), auto_refresh=False, transient=True)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    async def watch(self, manager: Manager) -> None:
        """Draw it twice a second, until cancelled."""
        backlog: Backlog | None = None
        pictures = 0
        while True:
            if pictures % _BACKLOG_EVERY == 0:
                backlog = await manager.backlog() or backlog
            self._live.update(picture(manager.snapshot(), backlog), refresh=True)
            pictures += backlog is not None or pictures % _BACKLOG_EVERY > 0
            await asyncio.sleep(_SECONDS)


def picture(snapshot: Snapshot, backlog: Backlog | None) -> Group:
    """The totals, a line for each broker, and what can be done about it."""
    work = snapshot.work
    a_minute = sum(row.visits_a_minute for row in snapshot.brokers)
    due = "" if backlog is None else f"{wording.count(backlog.free + backlog.turn)}{'+' * backlog.is_capped} due"
    parts = [
        (wording.visits(work.visits), "bold"),
        (f"{a_minute:,.0f} a minute", ""),
        (f"{work.entries_new:,} new", "green" if work.entries_new else ""),
        (f"{work.failed:,} failed", "red" if work.failed else ""),
        (due, ""),
    ]
    totals = Text(" · ").join(Text(text, style=style) for text, style in parts if text)
    lines: list[Text | Table] = [Text(), totals, _brokers(snapshot)]
    if snapshot.trouble:
        lines.append(Text(terminal.safe(snapshot.trouble), style="red"))
    lines.append(Text(STOPPING if snapshot.is_draining else RUNNING, style="dim"))
    return Group(*lines)


def _brokers(snapshot: Snapshot) -> Table:
    table = Table.grid(padding=(0, 2))
    for row in snapshot.brokers[:_BROKERS_MAX]:
        heartbeat = row.heartbeat
        table.add_row(
            Text(row.name, style="dim"),
            Text(f"pid {row.pid}", style="dim"),
            Text(_doing(row)),
            Text(f"{heartbeat.in_turn:,} hosts in turn" if heartbeat.in_turn else ""),
            Text(f"{row.visits_a_minute:,.0f} a minute"),
            Text(wording.size(heartbeat.memory_bytes) if heartbeat.memory_bytes else "", style="dim"),
        )
    left_out = len(snapshot.brokers) - _BROKERS_MAX
    if left_out > 0:
        table.add_row(Text(f"and {left_out} more", style="dim"))
    return table


def _doing(row: BrokerRow) -> str:
    heartbeat = row.heartbeat
    if row.is_ending:
        return "ends"
    if heartbeat.phase is Phase.PASS and heartbeat.shard is not None:
        return f"shard {heartbeat.shard}"
    return heartbeat.phase.value
