"""What every command takes, and how a command gets its settings from it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from junkai.cli import options
from junkai.cli.program import program
from junkai.config import Effective
from junkai.errors import SettingsError


def test_set_and_store_become_settings() -> None:
    actual = options.command_line(store="sqlite:///a.db", assignments=["delay_seconds=2", "contact_url=http://a/?b=c"])

    assert {"delay_seconds": "2", "contact_url": "http://a/?b=c", "store": "sqlite:///a.db"} == actual


def test_an_assignment_without_a_value_is_said() -> None:
    with pytest.raises(SettingsError, match="delay_seconds: write it as --set NAME=VALUE"):
        options.command_line(store=None, assignments=["delay_seconds"])


def test_the_command_line_wins_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "other.toml"
    file.write_text("delay_seconds = 7\nconcurrency = 3\n")

    actual = options.load_settings(store=None, assignments=["delay_seconds=2"], config=str(file))

    assert (2.0, "command line") == (actual.settings.delay_seconds, actual.origins["delay_seconds"])
    assert (3, str(file)) == (actual.settings.concurrency, actual.origins["concurrency"])


def test_a_command_is_given_its_settings_first() -> None:
    seen: list[tuple[float, str]] = []
    app = typer.Typer()

    @app.command()
    @options.with_settings
    def command(effective: Effective, *, name: Annotated[str, typer.Argument(help="A name.")]) -> None:
        """Do it."""
        seen.append((effective.settings.delay_seconds, name))

    result = CliRunner().invoke(app, ["here", "--set", "delay_seconds=3"])

    assert (0, [(3.0, "here")]) == (result.exit_code, seen)


def test_every_command_but_version_takes_a_store() -> None:
    without = [
        command.name
        for command in program.registered_commands
        if "store" not in getattr(command.callback, "__annotations__", {})
    ]

    assert ["version"] == without
