"""A system whose brokers and manager are killed with SIGKILL at random moments, or stand still for longer than a lease:
it costs nothing but time, and that it does is seen to hang on the fence."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from installed import Junkai
from running import Deployed, Running, is_running
from scripted_site import Answer, Asked, ScriptedSite

DELAY_SECONDS = 0.05
#: JUNKAI_TEST_FULL=1 runs the size that the promise is made for; the suite's own size keeps it short.
IS_FULL = bool(os.environ.get("JUNKAI_TEST_FULL"))
HOSTS, FEEDS, KILLS, MANAGER_KILLS, BROKERS = (40, 50, 20, 3, 4) if IS_FULL else (8, 25, 5, 1, 4)
#: A turn at a host takes FEEDS answers, and so several leases.
LEASE_SECONDS = 4 if IS_FULL else 2
ANSWER_SECONDS = (0.02, 0.5) if IS_FULL else (0.02, 0.3)
ENTRIES = 3
ROUND = ("--once", "--no-web", "--brokers", str(BROKERS))


def feed(host: int, number: int) -> bytes:
    items = "".join(
        f"<item><guid>{host}-{number}-{n}</guid><title>{n}</title><description>text {n}</description></item>"
        for n in range(ENTRIES)
    )
    return f"<rss version='2.0'><channel><title>{host}/{number}</title>{items}</channel></rss>".encode()


def slowly(body: bytes, seconds: float) -> Callable[[Asked], Answer]:
    return lambda _asked: Answer(body=body, delay_s=seconds, fields=(("ETag", f'"{len(body)}"'),))


@pytest.mark.timeout(900 if IS_FULL else 180)
def test_brokers_and_managers_killed_at_random_moments_lose_nothing_double_nothing_and_keep_every_delay(
    tmp_path: Path,
) -> None:
    dice = random.Random(20261203)  # moments of kills, not secrets
    junkai = Junkai(tmp_path, delay_seconds=DELAY_SECONDS, lease_seconds=LEASE_SECONDS, fetch_deadline_seconds=1)
    with ScriptedSite() as site:
        guids = {}
        for host in range(1, HOSTS + 1):
            for number in range(FEEDS):
                url = site.put(host, f"/{number}.xml", slowly(feed(host, number), dice.uniform(*ANSWER_SECONDS)))
                guids[url] = [f"{host}-{number}-{n}" for n in range(ENTRIES)]
        junkai.subscribe(*guids)
        victims = ["broker"] * (KILLS // (MANAGER_KILLS + 1))
        killed: Counter[str] = Counter()
        for _ in range(MANAGER_KILLS):
            with Running(junkai, *ROUND) as system:
                kill_in_turn(system, [*victims, "manager"], dice, killed)
        with Running(junkai, *ROUND) as system:
            kill_in_turn(system, ["broker"] * (KILLS - killed["broker"]), dice, killed)
            code = system.process.wait(600 if IS_FULL else 120)
        junkai.run("run", *ROUND, "--json", "--set", "status_port=0")  # nothing is left to do
        feeds, entries = junkai.rows("feeds"), junkai.rows("entries")
        asked = Counter(f"http://{each.host}{each.path}" for each in site.asked)

    assert {"broker": KILLS, "manager": MANAGER_KILLS} == killed
    assert 0 == code
    assert dict.fromkeys(guids, ("fetched", ENTRIES)) == {row["url"]: (row["state"], row["entries"]) for row in feeds}
    assert {(url, guid): 1 for url, known in guids.items() for guid in known} == Counter(
        (each["feed_url"], each["id"]) for each in entries
    )
    assert {1} == {each["revision"] for each in entries}
    assert set(guids) == set(asked)
    assert site.overlaps() == []
    assert site.gaps_below(DELAY_SECONDS) == []


def kill_in_turn(system: Running, victims: list[str], dice: random.Random, killed: Counter[str]) -> None:
    """Kill them, a moment between, while the round goes on."""
    system.wait_for("broker_started", BROKERS)
    for victim in victims:
        with contextlib.suppress(subprocess.TimeoutExpired):
            system.process.wait(dice.uniform(0.2, 0.9))
        system.wait_until(lambda: bool(system.brokers()), "broker")
        assert system.process.poll() is None, "the round was over before all kills: too small"
        if victim == "manager":
            system.signal(signal.SIGKILL)
            system.process.wait()
        else:
            os.kill(dice.choice(system.brokers()), signal.SIGKILL)
        killed[victim] += 1


# ── a broker that stands still, and what the fence is for ────────────────────────────────────────────────────────

STALL_HOSTS, STALL_FEEDS, STALL_ANSWER_SECONDS = 8, 12, 0.5


def stalled(junkai: Junkai, site: ScriptedSite) -> Counter[str]:
    """One of two brokers stands still until the other has taken its hosts over, and then goes on; visits by outcome.

    It stands still while each of its requests is being answered: what it does afterwards is by its own belief.
    """
    hosts = range(1, STALL_HOSTS + 1)
    junkai.subscribe(
        *(
            site.put(host, f"/{number}.xml", slowly(feed(host, number), STALL_ANSWER_SECONDS))
            for host in hosts
            for number in range(STALL_FEEDS)
        )
    )
    with Running(junkai, "--once", "--no-web", "--brokers", "2") as system:
        site.wait_for(STALL_HOSTS)
        still = system.brokers()[0]
        os.kill(still, signal.SIGSTOP)
        asked_before = {host: len(site.asked_at(host)) for host in hosts}
        system.wait_until(
            lambda: all(len(site.asked_at(host)) > asked_before[host] + 1 for host in hosts), "taking over"
        )
        os.kill(still, signal.SIGCONT)
        assert system.process.wait(90) == 0
        system.wait_until(lambda: any(each["event"] == "summary" for each in system.said), "summary")
        assert not is_running(still)
        summary = next(each for each in system.said if each["event"] == "summary")
    return Counter({name: summary[name] for name in ("visits", "lost", "failed")})


def copied(folder: Path) -> Deployed:
    return Deployed(folder, delay_seconds=DELAY_SECONDS, lease_seconds=2, fetch_deadline_seconds=1)


@pytest.mark.timeout(180)
def test_a_broker_that_stood_still_for_longer_than_its_lease_does_no_harm(tmp_path: Path) -> None:
    junkai = copied(tmp_path)
    junkai.version("fenced")
    with ScriptedSite() as site:
        counts = stalled(junkai, site)
        entries = junkai.rows("entries")

    assert counts["lost"] >= 1
    assert (STALL_HOSTS * STALL_FEEDS, 0) == (counts["visits"], counts["failed"])
    assert STALL_HOSTS * STALL_FEEDS * ENTRIES == len({(each["feed_url"], each["id"]) for each in entries})
    assert {1} == {each["revision"] for each in entries}
    assert site.overlaps() == []
    assert site.gaps_below(DELAY_SECONDS) == []


@pytest.mark.timeout(180)
def test_without_the_fence_the_same_broker_has_hosts_asked_twice_at_once(tmp_path: Path) -> None:
    junkai = copied(tmp_path)
    sql = junkai.version("unfenced") / "backend" / "sqlite" / "sql"
    for name, condition in (
        ("record.sql", "AND host.turn_no = json_extract(ref.value, '$[1]')"),
        ("frontier.sql", "AND turn_no = :turn_no"),
    ):
        text = (sql / name).read_text(encoding="utf-8")
        assert condition in text
        (sql / name).write_text(text.replace(condition, ""), encoding="utf-8")
    record = (sql / "record.sql").read_text(encoding="utf-8")
    ours, any_turn = "SELECT host.host_id, host.turn_no,", "SELECT host.host_id, json_extract(ref.value, '$[1]'),"
    assert ours in record
    (sql / "record.sql").write_text(record.replace(ours, any_turn), encoding="utf-8")
    with ScriptedSite() as site:
        stalled(junkai, site)

    assert site.overlaps() != []
