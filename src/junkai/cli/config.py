"""`junkai config`: all layers of settings in; each value and where it comes from out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from junkai import url
from junkai.cli import options, output
from junkai.cli.output import Cell, Column

if TYPE_CHECKING:
    from junkai.config import Effective


@options.with_settings
def config(effective: Effective, *, is_json: options.AsJson = False) -> None:
    """Show the settings in force and where each comes from."""
    values = {name: getattr(effective.settings, name) for name in effective.origins}
    values["proxy"] = url.without_credentials(values["proxy"])
    rows = [(name, values[name], origin) for name, origin in effective.origins.items()]
    output.write_list(
        rows,
        is_json=is_json,
        view=lambda row: {"name": row[0], "value": row[1], "origin": row[2]},
        fields=lambda row: (row[0], _text(row[1]), row[2]),
        columns=(Column("Setting", is_whole=True), Column("Value"), Column("From")),
        cells=lambda row: (Cell(row[0]), Cell(_text(row[1])), Cell(row[2], style="dim" if row[2] == "default" else "")),
        empty="",
    )


def _text(value: object) -> str:
    """A value as --set takes it."""
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    if isinstance(value, bool):
        return str(value).lower()
    return str(value).removesuffix(".0")
