"""`junkai add` and `junkai import`: URLs or an OPML file in; what was added, known and refused out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Final

import typer

from junkai.cli import files, options, output

if TYPE_CHECKING:
    from junkai.config import Effective
    from junkai.document import Problem
    from junkai.intake import Refusal

#: On standard error; --json has them all.
REFUSALS_SHOWN_MAX: Final = 50

_Owner = Annotated[str, typer.Option("--owner", metavar="ID", help="Who wants it; nobody: the operator.")]
_Groups = Annotated[list[str] | None, typer.Option("--group", metavar="NAME", help="A group to put it in. Repeatable.")]
_Interval = Annotated[
    str | None, typer.Option("--interval", metavar="SPAN", help="Visit it this often, such as 2h; 5m at least.")
]


@options.with_settings
def add(
    effective: Effective,
    *,
    urls: Annotated[list[str], typer.Argument(metavar="URL...", help="Feeds to visit from now on.")],
    owner: _Owner = "",
    groups: _Groups = None,
    interval: _Interval = None,
    is_json: options.AsJson = False,
) -> None:
    """Add sources; they are due at once."""
    from junkai import clock, intake
    from junkai.backend.protocol import NewSource
    from junkai.cli import stores

    interval_s = _interval_s(interval)
    wanted = [
        intake.Wanted(
            source=NewSource(url=url, owner=owner, groups=tuple(groups or ()), explicit_interval_s=interval_s)
        )
        for url in urls
    ]
    accepted, refused = intake.sift(wanted, effective.settings)
    is_new: list[bool] = []
    if accepted:
        with stores.opened(effective.settings) as store:
            is_new = intake.take(store.frontier, accepted, clock.utc_now())
    for one, is_added in zip(accepted, is_new, strict=True):
        result = "added" if is_added else "known"
        if is_json:
            output.write_json({"url": one.source.url, "result": result})
        elif interval_s is not None and not is_added:
            output.write_fields((result, one.source.url, f"every {interval} from its next visit on"))
        else:
            output.write_fields((result, one.source.url))
    for refusal in refused:
        output.write_error(f"junkai: {refusal.url}: {refusal.why}")
    if refused:
        raise typer.Exit(2)


@options.with_settings
def import_opml(
    effective: Effective,
    *,
    file: Annotated[str, typer.Argument(metavar="FILE", help="An OPML file; - is standard input.")],
    owner: _Owner = "",
    groups: _Groups = None,
    interval: _Interval = None,
    is_json: options.AsJson = False,
) -> None:
    """Add all feeds of an OPML file; its folders become groups."""
    from junkai import clock, intake
    from junkai.cli import stores
    from junkai.parse import opml

    interval_s = _interval_s(interval)
    name = "standard input" if file == "-" else file
    listed = opml.read_opml(files.read(file, opml.BODY_BYTES_MAX), name)
    wanted = intake.wanted_by_opml(listed.feeds, owner=owner, groups=groups or [], interval_s=interval_s)
    accepted, refused = intake.sift(wanted, effective.settings)
    added = 0
    if accepted:
        with stores.opened(effective.settings) as store, _progress(len(accepted)) as on_batch:
            added = sum(intake.take(store.frontier, accepted, clock.utc_now(), on_batch=on_batch))
    known = len(accepted) - added
    _report(name, listed.problems, refused, is_json=is_json)
    if is_json:
        output.write_json({"added": added, "known": known, "refused": len(refused)})
    else:
        output.write_line(f"added {added:,}, known {known:,}, refused {len(refused):,}")
    if not accepted:
        if not refused:
            output.write_error(f"junkai: {name}: no feeds in it; a feed is an outline with an xmlUrl")
        raise typer.Exit(1)


def _report(name: str, problems: Sequence[Problem], refused: Sequence[Refusal], *, is_json: bool) -> None:
    """Say what the file got wrong, and each refusal with its line."""
    if is_json:
        for refusal in refused:
            output.write_json({"file": name, "line": refusal.line, "url": refusal.url, "why": refusal.why})
        return
    for problem in problems[:REFUSALS_SHOWN_MAX]:
        output.write_error(f"{name}:{problem.line}: {problem.message}")
    for refusal in refused[:REFUSALS_SHOWN_MAX]:
        output.write_error(f"{name}:{refusal.line}: {refusal.url}: {refusal.why}")
    if len(refused) > REFUSALS_SHOWN_MAX:
        output.write_error(f"{name}: {len(refused) - REFUSALS_SHOWN_MAX:,} more refused; --json shows all")


def _interval_s(interval: str | None) -> float | None:
    from junkai import intake, timespan

    interval_s = timespan.seconds(interval) if interval is not None else None
    intake.check_interval(interval_s)
    return interval_s


@contextmanager
def _progress(total: int) -> Iterator[Callable[[int], None] | None]:
    """A bar on standard error while a person watches it."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("Importing"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=output.console(is_error=True), transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda done: bar.update(task, completed=done)
