"""`junkai check`: the store and the manager's word in; one line for Nagios or Icinga, and their exit code, out."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import typer

from junkai.cli import options, plugin, threshold
from junkai.cli.plugin import Finding, Level, Limits, Reading
from junkai.errors import JunkaiError, UsageError

if TYPE_CHECKING:
    from junkai.backend.listed import Freshness
    from junkai.cli.background import Answer
    from junkai.config import Effective, Settings
    from junkai.fleet import Backlog, Snapshot

#: Of visits, those of the last 15 minutes count; of entries, those of the last hour.
VISITS_SECONDS: Final = 900
#: A share or a median of fewer than so many is chance: it is in the graphs, and never alerts.
SAMPLE_MIN: Final = 20

#: What is compared, and to which ranges where the operator names none: warning, critical.
DEFAULTS: Final = {
    "overdue": ("0", "1000"),
    "lag": ("3600", "21600"),
    "brokers": ("100:", "1:"),
    "errors": ("25", "50"),
    "freshness": ("21600", "86400"),
}

Warnings = Annotated[
    list[str] | None,
    typer.Option("--warning", "-w", metavar="NAME=RANGE", help="Warn when NAME leaves the range. Repeatable."),
]
Criticals = Annotated[
    list[str] | None,
    typer.Option("--critical", "-c", metavar="NAME=RANGE", help="Critical when it does. `NAME=`: never."),
]
OverdueAfter = Annotated[
    str, typer.Option("--overdue-after", metavar="SPAN", help="Overdue: what could have been visited so long ago.")
]
Timeout = Annotated[
    float, typer.Option("--timeout", "-t", metavar="SECONDS", min=0.1, max=60, help="The longest wait for answers.")
]


class StoreNumbers(NamedTuple):
    """What is asked of the store."""

    overdue: Backlog  #: what was due already, and could be asked already, some minutes ago
    backlog: Backlog
    visits: int
    failed: int
    freshness: Freshness


@options.with_settings
def check(
    effective: Effective,
    *,
    warning: Warnings = None,
    critical: Criticals = None,
    overdue_after: OverdueAfter = "10m",
    timeout_s: Timeout = 1.0,
) -> None:
    """Check the system for Nagios or Icinga: one line, exit code 0, 1, 2 or 3.

    NAME is overdue (sources), lag (s: the longest wait of what is due),
    brokers (% that answer), errors (% of visits that failed) or freshness
    (s from publication to storage, median). RANGE is written as for all
    monitoring plugins: 10, 10:, ~:10, 10:20, @10:20.
    """
    from junkai import clock, timespan
    from junkai.cli import background

    settings = effective.settings
    limits = _limits(warning or [], critical or [])
    overdue_s = timespan.seconds(overdue_after)
    until_s = clock.monotonic() + timeout_s
    reading = _begin_reading(settings, clock.utc_now(), overdue_s)
    answer = background.ask_manager(settings, timeout_s=timeout_s)
    try:
        numbers = reading.result(max(until_s - clock.monotonic(), 0.05))
    except JunkaiError as error:
        _end_without_store(f"the store cannot be read: {error}", answer)
    except TimeoutError:
        _end_without_store(f"the store did not answer within {timeout_s:g} s: {settings.store}", answer)
    readings = [_of_brokers(answer.snapshot), *_of_store(numbers, overdue_s)]
    due = Reading("due", numbers.backlog.free + numbers.backlog.turn)
    graphs = [
        plugin.graph(one, limits.get(one.name, Limits())) for one in (*readings, due, Reading("visits", numbers.visits))
    ]
    plugin.end([*_of_manager(answer), *plugin.findings(readings, limits)], graphs)


def _end_without_store(why: str, answer: Answer) -> None:
    plugin.end([Finding(Level.UNKNOWN, f"{why}; {answer.why_none}" if answer.why_none else why)])


def _limits(warnings: list[str], criticals: list[str]) -> dict[str, Limits]:
    """The limits of each measure, defaults included. Raises UsageError."""
    ranges = [dict(zip(DEFAULTS, texts, strict=True)) for texts in zip(*DEFAULTS.values(), strict=True)]
    for named, given in zip(ranges, (warnings, criticals), strict=True):
        for assignment in given:
            name, equals, text = assignment.partition("=")
            if name not in DEFAULTS or not equals:
                raise UsageError(assignment, f"write it as NAME=RANGE; NAME is one of {', '.join(DEFAULTS)}")
            named[name] = text
    return {
        name: Limits(*(threshold.parse(named[name]) if named[name] else None for named in ranges)) for name in DEFAULTS
    }


# ── what the store says ──────────────────────────────────────────────────────────────────────────────────────────


def _begin_reading(settings: Settings, now: datetime, overdue_s: float) -> Future[StoreNumbers]:
    """Ask the store in a thread that is left behind where it hangs, as in a call to a lost disk."""
    found: Future[StoreNumbers] = Future()

    def read() -> None:
        try:
            found.set_result(_read(settings, now, overdue_s))
        except JunkaiError as error:
            found.set_exception(error)

    threading.Thread(target=read, daemon=True).start()
    return found


def _read(settings: Settings, now: datetime, overdue_s: float) -> StoreNumbers:
    from junkai.cli import stores

    with stores.opened_to_read(settings) as store:
        statistics = store.statistics
        minutes = statistics.minutes(now - timedelta(seconds=VISITS_SECONDS), now)
        return StoreNumbers(
            overdue=statistics.backlog(now - timedelta(seconds=overdue_s)),
            backlog=statistics.backlog(now),
            visits=sum(minute.visits for minute in minutes),
            failed=sum(minute.visits for minute in minutes if minute.outcome == "failed"),
            freshness=statistics.freshness(now),
        )


def _of_store(numbers: StoreNumbers, overdue_s: float) -> list[Reading]:
    from junkai import wording

    overdue, visits, fresh = numbers.overdue, numbers.visits, numbers.freshness
    due_at = numbers.backlog.oldest_due_at
    lag_s = 0.0 if due_at is None else max((numbers.backlog.at - due_at).total_seconds(), 0.0)
    more = " or more" if overdue.is_capped else ""
    errors = 100 * numbers.failed / visits if visits else None
    share = "" if errors is None else f"{errors:.1f} % of {wording.visits(visits)} in 15 min failed"
    median = f"entries of the last hour came {wording.span(fresh.median_s)} after publication"
    return [
        Reading(
            "overdue",
            overdue.free,
            f"{wording.sources(overdue.free)}{more} could have been visited {wording.span(overdue_s)} ago"
            if overdue.free
            else "nothing is overdue",
        ),
        Reading("lag", lag_s, f"the longest wait is {wording.span(lag_s)}" if due_at else "nothing is due", "s"),
        Reading("errors", errors, share, "%", most="100", is_judged=visits >= SAMPLE_MIN),
        Reading("freshness", fresh.median_s, median, "s", is_judged=fresh.entries >= SAMPLE_MIN),
    ]


# ── what the manager says ────────────────────────────────────────────────────────────────────────────────────────


def _of_brokers(snapshot: Snapshot | None) -> Reading:
    """How many of the brokers that should run do answer; those that end by plan are neither dead nor counted."""
    from junkai import wording

    if snapshot is None or snapshot.is_draining:
        return Reading("brokers", None, unit="%", most="100")
    wanted = snapshot.brokers_wanted
    heard = min(wording.heard_of(snapshot), wanted)
    words = f"{heard} of {wanted} {'broker' if wanted == 1 else 'brokers'} {'answers' if heard == 1 else 'answer'}"
    return Reading("brokers", 100 * heard / wanted if wanted else 0.0, words, "%", most="100")


def _of_manager(answer: Answer) -> list[Finding]:
    if answer.snapshot is None:
        return [Finding(Level.CRITICAL, answer.why_none)]
    found = []
    if answer.snapshot.is_draining:
        found.append(Finding(Level.WARNING, "the system is stopping"))
    if answer.snapshot.trouble:
        found.append(Finding(Level.WARNING, answer.snapshot.trouble.rstrip(".")))
    return found
