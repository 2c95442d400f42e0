"""A broker in a process of its own, a test for a manager: what it says, what it obeys, and how it ends."""

from __future__ import annotations

import fcntl
import json
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
import pytest
from msgspec.structs import replace

from junkai import app
from junkai.backend.listed import FeedFilter
from junkai.backend.protocol import NewSource
from junkai.clock import monotonic, utc_now
from junkai.config import Settings
from junkai.fleet import (
    Backlog,
    BrokerMessage,
    End,
    Farewell,
    Heartbeat,
    ManagerMessage,
    Order,
    Phase,
    TellBacklog,
    Work,
    encode,
)
from junkai.model import CrawlState
from scripted_site import Answer, ScriptedSite

FEED: Final = b"<rss version='2.0'><channel><item><guid>1</guid></item></channel></rss>"
BROKER: Final = """
import socket, sys
import msgspec
from junkai import app
from junkai.config import Settings
from junkai.fleet import Order
ballast = b"x" * int(sys.argv.pop())
settings, order = (msgspec.json.decode(word, type=of) for word, of in zip(sys.argv[2:], (Settings, Order)))
sys.exit(app.run_broker(settings, order, socket.socket(fileno=int(sys.argv[1]))))
"""
Message = TypeVar("Message", Heartbeat, Backlog, Farewell)


class Broker:
    """The other side of its pipe."""

    def __init__(self, settings: Settings, *, ballast_bytes: int = 0, **order: Any) -> None:
        self._end, theirs = socket.socketpair()
        self._end.settimeout(20)
        words = [encode(settings).decode(), encode(replace(Order(name="broker 1", number=1), **order)).decode()]
        self.process = subprocess.Popen(
            [sys.executable, "-c", BROKER, str(theirs.fileno()), *words, str(ballast_bytes)],
            pass_fds=[theirs.fileno()],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        theirs.close()
        self._lines = self._end.makefile("rb")

    def tell(self, message: ManagerMessage) -> None:
        self._end.sendall(encode(message))

    def hears(self, of: type[Message], when: Callable[[Message], bool] = lambda _: True) -> Message:
        """The next message of that type that is as wanted."""
        for line in self._lines:
            message = msgspec.json.decode(line, type=BrokerMessage)
            if isinstance(message, of) and when(message):
                return message
        raise AssertionError(f"it ended without a {of.__name__}: {self.ended()}")

    def hang_up(self) -> None:
        self._lines.close()
        self._end.close()

    def ended(self) -> tuple[int, str, str]:
        """Its exit code, and what it wrote."""
        out, err = self.process.communicate(timeout=20)
        return self.process.returncode, out, err

    def kill(self) -> None:
        self.hang_up()
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate(timeout=20)


@contextmanager
def broker(settings: Settings, **different: Any) -> Iterator[Broker]:
    started = Broker(settings, **different)
    try:
        yield started
    finally:
        started.kill()


@pytest.fixture
def site() -> Iterator[ScriptedSite]:
    with ScriptedSite() as running:
        yield running


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        store=f"sqlite:///{tmp_path}/test.db",
        allow_networks=("127.0.0.0/8",),
        delay_seconds=0.05,
        fetch_deadline_seconds=15.0,
        broker_megabytes_max=4096,
    )


def subscribe(settings: Settings, *urls: str) -> None:
    with closing(app.open_store(settings)) as store:
        store.frontier.add([NewSource(url=url) for url in urls], utc_now())


def states(settings: Settings) -> dict[str, CrawlState]:
    with closing(app.open_store(settings)) as store:
        return {row.source.url: row.source.state.state for row in store.catalogue.feeds(FeedFilter())}


def hosts_in_turn(settings: Settings) -> int:
    with closing(app.open_store(settings)) as store:
        return store.statistics.counts(utc_now()).in_turn


def test_a_broker_says_what_it_does_until_it_is_told_to_end(settings: Settings, site: ScriptedSite) -> None:
    urls = [site.put(host, f"/{n}", FEED) for host in (1, 2, 3) for n in range(2)]
    subscribe(settings, *urls)
    with broker(settings) as started:
        first = started.hears(Heartbeat)
        busy = started.hears(Heartbeat, lambda beat: beat.phase == Phase.PASS)
        idle = started.hears(Heartbeat, lambda beat: beat.work.visits == 6 and beat.phase == Phase.SLEEPING)
        started.tell(End())
        started.hears(Heartbeat, lambda beat: beat.phase == Phase.DRAINING)
        farewell = started.hears(Farewell)
        code, out, err = started.ended()
    lines = [json.loads(line) for line in out.splitlines()]

    assert (Phase.STARTING, 0, Work()) == (first.phase, first.pass_no, first.work)
    assert 1 <= busy.pass_no <= idle.pass_no
    assert busy.in_turn > 0
    assert (None, 0.0, 0) == (idle.shard, idle.pass_s, idle.in_turn)
    assert idle.memory_bytes > 10 << 20
    assert 0 < idle.cpu_s < 20
    assert Work(visits=6, ok=6, entries_new=6, bytes=6 * len(FEED), hosts_claimed=3) == farewell.work
    assert "told to" == farewell.why
    assert (0, "") == (code, err)
    assert sorted(urls) == sorted(line["source"] for line in lines)
    assert {"visit"} == {line["event"] for line in lines}
    assert 6 == len(site.asked)


def test_a_silent_broker_writes_no_line_for_a_visit(settings: Settings, site: ScriptedSite) -> None:
    subscribe(settings, site.put(1, "/f", FEED))
    with broker(settings, round_at=utc_now(), is_silent=True) as started:
        farewell = started.hears(Farewell)
        code, out, err = started.ended()

    assert 1 == farewell.work.visits
    assert (0, "", "") == (code, out, err)


@pytest.mark.skipif(not hasattr(fcntl, "F_SETPIPE_SZ"), reason="pipes have a fixed size here")
def test_lines_that_nobody_reads_stop_no_broker(settings: Settings, site: ScriptedSite) -> None:
    subscribe(settings, *[site.put(host, f"/{n}", FEED) for host in (1, 2, 3) for n in range(20)])
    with broker(replace(settings, delay_seconds=0.0), round_at=utc_now()) as started:
        assert started.process.stdout is not None
        fcntl.fcntl(started.process.stdout, fcntl.F_SETPIPE_SZ, 4096)
        farewell = started.hears(Farewell)
        code, out, _ = started.ended()

    assert (0, 60) == (code, farewell.work.visits)
    assert 0 < len(out.splitlines()) < 60
    assert {"visit"} == {json.loads(line)["event"] for line in out.splitlines()}


def test_what_is_in_flight_at_the_end_is_recorded_and_released(settings: Settings, site: ScriptedSite) -> None:
    slow = site.put(1, "/f", Answer(body=FEED, delay_s=0.3))
    subscribe(settings, slow)
    with broker(settings) as started:
        site.wait_for(1)
        started.tell(End(seconds_max=10))
        farewell = started.hears(Farewell)
        code, _, _ = started.ended()

    assert (0, 1) == (code, farewell.work.ok)
    assert {slow: CrawlState.FETCHED} == states(settings)
    assert 0 == hosts_in_turn(settings)


def test_what_takes_too_long_at_the_end_is_broken_off_and_given_back(settings: Settings, site: ScriptedSite) -> None:
    settings = replace(settings, delay_seconds=7.0)
    url = site.put(1, "/f", Answer(body=FEED * 50, piece_bytes=1, piece_pause_s=0.05))
    subscribe(settings, url)
    with broker(settings) as started:
        site.wait_for(1)
        began_at, told_at = monotonic(), utc_now()
        started.tell(End(seconds_max=1))
        farewell = started.hears(Farewell)
        code, _, err = started.ended()
        seconds = monotonic() - began_at
    with closing(app.open_store(settings)) as store:
        ready_at = store.frontier.next_ready_at()

    assert (0, "", "told to") == (code, err, farewell.why)
    assert 0 == farewell.work.visits
    assert 0.5 <= seconds < 1.2
    assert {url: CrawlState.DISCOVERED} == states(settings)
    assert 0 == hosts_in_turn(settings)
    assert ready_at is not None
    assert timedelta(seconds=7) <= ready_at - told_at < timedelta(seconds=9)


def test_a_second_word_with_less_time_hurries_the_end(settings: Settings, site: ScriptedSite) -> None:
    subscribe(settings, site.put(1, "/f", Answer(body=FEED * 50, piece_bytes=1, piece_pause_s=0.05)))
    with broker(settings) as started:
        site.wait_for(1)
        began_at = monotonic()
        started.tell(End(seconds_max=14))
        started.hears(Heartbeat, lambda beat: beat.phase == Phase.DRAINING)
        started.tell(End(seconds_max=1))
        started.hears(Farewell)
        code, _, _ = started.ended()

    assert 0 == code
    assert monotonic() - began_at < 5


def test_a_broker_whose_manager_is_gone_ends(settings: Settings, site: ScriptedSite) -> None:
    url = site.put(1, "/f", Answer(body=FEED, delay_s=0.3))
    subscribe(settings, url)
    with broker(settings) as started:
        site.wait_for(1)
        started.hang_up()
        code, _, _ = started.ended()

    assert 0 == code
    assert {url: CrawlState.FETCHED} == states(settings)
    assert 0 == hosts_in_turn(settings)


def test_sigterm_ends_a_broker_and_what_a_terminal_sends_does_not(settings: Settings) -> None:
    subscribe(settings)
    with broker(settings) as started:
        started.hears(Heartbeat, lambda beat: beat.phase == Phase.SLEEPING)
        started.process.send_signal(signal.SIGINT)
        started.process.send_signal(signal.SIGHUP)
        started.hears(Heartbeat)
        started.process.send_signal(signal.SIGTERM)
        farewell = started.hears(Farewell)
        code, _, _ = started.ended()

    assert (0, "told to") == (code, farewell.why)


def test_a_broker_makes_room_after_its_passes(settings: Settings, site: ScriptedSite) -> None:
    urls = [site.put(host, "/f", FEED) for host in range(1, 9)]
    subscribe(settings, *urls)
    settings = replace(settings, broker_passes_max=2)
    with broker(settings) as started:
        farewell = started.hears(Farewell)
        code, _, _ = started.ended()

    assert (0, "recycled after 2 passes") == (code, farewell.why)
    assert 0 < farewell.work.hosts_claimed < 8
    assert 0 == hosts_in_turn(settings)


def test_a_broker_makes_room_when_it_has_grown(settings: Settings) -> None:
    with broker(replace(settings, broker_megabytes_max=64), ballast_bytes=64 << 20) as started:
        farewell = started.hears(Farewell)
        code, _, _ = started.ended()

    assert 0 == code
    assert farewell.why.startswith("recycled at ")


def test_brokers_share_a_round_and_each_ends_when_nothing_of_it_is_left(settings: Settings, site: ScriptedSite) -> None:
    urls = [site.put(host, f"/{n}", FEED) for host in range(1, 31) for n in range(2)]
    held = [site.put(40, f"/{n}", FEED) for n in range(3)]
    subscribe(settings, *urls, *held)
    with closing(app.open_store(settings)) as store:
        store.hosts.change(site.host(40), utc_now(), hold_until=utc_now() + timedelta(hours=1))
    round_at = utc_now()
    orders = [{"name": f"broker {number}", "number": number, "brokers": 2, "round_at": round_at} for number in (1, 2)]
    with broker(settings, **orders[0]) as first, broker(settings, **orders[1]) as second:
        farewells = [each.hears(Farewell) for each in (first, second)]
        codes = [each.ended()[0] for each in (first, second)]

    assert [0, 0] == codes
    assert [("the round is done", 3)] * 2 == [(each.why, each.skipped) for each in farewells]
    assert 60 == sum(each.work.visits for each in farewells) == len(site.asked)
    assert [] == site.overlaps()
    assert [] == site.gaps_below(0.05)


def test_the_backlog_is_told_when_it_is_asked_for(settings: Settings, site: ScriptedSite) -> None:
    urls = [site.put(1, f"/{n}", Answer(body=FEED, delay_s=5)) for n in range(4)]
    subscribe(settings, *urls)
    with broker(settings) as started:
        site.wait_for(1)
        started.tell(TellBacklog())
        backlog = started.hears(Backlog)

    assert (0, 4) == (backlog.free, backlog.turn)


def test_a_store_that_cannot_be_opened_is_said_in_the_exit_code(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "test.db").write_text("no database at all " * 100)
    with broker(settings) as started:
        first = started.hears(Heartbeat)
        code, out, err = started.ended()

    assert Phase.STARTING == first.phase
    assert (1, "") == (code, out)
    assert "not a Junkai store" in err.splitlines()[-1]


def test_a_store_that_fails_ends_the_broker_without_a_farewell(settings: Settings, tmp_path: Path) -> None:
    subscribe(settings)
    with broker(settings) as started, closing(sqlite3.connect(tmp_path / "test.db", isolation_level=None)) as other:
        started.hears(Heartbeat, lambda beat: beat.phase == Phase.SLEEPING)
        other.execute("PRAGMA foreign_keys = OFF")
        other.execute("DROP TABLE host")
        with pytest.raises(AssertionError, match=r"it ended without a Farewell: .1, .*no such table"):
            started.hears(Farewell)


def test_a_store_that_stays_locked_keeps_no_broker_beyond_its_time(
    settings: Settings, site: ScriptedSite, tmp_path: Path
) -> None:
    subscribe(settings, site.put(1, "/f", Answer(body=FEED, delay_s=0.3)))
    with broker(settings) as started, closing(sqlite3.connect(tmp_path / "test.db", isolation_level=None)) as other:
        site.wait_for(1)
        other.execute("BEGIN IMMEDIATE")
        began_at = monotonic()
        started.tell(End(seconds_max=1))
        code, _, err = started.ended()
        seconds = monotonic() - began_at
        other.execute("ROLLBACK")

    assert 1 == code
    assert 0.9 <= seconds < 2
    assert "not ended within 1 s" in err


def test_a_broker_that_is_killed_loses_no_visit(settings: Settings, site: ScriptedSite) -> None:
    settings = replace(settings, lease_seconds=2.0, fetch_deadline_seconds=1.0)
    urls = [site.put(host, "/f", [Answer(body=FEED, delay_s=0.7), FEED]) for host in (1, 2, 3)]
    subscribe(settings, *urls)
    with broker(settings) as first:
        site.wait_for(3)
        first.process.send_signal(signal.SIGKILL)
        code, _, _ = first.ended()
    with broker(settings, round_at=utc_now()) as second:
        farewell = second.hears(Farewell)

    assert -signal.SIGKILL == code
    assert 3 == farewell.work.visits
    assert dict.fromkeys(urls, CrawlState.FETCHED) == states(settings)


@pytest.mark.parametrize(("brokers", "at_once"), [(1, 8), (3, 2), (8, 1), (64, 1)])
def test_brokers_share_the_caps_of_a_domain(settings: Settings, brokers: int, at_once: int) -> None:
    budget = app.domain_budget(settings, brokers)
    waits = [budget.reserve_request("a.test", 0.0) for _ in range(3)]

    assert [True] * at_once + [False] == [budget.start_turn("a.test") for _ in range(at_once + 1)]
    assert [0.0, brokers / 20, 2 * brokers / 20] == pytest.approx(waits)
