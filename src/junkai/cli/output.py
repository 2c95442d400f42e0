"""Rows in; JSON lines, plain lines or a table on standard output out, whichever was asked for or can be read there."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from junkai import terminal

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

T = TypeVar("T")

#: A table is measured as a whole before it is drawn; more rows than this help nobody on a terminal.
TABLE_ROWS_MAX: Final = 200

#: The words of `wording.standing` that need an eye; red only for what did not answer.
STATE_STYLES: Final = {
    "New entries": "green",
    "Failed": "red",
    "Given up": "red",
    "Held": "yellow",
    "Moving": "magenta",
    "Redirected": "magenta",
}


class Column(NamedTuple):
    """One column of a table."""

    head: str
    ratio: int = 0  #: its part of the width that is left; 0: as wide as its content
    is_right: bool = False
    is_whole: bool = False  #: never wrapped


class Cell(NamedTuple):
    """What stands in a table: a line, and a quieter one under it."""

    text: str
    under: str = ""
    style: str = ""


def is_terminal() -> bool:
    """True where a person reads standard output."""
    return sys.stdout.isatty()


def write_json(value: object) -> None:
    """One value as one line: JSON in UTF-8, moments in RFC 3339 with Z."""
    import msgspec

    sys.stdout.flush()
    sys.stdout.buffer.write(terminal.safe_json(msgspec.json.encode(value)) + b"\n")


def write_line(text: str) -> None:
    """One line of text that may hold anything; made safe."""
    sys.stdout.write(terminal.safe(text) + "\n")


def write_fields(fields: Sequence[str]) -> None:
    """One plain line: fields in a fixed order with tabs between, whole."""
    sys.stdout.write("\t".join(map(terminal.safe, fields)) + "\n")


def write_list(
    rows: Iterable[T],
    *,
    is_json: bool,
    view: Callable[[T], object],
    fields: Callable[[T], Sequence[str]],
    columns: Sequence[Column],
    cells: Callable[[T], Sequence[Cell]],
    empty: str,
    limit: int | None = None,
) -> None:
    """A list in the form that fits: JSON lines, plain lines, or a table on a terminal. `empty` is said there only."""
    rows = islice(rows, limit) if limit is not None else iter(rows)
    if is_json:
        for row in rows:
            write_json(view(row))
    elif not is_terminal():
        for row in rows:
            write_fields(fields(row))
    else:
        _write_table(rows, columns, cells, empty, limit or TABLE_ROWS_MAX)


def _write_table(
    rows: Iterator[T], columns: Sequence[Column], cells: Callable[[T], Sequence[Cell]], empty: str, rows_max: int
) -> None:
    shown = [cells(row) for row in islice(rows, rows_max)]
    if not shown:
        write_line(empty)
        return
    console().print(table(columns, shown))
    if next(rows, None) is not None:
        write_line(f"The first {rows_max}. --limit shows more; a filter, a pipe or --json shows what you look for.")


def table(columns: Sequence[Column], rows: Iterable[Sequence[Cell]]) -> RenderableType:
    """A Rich table of safe text, without boxes; what does not fit wraps."""
    from rich import box
    from rich.table import Table

    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=any(column.ratio for column in columns))
    for column in columns:
        drawn.add_column(
            column.head,
            justify="right" if column.is_right else "left",
            ratio=column.ratio or None,
            no_wrap=column.is_whole,
            overflow="ellipsis" if column.is_whole else "fold",
        )
    for row in rows:
        drawn.add_row(*(_text(cell) for cell in row))
    return drawn


def _text(cell: Cell) -> RenderableType:
    from rich.text import Text

    text = Text(terminal.safe(cell.text), style=cell.style)
    if cell.under:
        text.append("\n")
        text.append(terminal.safe(cell.under), style="not bold dim")
    return text


def console(*, is_error: bool = False) -> Console:
    """A Rich console that reads no markup and no emoji codes in text, and respects NO_COLOR."""
    from rich.console import Console

    return Console(markup=False, emoji=False, highlight=False, stderr=is_error, soft_wrap=False)


def write_facts(facts: Iterable[tuple[str, str]]) -> None:
    """Names and values, one a line: aligned on a terminal, with a tab between elsewhere. Empty values are left out."""
    kept = [(name, value) for name, value in facts if value]
    if not is_terminal():
        for name, value in kept:
            write_fields((name, value))
        return
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in kept:
        grid.add_row(name, Text(terminal.safe(value)))
    console().print(grid)


def write_heading(text: str) -> None:
    """A line that begins a part of a page: bold on a terminal."""
    if is_terminal():
        from rich.text import Text

        console().print(Text(terminal.safe(text), style="bold"))
    else:
        write_line(text)


def write_error(text: str) -> None:
    """One line on standard error, made safe."""
    sys.stderr.write(terminal.safe(text) + "\n")


def discard_output() -> None:
    """Point standard output at nothing: whoever read it is gone, and the interpreter's last flush would complain."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, sys.stdout.fileno())
    os.close(nothing)
