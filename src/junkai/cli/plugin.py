"""Readings and thresholds in; the one line and the exit code that Nagios and Icinga take from a plugin, out.

The form is that of the Monitoring Plugins guidelines: `JUNKAI OK - sentence | 'label'=value[UOM];warn;crit;min;max`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from typing import Any, NamedTuple, NoReturn, TypeVar

import typer
from typer.core import TyperCommand

from junkai.cli import output
from junkai.cli.threshold import Range
from junkai.errors import JunkaiError

T = TypeVar("T")


class Level(IntEnum):
    """How it is, and the exit code that says so."""

    OK = 0
    WARNING = 1
    CRITICAL = 2
    UNKNOWN = 3


class Finding(NamedTuple):
    """A level, and the clause that says why."""

    level: Level
    words: str


class Limits(NamedTuple):
    """When to tell of a value; None: never."""

    warning: Range | None = None
    critical: Range | None = None

    def level(self, value: float) -> Level:
        """How bad the value is."""
        if self.critical is not None and self.critical.alerts(value):
            return Level.CRITICAL
        return Level.WARNING if self.warning is not None and self.warning.alerts(value) else Level.OK


class Reading(NamedTuple):
    """A value with its name, and what a person is told of it."""

    name: str
    value: float | None  #: None: not known
    words: str = ""
    unit: str = ""
    most: str = ""
    is_judged: bool = True


def findings(readings: Iterable[Reading], limits: dict[str, Limits]) -> list[Finding]:
    """A finding for each reading that its limits judge."""
    return [
        Finding(limits[reading.name].level(reading.value), reading.words)
        for reading in readings
        if reading.is_judged and reading.value is not None and reading.name in limits
    ]


def end(found: Sequence[Finding], graphs: Sequence[str] = ()) -> NoReturn:
    """Write the line, the worst first and what is fine only where all is, and end with the worst one's code."""
    level = max(finding.level for finding in found)
    told = [finding for finding in found if finding.words and (finding.level > Level.OK or level is Level.OK)]
    words = "; ".join(finding.words for finding in sorted(told, key=lambda finding: -finding.level))
    said = f"JUNKAI {level.name} - {words}".replace("|", "/")  # after a bar come the graphs
    output.write_line(" ".join((said, "|", *graphs)) if graphs else said)
    raise typer.Exit(level)


def graph(reading: Reading, limits: Limits) -> str:
    """A value for graphs, with its thresholds; U where it is not known."""
    value = "U" if reading.value is None else f"{reading.value:.3f}".rstrip("0").rstrip(".") + reading.unit
    ranges = ["" if limit is None else limit.text for limit in limits]
    return f"'{reading.name}'" + "=" + ";".join((value, *ranges, "0", reading.most)).rstrip(";")


class Plugin(TyperCommand):
    """A command whose every trouble, even a word on the command line that means nothing, is one line and code 3."""

    def make_context(self, *arguments: Any, **more: Any) -> Any:
        """Read the command line."""
        return _or_unknown(lambda: super(Plugin, self).make_context(*arguments, **more))

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        return _or_unknown(lambda: super(Plugin, self).invoke(ctx))


def _or_unknown(call: Callable[[], T]) -> T:
    """What the call returns. An unknown fault must not look like a warning, which is what code 1 would say."""
    try:
        return call()
    except typer.Exit:
        raise
    except Exception as error:
        end([Finding(Level.UNKNOWN, _in_words(error))])
        raise


def _in_words(error: Exception) -> str:
    if hasattr(error, "format_message"):  # Typer's own, of wrong use
        return str(error.format_message())
    return str(error) if isinstance(error, JunkaiError) else f"a fault of Junkai: {error!r}"
