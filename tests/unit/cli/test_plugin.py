"""A monitoring plugin's line and exit code."""

from __future__ import annotations

import pytest
import typer

from junkai.cli import plugin, threshold
from junkai.cli.plugin import Finding, Level, Limits, Reading

LAG = {"lag": Limits(threshold.parse("60"), threshold.parse("3600"))}


def ended(found: list[Finding], graphs: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    with pytest.raises(typer.Exit) as end:
        plugin.end(found, graphs)
    return end.value.exit_code, capsys.readouterr().out


@pytest.mark.parametrize(
    ("value", "level"), [(60.0, Level.OK), (61.0, Level.WARNING), (3_600.0, Level.WARNING), (3_601.0, Level.CRITICAL)]
)
def test_the_worse_limit_wins(value: float, level: Level) -> None:
    assert [Finding(level, "slow")] == plugin.findings([Reading("lag", value, "slow")], LAG)


def test_what_is_not_known_or_not_judged_or_has_no_limit_is_not_found() -> None:
    readings = [Reading("lag", None), Reading("lag", 1e9, is_judged=False), Reading("due", 1e9)]

    assert [] == plugin.findings(readings, LAG)
    assert [Finding(Level.OK, "")] == plugin.findings([Reading("lag", 1e9)], {"lag": Limits()})


def test_the_worst_is_said_first_and_what_is_fine_not_at_all(capsys: pytest.CaptureFixture[str]) -> None:
    found = [Finding(Level.OK, "fine"), Finding(Level.WARNING, "slow"), Finding(Level.CRITICAL, "dead")]

    assert (2, "JUNKAI CRITICAL - dead; slow | 'a'=1\n") == ended(found, ["'a'=1"], capsys)


def test_all_that_is_fine_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    found = [Finding(Level.OK, "quick"), Finding(Level.OK, ""), Finding(Level.OK, "alive")]

    assert (0, "JUNKAI OK - quick; alive\n") == ended(found, [], capsys)


def test_no_text_adds_a_line_or_graphs_or_steers_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    found = [Finding(Level.WARNING, "a|b=1\nc\x1b[2J")]

    assert (1, "JUNKAI WARNING - a/b=1 c\N{REPLACEMENT CHARACTER}[2J | 'a'=1\n") == ended(found, ["'a'=1"], capsys)


@pytest.mark.parametrize(
    ("reading", "drawn"),
    [
        (Reading("lag", 41.25, unit="s"), "'lag'=41.25s;60;3600;0"),
        (Reading("lag", 1e12, unit="s"), "'lag'=1000000000000s;60;3600;0"),
        (Reading("lag", 100.0, unit="%", most="100"), "'lag'=100%;60;3600;0;100"),
        (Reading("lag", None, unit="s"), "'lag'=U;60;3600;0"),
        (Reading("due", 0), "'due'=0;;;0"),
    ],
)
def test_a_graph_has_value_unit_limits_and_ends(reading: Reading, drawn: str) -> None:
    assert drawn == plugin.graph(reading, LAG.get(reading.name, Limits()))
