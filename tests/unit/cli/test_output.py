"""Lists in their three forms; nothing that steers a terminal in any of them."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest

from junkai.cli import output
from junkai.cli.output import Cell, Column
from screens import screen

HOSTILE = "\x1b[31m[red]悪い\u202etitle\x07"


def written(rows: Iterable[str], *, is_json: bool = False, limit: int | None = None) -> None:
    output.write_list(
        rows,
        is_json=is_json,
        view=lambda row: {"title": row},
        fields=lambda row: (row, "whole"),
        columns=(Column("Title", ratio=1), Column("Rest", is_right=True)),
        cells=lambda row: (Cell(row, "under it"), Cell("7")),
        empty="Nothing here.",
        limit=limit,
    )


def test_elsewhere_than_on_a_terminal_a_row_is_a_line_with_tabs(capsys: pytest.CaptureFixture[str]) -> None:
    written(["紅葉 " * 100, "two"])

    assert ["紅葉 " * 99 + "紅葉\twhole", "two\twhole"] == capsys.readouterr().out.splitlines()


def test_a_tab_inside_a_field_does_not_make_another(capsys: pytest.CaptureFixture[str]) -> None:
    written(["a\tb\nc"])

    assert capsys.readouterr().out == "a b c\twhole\n"


def test_json_is_a_line_for_each_row(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    written(["紅葉", HOSTILE], is_json=True)

    lines = capsysbinary.readouterr().out.splitlines()
    assert '{"title":"紅葉"}'.encode() == lines[0]
    assert {"title": HOSTILE} == json.loads(lines[1])
    assert b"\x1b" not in lines[1]


def test_a_limit_ends_a_list(capsys: pytest.CaptureFixture[str]) -> None:
    written((str(number) for number in range(10)), limit=2)

    assert capsys.readouterr().out == "0\twhole\n1\twhole\n"


def test_an_empty_list_says_nothing_to_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    written([])

    assert capsys.readouterr().out == ""


def test_an_empty_list_says_what_to_do_to_a_person() -> None:
    with screen() as raw:
        written([])

    assert raw.getvalue().decode() == "Nothing here.\n"


def test_a_table_shows_a_hostile_title_as_text() -> None:
    with screen() as raw:
        written([HOSTILE])

    shown = raw.getvalue().decode()
    assert "�[31m[red]悪いtitle�" in shown
    assert not set(shown) & set("\x07\x9b\u202e")


def test_a_table_keeps_to_the_width_in_wide_characters_too() -> None:
    from rich.cells import cell_len
    from rich.text import Text

    with screen() as raw:
        written(["日本の個人ブログの題名がとても長いとき" * 4])

    lines = [Text.from_ansi(line).plain for line in raw.getvalue().decode().splitlines()]
    assert {True} == {cell_len(line) <= 60 for line in lines}
    assert sum(line.count("題名") for line in lines) >= 3


def test_a_long_table_is_cut_and_says_how_to_see_more() -> None:
    with screen() as raw:
        written(str(number) for number in range(output.TABLE_ROWS_MAX + 1))

    assert "The first 200. --limit shows more" in raw.getvalue().decode()


def test_no_color_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    with screen() as raw:
        output.console().print(output.table([Column("A")], [[Cell("text", style="red")]]))

    assert "\x1b[31m" not in raw.getvalue().decode()


def test_facts_without_a_value_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    output.write_facts((("Title", "A"), ("Site", ""), ("Host", "b")))

    assert capsys.readouterr().out == "Title\tA\nHost\tb\n"
