"""`junkai check` and `junkai status` as an operator's tools call them: beside a manager, without one, and in trouble."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from answering import Answering, broker, snapshot
from installed import Junkai
from junkai.clock import monotonic
from junkai.fleet import Snapshot, encode
from running import Running
from scripted_site import ScriptedSite

#: From the Monitoring Plugins guidelines: label, value with its unit or U, then up to four more fields.
GRAPH = re.compile(r"'[a-z]+'=(U|-?\d+(\.\d+)?)(s|%)?(;[-0-9.:~@]*){0,4}")
FEED = b"<rss version='2.0'><channel><title>T</title><item><guid>1</guid><title>one</title></item></channel></rss>"


@pytest.fixture
def junkai(tmp_path: Path) -> Junkai:
    return Junkai(tmp_path, delay_seconds=0.05, status_port=9)  # nobody is there


@pytest.fixture
def stored(junkai: Junkai) -> Junkai:
    junkai.run("add", "https://a.example/", "https://b.example/")
    return junkai


@pytest.fixture
def site() -> Iterator[ScriptedSite]:
    with ScriptedSite() as opened:
        yield opened


def checked(junkai: Junkai, *arguments: str) -> tuple[int, str, dict[str, str]]:
    """Exit code, what it says, its graphs by label. It is one line of the right form, on standard output."""
    process = junkai.start("check", *arguments)
    try:
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert ("", 1) == (err, out.count("\n"))
    said, _, graphs = out.rstrip("\n").partition(" | ")
    assert re.match(r"JUNKAI (OK|WARNING|CRITICAL|UNKNOWN) - \S", said)
    assert all(GRAPH.fullmatch(each) for each in graphs.split())
    return process.returncode, said, dict(each.replace("'", "").split("=") for each in graphs.split())


def checked_beside(junkai: Junkai, told: Snapshot, *arguments: str) -> tuple[int, str, dict[str, str]]:
    with Answering(told) as answering:
        return checked(junkai, "--set", f"status_port={answering.port}", *arguments)


# ── how it is ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_system_that_does_well_is_ok(stored: Junkai) -> None:
    code, said, graphs = checked_beside(stored, snapshot(broker(1), broker(2)))

    assert 0 == code
    assert said.startswith("JUNKAI OK - 2 of 2 brokers answer; nothing is overdue; the longest wait is ")
    assert ["brokers", "overdue", "lag", "errors", "freshness", "due", "visits"] == list(graphs)
    assert ("100%;100:;1:;0;100", "0;0;1000;0", "2;;;0") == (graphs["brokers"], graphs["overdue"], graphs["due"])
    assert ("U;25;50;0;100", "U;21600;86400;0") == (graphs["errors"], graphs["freshness"])


@pytest.mark.parametrize(
    ("told", "code", "words"),
    [
        (snapshot(broker(1)), 1, "WARNING - 1 of 2 brokers answers"),
        (snapshot(broker(1), broker(2, silent_s=40)), 1, "WARNING - 1 of 2 brokers answers"),
        (snapshot(broker(1, silent_s=40), wanted=1), 2, "CRITICAL - 0 of 1 broker answer"),
        (snapshot(), 2, "CRITICAL - 0 of 2 brokers answer"),
        (snapshot(broker(1), broker(2), trouble="Bad | 'x'=1."), 1, "WARNING - Bad / 'x'=1"),
        (snapshot(is_draining=True), 1, "WARNING - the system is stopping"),
        (
            snapshot(broker(1), broker(2), store="sqlite:////srv/other.db"),
            2,
            "works on another store, sqlite:////srv/other.db",
        ),
    ],
)
def test_what_is_wrong_with_the_brokers_is_told(stored: Junkai, told: Snapshot, code: int, words: str) -> None:
    actual, said, _ = checked_beside(stored, told)

    assert code == actual
    assert words in said


def test_the_same_store_by_another_path_is_no_other_store(stored: Junkai) -> None:
    told = snapshot(broker(1), broker(2), store=f"sqlite:///{stored.folder}/junkai.db")

    assert checked_beside(stored, told)[0] == 0


def test_no_manager_is_critical_and_the_store_is_still_in_the_graphs(stored: Junkai) -> None:
    code, said, graphs = checked(stored)

    assert (2, "JUNKAI CRITICAL - no manager answers on port 9") == (code, said)
    assert ("U;100:;1:;0;100", "2;;;0") == (graphs["brokers"], graphs["due"])


def test_a_threshold_decides_and_an_empty_one_is_off(stored: Junkai) -> None:
    alive = snapshot(broker(1))

    assert checked_beside(stored, alive, "-w", "brokers=50:")[0] == 0
    assert checked_beside(stored, alive, "-w", "brokers=", "-c", "brokers=")[0] == 0
    assert checked_beside(stored, alive, "--critical", "brokers=@50:60")[0] == 2
    assert checked_beside(stored, alive, "-w", "brokers=~:50", "-c", "lag=~:-1")[0] == 2
    assert checked_beside(stored, alive, "-w", "overdue=", "-w", "brokers=0:", "--overdue-after", "0")[0] == 0


def test_what_nobody_took_for_long_is_overdue(stored: Junkai) -> None:
    code, said, graphs = checked_beside(stored, snapshot(broker(1), broker(2)), "--overdue-after", "0")

    assert 1 == code
    assert "JUNKAI WARNING - 2 sources could have been visited 0 s ago" == said
    assert "2;0;1000;0" == graphs["overdue"]


def test_errors_alert_only_where_they_are_more_than_chance(junkai: Junkai, site: ScriptedSite) -> None:
    junkai.subscribe(
        *(site.put(host, "/feed.xml", FEED) for host in range(1, 4)), *(site.url(4, f"/{n}") for n in range(6))
    )
    junkai.run("crawl", "--once")
    few = checked_beside(junkai, snapshot(broker(1), broker(2)))
    junkai.run("crawl", "--once", "--all")
    junkai.run("crawl", "--once", "--all")
    many = checked_beside(junkai, snapshot(broker(1), broker(2)))

    assert (0, "66.667%;25;50;0;100", "9;;;0") == (few[0], few[2]["errors"], few[2]["visits"])
    assert (2, "66.667%;25;50;0;100") == (many[0], many[2]["errors"])
    assert "66.7 % of 27 visits in 15 min failed" in many[1]


# ── when it cannot tell ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--nosuch"], "No such option: --nosuch"),
        (["extra"], "extra"),
        (["--timeout", "soon"], "--timeout"),
        (["-w", "lag"], "lag: write it as NAME=RANGE"),
        (["-w", "speed=1"], "speed=1: write it as NAME=RANGE; NAME is one of overdue, lag, brokers, errors, freshness"),
        (["-c", "lag=20:10"], "20:10: not a range"),
        (["--overdue-after", "soon"], "soon: not a time span"),
        (["--set", "nosuch=1"], "nosuch: unknown setting"),
        (["--store", "mysql://here"], "mysql://here: no backend"),
        ([], "sqlite:///junkai.db: no such store yet"),
    ],
)
def test_wrong_use_and_no_store_are_unknown_and_make_nothing(junkai: Junkai, arguments: list[str], words: str) -> None:
    code, said, graphs = checked(junkai, *arguments)

    assert (3, {}) == (code, graphs)
    assert said.startswith("JUNKAI UNKNOWN - ")
    assert words in said
    assert [] == list(junkai.folder.iterdir())


def test_a_store_that_does_not_answer_is_not_waited_for(stored: Junkai) -> None:
    with closing(sqlite3.connect(stored.folder / "junkai.db", isolation_level=None)) as hog:
        hog.execute("PRAGMA locking_mode = EXCLUSIVE")
        hog.execute("BEGIN EXCLUSIVE")
        began = monotonic()
        code, said, _ = checked(stored, "--timeout", "0.5")
        took = monotonic() - began

    assert 3 == code
    assert "the store did not answer within 0.5 s: sqlite:///junkai.db; no manager answers on port 9" in said
    assert took < 10  # the store itself would wait for 30 s; a machine may be slow


def test_a_store_that_is_none_is_unknown(stored: Junkai) -> None:
    (stored.folder / "junkai.db-wal").unlink(missing_ok=True)
    (stored.folder / "junkai.db").write_bytes(b"no store" * 1_000)

    code, said, _ = checked(stored)

    assert 3 == code
    assert "the store cannot be read: sqlite:///junkai.db: " in said


# ── status ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_status_without_a_manager_says_that_nothing_runs(stored: Junkai) -> None:
    lines = stored.run("status").splitlines()
    (keys,) = stored.rows("status")

    assert lines[0].startswith("2 sources due, the oldest for ")
    assert "Nothing is crawling in the background: no manager answers on port 9. `junkai run` starts it." == lines[1]
    assert "Due now\t2" in lines
    assert keys["manager"] is None


def test_status_shows_the_brokers_beside_the_stores_numbers(stored: Junkai) -> None:
    told = snapshot(broker(1), broker(2, silent_s=40))
    with Answering(told) as answering:
        lines = stored.run("status", "--set", f"status_port={answering.port}").splitlines()
        (keys,) = stored.rows("status", "--set", f"status_port={answering.port}")

    assert "Keeping up. Nothing due has waited longer than 5 min." == lines[0]
    assert {"Sources\t2", "Brokers\t1 of 2", "Visits\t2,000, 1,204 a minute"} <= set(lines)
    assert "broker 1\tSleeping: nothing is ready, 17 hosts in turn, 602 visits a minute, 58 MB, pid 4001" in lines
    assert 4_000 == keys["manager"]["pid"]
    assert ("broker 2", 40.0, 0) == (
        keys["manager"]["brokers"][1]["name"],
        keys["manager"]["brokers"][1]["silent_s"],
        keys["manager"]["brokers"][1]["heartbeat"]["work"]["ok"],
    )
    assert json.loads(encode(told)).keys() <= keys["manager"].keys()


def test_a_running_system_is_seen_by_status_and_check(junkai: Junkai, site: ScriptedSite) -> None:
    junkai.subscribe(site.put(1, "/feed.xml", FEED))
    with Running(junkai, "--brokers", "1", "--no-web") as system:
        port = f"status_port={system.listening()['status_port']}"
        site.wait_for(1)
        system.wait_for("broker_started")
        code, said, _ = checked(junkai, "--set", port)
        (keys,) = junkai.rows("status", "--set", port)
        stopped = system.stop()
    after, _, _ = checked(junkai, "--set", port)

    assert (0, 0, 2) == (code, stopped, after)
    assert said.startswith("JUNKAI OK - 1 of 1 broker answers; ")
    assert system.process.pid == keys["manager"]["pid"]
    assert [True] == [row["pid"] > 0 for row in keys["manager"]["brokers"]]
