"""Visits as they are recorded in; a live display or log lines on standard output out."""

from __future__ import annotations

import sys
from collections import deque
from typing import TYPE_CHECKING, Final

from rich.console import Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from junkai import clock, logs, terminal, visitlog, wording
from junkai.cli import output
from junkai.model import Fetched
from junkai.parse.sanitize import text_of_entry
from junkai.visitlog import VisitResult

if TYPE_CHECKING:
    from datetime import datetime
    from types import TracebackType
    from typing import Self

    from junkai.backend.protocol import Recorded
    from junkai.model import Decision, Source, Visit

#: News above the display; what comes faster than anyone reads is counted only.
NEWS_PER_SECOND_MAX: Final = 8
RUNNING: Final = "Ctrl-C stops: what is in flight is still recorded."
STOPPING: Final = "Stopping: what is in flight ends by its deadline. Ctrl-C again ends at once; nothing is lost."
RATE_WINDOW_SECONDS: Final = 10.0


class Lines:
    """Writes one log line per visit. When nobody reads them any more, the crawl goes on without."""

    def __init__(self, *, is_json: bool) -> None:
        self._is_json = is_json

    def on_round(self, total: int) -> None:
        """Nothing to say: every visit has its line."""

    def on_visit(self, visit: Visit, source: Source, decision: Decision, recorded: Recorded) -> None:
        """Write the visit's line, at once."""
        line = logs.visit_line(visit, source, decision, recorded)
        try:
            sys.stdout.write((logs.as_json(line) if self._is_json else logs.as_text(line)) + "\n")
            sys.stdout.flush()
        except OSError:  # nobody reads any more, or there is no room: the crawl matters more
            output.discard_output()

    def on_idle(self, ready_at: datetime | None) -> None:
        """Not said: the next visit's line will."""

    def on_stop(self) -> None:
        """Not said: the visits in flight have their lines."""


class Silence:
    """Writes nothing."""

    def on_round(self, total: int) -> None:
        """Not told."""

    def on_visit(self, visit: Visit, source: Source, decision: Decision, recorded: Recorded) -> None:
        """Not told."""

    def on_idle(self, ready_at: datetime | None) -> None:
        """Not told."""

    def on_stop(self) -> None:
        """Not told."""


class Display:
    """A few lines at the bottom of the terminal that count along, with the news scrolling by above them."""

    def __init__(self, *, has_end: bool) -> None:
        self._counts = dict.fromkeys(VisitResult, 0)
        self._new = self._edited = self._visits = self._total = self._unsaid = 0
        self._began_s = clock.monotonic()
        self._recent: deque[float] = deque()
        self._news_at: deque[float] = deque(maxlen=NEWS_PER_SECOND_MAX)
        self._bar: Progress | None = None
        self._spinner = Spinner("dots", "")
        self._footer = RUNNING
        console = output.console()
        if has_end:
            columns = (TextColumn("Round"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
            self._bar = Progress(*columns, console=console)
            self._task = self._bar.add_task("", total=None)
        self._live = Live(console=console, get_renderable=self._render, refresh_per_second=4, transient=True)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def on_round(self, total: int) -> None:
        """The bar learns its length."""
        self._total = total
        if self._bar is not None:
            self._bar.update(self._task, total=total)

    def on_visit(self, visit: Visit, source: Source, decision: Decision, recorded: Recorded) -> None:
        """Count the visit; say it where it brought something or failed."""
        now_s = clock.monotonic()
        self._recent.append(now_s)
        result = visitlog.result_of(visit.outcome)
        if self._footer != STOPPING:
            self._footer = RUNNING
        if recorded.is_lost:
            return
        self._visits += 1
        self._counts[result] += 1
        self._new += recorded.entries_new
        self._edited += recorded.entries_updated
        if self._bar is not None and result is not VisitResult.REDIRECTED:
            self._bar.update(self._task, completed=self._visits - self._counts[VisitResult.REDIRECTED])
        news = _news(visit, source, decision, recorded)
        if news is not None:
            self._say(news, now_s)

    def on_idle(self, ready_at: datetime | None) -> None:
        """Say what is waited for."""
        if self._footer == STOPPING:
            return
        if ready_at is None:
            self._footer = (
                "Nothing to visit yet: `junkai add URL` or `junkai import FILE.opml` brings some. Ctrl-C stops."
            )
        elif self._bar is not None:
            when = wording.clock(ready_at, clock.utc_now())
            self._footer = f"Waiting until {when} for hosts that are spared, or in a turn that a killed crawl left."
        else:
            when = wording.clock(ready_at, clock.utc_now())
            self._footer = f"Nothing is due: the next visit is at {when}. Ctrl-C stops."

    def on_stop(self) -> None:
        """Say that it was heard."""
        self._footer = STOPPING

    def _say(self, news: Text, now_s: float) -> None:
        if len(self._news_at) == NEWS_PER_SECOND_MAX and now_s - self._news_at[0] < 1:
            self._unsaid += 1
            return
        self._news_at.append(now_s)
        self._live.console.print(news, no_wrap=True, overflow="ellipsis")

    def _render(self) -> Group:
        now_s = clock.monotonic()
        while self._recent and now_s - self._recent[0] > RATE_WINDOW_SECONDS:
            self._recent.popleft()
        span_s = min(max(now_s - self._began_s, 1.0), RATE_WINDOW_SECONDS)
        counts = self._counts
        parts = [
            (wording.visits(self._visits), "bold"),
            (f"{counts[VisitResult.FETCHED] + counts[VisitResult.SAME_BODY]:,} ok", ""),
            (f"{counts[VisitResult.NOT_MODIFIED]:,} not modified", ""),
            (f"{self._failed():,} failed", "red" if self._failed() else ""),
            (f"{self._new:,} new", "green" if self._new else ""),
            (f"{len(self._recent) / span_s:.1f}/s", "dim"),
        ]
        line = Text(" · ").join(Text(text, style=style) for text, style in parts)
        if self._bar is not None:
            return Group(Text(), self._bar, line, *([Text(self._footer, style="dim")] * (self._footer != RUNNING)))
        grid = Table.grid(padding=(0, 1))
        grid.add_row(self._spinner, line)
        return Group(Text(), grid, Text(self._footer, style="dim"))

    def _failed(self) -> int:
        counts = self._counts
        return counts[VisitResult.FAILED] + counts[VisitResult.GONE] + counts[VisitResult.RATE_LIMITED]


def _news(visit: Visit, source: Source, decision: Decision, recorded: Recorded) -> Text | None:
    """A visit that brought entries, or trouble, in one line; None for the others."""
    title = terminal.safe(decision.state.title or source.url)
    if recorded.error is not None:
        return Text.assemble(
            ("  ✗ ", "red"), (title, "bold"), f"  could not be stored: {terminal.safe(recorded.error)}"
        )
    if recorded.entries_new or recorded.entries_updated:
        newest = (
            visit.outcome.document.entries[:1] if isinstance(visit.outcome, Fetched) and visit.outcome.document else ()
        )
        newest_title = terminal.safe(newest[0].title or text_of_entry(newest[0])[:80]) if newest else ""
        number = f"{recorded.entries_new} new" if recorded.entries_new else f"{recorded.entries_updated} edited"
        return Text.assemble((f"  {number:>9}  ", "green"), (title, "bold"), f"  {newest_title}")
    result = visitlog.result_of(visit.outcome)
    if result in (VisitResult.FAILED, VisitResult.GONE, VisitResult.RATE_LIMITED):
        style = "yellow" if result is VisitResult.RATE_LIMITED else "red"
        word = wording.RESULT_WORDS[result]
        return Text.assemble(
            (f"  {word:>9}  ", style),
            (terminal.safe(source.url), "bold"),
            f"  {terminal.safe(decision.state.error or '')}",
        )
    return None
