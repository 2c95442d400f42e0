"""How a command ends when it is used wrongly, or meets a trouble that has a name."""

from __future__ import annotations

from pathlib import Path

import pytest

from junkai.__main__ import run


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to run in, without settings."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["feeds", "--set", "nosuch=1"], 2, "junkai: nosuch: unknown setting"),
        (["feeds", "--set", "delay_seconds=fast"], 2, "junkai: delay_seconds: bad value"),
        (["feeds", "--set", "delay_seconds"], 2, "junkai: delay_seconds: write it as --set NAME=VALUE"),
        (["feeds", "--store", "mysql://here"], 2, "junkai: mysql://here: "),
        (["feeds", "--config", "nosuch.toml"], 2, "junkai: nosuch.toml: no such file"),
        (["feeds"], 1, "junkai: sqlite:///junkai.db: no such store yet"),
        (
            ["add", "https://a.example/", "--interval", "10s"],
            2,
            "junkai: interval 10 s: shorter than the floor of 5 min",
        ),
        (["add", "https://a.example/", "--interval", "soon"], 2, "junkai: soon: not a time span"),
        (["add", "https://a.example/", "--set", "block=no host"], 2, "junkai: block: "),
        (["entries", "--since", "yesterday"], 2, "junkai: yesterday: not a moment"),
        (["host", "no host"], 2, "junkai: no host: not a host"),
        (["import", "nosuch.opml"], 2, "junkai: nosuch.opml: cannot be read: No such file or directory"),
        (["parse", "nosuch.xml"], 1, "junkai: nosuch.xml: cannot be read: No such file or directory"),
        (["fetch", "http://169.254.169.254/latest"], 2, "junkai: http://169.254.169.254/latest: "),
        (["fetch", "blog.example"], 2, "junkai: blog.example: not a URL"),
        (["add", "https://a\x1b[31m.example:x/"], 2, "junkai: https://a�[31m.example:x/: "),
    ],
)
def test_wrong_use_is_one_line_with_its_subject(
    arguments: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    actual = run(arguments)

    out, err = capsys.readouterr()
    assert (code, "", 1) == (actual, out, len(err.splitlines()))
    assert err.startswith(said)


@pytest.mark.usefixtures("folder")
def test_nothing_is_made_by_a_command_that_is_refused(folder: Path) -> None:
    run(["add", "ftp://a.example/", "nothing"])

    assert [] == list(folder.iterdir())


@pytest.mark.parametrize("arguments", [["crwl"], ["feeds", "--limit", "0"], ["feeds", "--state", "new"], ["add"]])
def test_what_the_command_line_cannot_mean_is_wrong_use(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    assert arguments[0] in capsys.readouterr().err


def test_a_command_that_did_its_work_ends_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["config"]) == 0
    assert capsys.readouterr().out.startswith("store\tsqlite:///junkai.db\tdefault\n")


def test_help_is_plain_where_no_person_reads_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["feeds", "--help"]) == 0
    assert not set(capsys.readouterr().out) & set("╭│\x1b")
