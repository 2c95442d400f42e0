"""The live display of a running system: totals, brokers, what stands in the way."""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec.structs import replace
from rich.console import Console

from junkai.cli.board import RUNNING, STOPPING, picture
from junkai.fleet import Backlog, BrokerRow, Heartbeat, Phase, Snapshot, Work

NOW = datetime(2026, 12, 1, 4, 0, tzinfo=UTC)


def row(number: int, heartbeat: Heartbeat, *, is_ending: bool = False) -> BrokerRow:
    return BrokerRow(
        name=f"broker {number}",
        pid=100 + number,
        version="1.0",
        started_at=NOW,
        heartbeat=heartbeat,
        visits_a_minute=1_500.0,
        is_ending=is_ending,
    )


SNAPSHOT = Snapshot(
    at=NOW,
    pid=99,
    version="1.0",
    started_at=NOW,
    store="sqlite:///junkai.db",
    brokers=(
        row(1, Heartbeat(phase=Phase.PASS, shard=17, in_turn=40, memory_bytes=60 << 20)),
        row(2, Heartbeat(phase=Phase.SLEEPING)),
    ),
    work=Work(visits=12_345, failed=7, entries_new=89),
)


def drawn(snapshot: Snapshot, backlog: Backlog | None = None) -> list[str]:
    console = Console(width=100, force_terminal=False)
    with console.capture() as captured:
        console.print(picture(snapshot, backlog))
    return [line.rstrip() for line in captured.get().splitlines() if line.strip()]


def test_the_totals_stand_first_with_what_is_due() -> None:
    totals = drawn(SNAPSHOT, Backlog(at=NOW, free=1_000, turn=234, is_capped=True))[0]

    assert totals == "12,345 visits · 3,000 a minute · 89 new · 7 failed · 1,234+ due"


def test_before_anyone_has_looked_nothing_is_said_of_what_is_due() -> None:
    assert "due" not in drawn(SNAPSHOT)[0]


def test_each_broker_has_a_line_with_what_it_does() -> None:
    lines = drawn(replace(SNAPSHOT, brokers=(*SNAPSHOT.brokers, row(3, Heartbeat(phase=Phase.PASS), is_ending=True))))

    assert lines[1].split("  ")[:3] == ["broker 1", "pid 101", "shard 17"]
    assert "40 hosts in turn" in lines[1]
    assert "sleeping" in lines[2]
    assert "ends" in lines[3]


def test_more_brokers_than_fit_are_counted() -> None:
    brokers = tuple(row(number, Heartbeat(phase=Phase.SLEEPING)) for number in range(1, 21))

    assert "and 4 more" in drawn(replace(SNAPSHOT, brokers=brokers))[-2]


def test_trouble_is_said_without_steering_the_terminal_and_a_drain_changes_the_hint() -> None:
    calm = drawn(SNAPSHOT)
    troubled = drawn(replace(SNAPSHOT, trouble="The deploy failed: \x1b[31m.", is_draining=True))

    assert calm[-1] == RUNNING
    assert troubled[-2] == "The deploy failed: \ufffd[31m."
    assert troubled[-1] == STOPPING
