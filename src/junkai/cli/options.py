"""What commands share on their command line: --store, --set, --config and --json in; the settings in force out."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, ParamSpec, get_type_hints

import typer

from junkai.errors import SettingsError

if TYPE_CHECKING:
    from junkai.config import Effective  # read at run time by no one: commands that need no settings start without it

P = ParamSpec("P")

_PANEL = "Settings"

StoreAddress = Annotated[
    str | None,
    typer.Option("--store", metavar="ADDRESS", help="The store, such as sqlite:///junkai.db.", rich_help_panel=_PANEL),
]
Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="One setting; wins over all others. Repeatable.", rich_help_panel=_PANEL
    ),
]
ConfigFile = Annotated[
    str | None,
    typer.Option("--config", metavar="FILE", help="Read this file, not junkai.toml.", rich_help_panel=_PANEL),
]

AsJson = Annotated[bool, typer.Option("--json", help="One JSON object per line.")]
Owner = Annotated[str | None, typer.Option("--owner", metavar="ID", help="Only what this owner subscribes to.")]
Group = Annotated[str | None, typer.Option("--group", metavar="NAME", help="Only what is in this group.")]
Limit = Annotated[int | None, typer.Option("--limit", metavar="N", min=1, help="At most N.")]
SourceUrl = Annotated[str, typer.Argument(metavar="URL", help="A source's URL, as `junkai feeds` shows it.")]


def with_settings(command: Callable[Concatenate[Effective, P], None]) -> Callable[..., None]:
    """The command with --store, --set and --config added; its first argument becomes the settings in force."""

    @functools.wraps(command)
    def wrapped(
        *, store: str | None = None, assignments: list[str] | None = None, config: str | None = None, **own: Any
    ) -> None:
        call: Callable[..., None] = command
        call(load_settings(store=store, assignments=assignments or [], config=config), **own)

    hints = get_type_hints(command, localns={"Effective": Any}, include_extras=True)
    own_parameters = list(inspect.signature(command).parameters.values())[1:]
    parameters = [parameter.replace(annotation=hints[parameter.name]) for parameter in own_parameters]
    parameters += [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=hint)
        for name, hint in (("store", StoreAddress), ("assignments", Assignments), ("config", ConfigFile))
    ]
    wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # how inspect is told
    wrapped.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return wrapped


def load_settings(*, store: str | None, assignments: list[str], config: str | None) -> Effective:
    """All layers of settings, these options the highest. Raises SettingsError."""
    from junkai import config as settings

    return settings.load(
        command_line=command_line(store=store, assignments=assignments), config_file=Path(config) if config else None
    )


def command_line(*, store: str | None, assignments: list[str]) -> dict[str, str]:
    """What --store and --set say, by setting. Raises SettingsError for an assignment without a value."""
    values: dict[str, str] = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals:
            raise SettingsError(assignment, "write it as --set NAME=VALUE")
        values[name.strip()] = value
    if store is not None:
        values["store"] = store
    return values
