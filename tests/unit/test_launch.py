"""The program that a system was started with, found again for its parts and after a deploy."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from junkai.errors import SettingsError
from junkai.launch import Launch, program_of


def test_a_script_is_started_again_by_its_own_path_with_links_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "v1").mkdir()
    script = tmp_path / "v1" / "junkai"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    (tmp_path / "current").symlink_to("v1")
    monkeypatch.chdir(tmp_path)

    assert (f"{tmp_path}/current/junkai",) == program_of("current/junkai")


def test_a_module_is_started_again_by_the_interpreter(tmp_path: Path) -> None:
    module = tmp_path / "__main__.py"
    module.write_text("")

    assert (sys.executable, "-m", "junkai") == program_of(str(module))
    assert (sys.executable, "-m", "junkai") == program_of("-c")


def test_settings_are_read_afresh_and_the_command_line_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "other.toml"
    launch = Launch(program=("junkai",), command_line={"brokers": "3"}, config_file=str(file))
    monkeypatch.setenv("JUNKAI_CONCURRENCY", "7")

    file.write_text("delay_seconds = 2\nbrokers = 9\n")
    before = launch.settings()
    file.write_text("delay_seconds = 3\n")
    after = launch.settings()

    assert (3, 7, 2.0) == (before.brokers, before.concurrency, before.delay_seconds)
    assert 3.0 == after.delay_seconds
    file.write_text("delay_seconds = 'soon'\n")
    with pytest.raises(SettingsError):
        launch.settings()


def test_a_launch_alone_minds_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUNKAI_CONCURRENCY", "7")

    assert 200 == Launch(program=("junkai",), config_file="/dev/null", is_alone=True).settings().concurrency


def test_a_word_is_added_to_the_command_line() -> None:
    launch = Launch(program=("junkai",), command_line={"brokers": "3"}).with_setting("store", "sqlite:///a.db")

    assert {"brokers": "3", "store": "sqlite:///a.db"} == launch.command_line
