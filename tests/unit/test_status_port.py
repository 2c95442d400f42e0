"""What the status port says of a system: its sentence and its facts."""

from __future__ import annotations

import pytest

from answering import broker, snapshot
from junkai import status_port
from junkai.fleet import Snapshot, Work


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        (snapshot(broker(1), broker(2)), "Running: 2 brokers, 1,204 visits a minute."),
        (snapshot(broker(1), wanted=1), "Running: 1 broker, 602 visits a minute."),
        (snapshot(broker(1)), "Running: 1 of 2 brokers, 602 visits a minute."),
        (snapshot(broker(1), broker(2, silent_s=31)), "Running: 1 of 2 brokers, 1,204 visits a minute."),
        (snapshot(), "No broker runs. Nothing is visited until one does."),
        (snapshot(broker(1, silent_s=40)), "No broker answers. The last word of any was 40 s ago."),
        (snapshot(is_draining=True), "Stopping. What is in flight is recorded; nothing new is begun."),
    ],
)
def test_the_first_line_says_whether_it_runs(told: Snapshot, sentence: str) -> None:
    assert sentence == status_port.sentence(told)


def test_a_system_that_does_well_is_told_in_few_facts() -> None:
    facts = dict(status_port.facts(snapshot(broker(1), broker(2))))

    assert {
        "Brokers": "2 of 2",
        "Visits": "2,000, 1,204 a minute",
        "New entries": "1,234",
        "Failed": "50, 2.5 %",
        "Lost": "none",
        "Restarts": "none",
        "Up": "2 h, since 11:48 UTC",
        "Version": "1.2",
        "Page": "http://127.0.0.1:8420/",
    } == facts


def test_what_went_wrong_is_among_the_facts_and_steers_no_terminal() -> None:
    told = snapshot(work=Work(visits=10, lost=3), restarts=5, killed=2, trouble="bro\x1b[2Jken\u202e", page="")
    facts = dict(status_port.facts(told))

    assert "3, to be made again" == facts["Lost"]
    assert "5, 2 of them killed: overdue, or silent" == facts["Restarts"]
    assert "bro\N{REPLACEMENT CHARACTER}[2Jken" == facts["Trouble"]
    assert "Page" not in facts


def test_a_system_that_has_done_nothing_yet_divides_by_nothing() -> None:
    assert "none" == dict(status_port.facts(snapshot(work=Work())))["Failed"]
