"""`junkai doctor`: the machine and the settings in; one line per check, with what to do, out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from junkai.cli import options, output
from junkai.cli.output import Cell, Column

if TYPE_CHECKING:
    from junkai.config import Effective

_MARKS = {"ok": "✓", "warning": "!", "failed": "✗"}
_STYLES = {"ok": "green", "warning": "yellow", "failed": "red"}


@options.with_settings
def doctor(effective: Effective, *, is_json: options.AsJson = False) -> None:
    """Check what a crawl needs: DNS, CA file, clock, open files, disk, store."""
    from junkai import clock
    from junkai import doctor as checks

    found = checks.examine(effective.settings, clock.utc_now())
    output.write_list(
        found,
        is_json=is_json,
        view=lambda check: check,
        fields=lambda check: (_MARKS[check.level], check.name, f"{check.finding} {check.remedy}".strip()),
        columns=(Column("", is_whole=True), Column("Check", is_whole=True), Column("Finding")),
        cells=lambda check: (
            Cell(_MARKS[check.level], style=_STYLES[check.level]),
            Cell(check.name),
            Cell(check.finding, check.remedy),
        ),
        empty="",
    )
    if any(check.level == "failed" for check in found):
        raise typer.Exit(1)
