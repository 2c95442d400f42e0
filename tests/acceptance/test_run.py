"""`junkai run` in processes of its own: what dies is replaced, what hangs is killed, what is told to stop stops."""

from __future__ import annotations

import http.client
import os
import signal
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from installed import Junkai
from junkai.clock import monotonic
from running import Deployed, Running, children_of, is_running, proc
from scripted_site import Answer, ScriptedSite

SILENT = ("--no-web",)


def feed(*guids: str) -> bytes:
    items = "".join(f"<item><guid>{guid}</guid><title>{guid}</title></item>" for guid in guids)
    return f"<rss version='2.0'><channel><title>t</title>{items}</channel></rss>".encode()


@pytest.fixture
def site() -> Iterator[ScriptedSite]:
    with ScriptedSite() as scripted:
        yield scripted


@pytest.fixture
def junkai(tmp_path: Path) -> Junkai:
    return Junkai(tmp_path, delay_seconds=0.02, lease_seconds=2, fetch_deadline_seconds=1)


def seconds_between(one: dict[str, str], other: dict[str, str]) -> float:
    return (datetime.fromisoformat(other["at"]) - datetime.fromisoformat(one["at"])).total_seconds()


# ── a round ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_round_over_all_brokers_asks_each_feed_once_and_sums_it_up(junkai: Junkai, site: ScriptedSite) -> None:
    urls = [site.put(host, f"/{number}", feed(f"{host}-{number}")) for host in range(1, 9) for number in range(3)]
    junkai.subscribe(*urls)

    (summary,) = junkai.rows("run", "--once", "--brokers", "2", *SILENT, "--set", "status_port=0")
    (again,) = junkai.rows("run", "--once", "--all", "--brokers", "2", *SILENT, "--set", "status_port=0")
    entries = junkai.rows("entries")

    wanted = {"visits": 24, "ok": 24, "failed": 0, "skipped": 0, "lost": 0, "entries_new": 24, "hosts_claimed_idle": 0}
    assert wanted == {name: summary[name] for name in wanted}
    assert summary["cpu_seconds"] > 0.3  # of all its processes
    assert (24, 24, 0) == (again["visits"], again["not_modified"], again["entries_new"])
    assert 24 == len(entries)
    assert dict.fromkeys(urls, 2) == Counter(f"http://{each.host}{each.path}" for each in site.asked)


def test_only_one_system_runs_on_a_store(junkai: Junkai, site: ScriptedSite) -> None:
    with Running(junkai, *SILENT) as system:
        system.wait_for("broker_started")
        second = junkai.start("run", *SILENT, "--set", "status_port=0")
        out, err = second.communicate(timeout=30)
        crawl = junkai.start("crawl", "--once")
        crawl_err = crawl.communicate(timeout=30)[1]

    assert (1, "") == (second.returncode, out)
    assert err == "junkai: sqlite:///junkai.db: another process crawls on it; stop that one, or give another store\n"
    assert err == crawl_err


def test_a_store_that_cannot_be_used_is_said_at_once(junkai: Junkai, tmp_path: Path) -> None:
    (tmp_path / "junkai.db").write_bytes(b"no database at all" * 100)
    process = junkai.start("run", *SILENT, "--set", "status_port=0")
    out, err = process.communicate(timeout=30)

    assert (1, "", 1) == (process.returncode, out, len(err.splitlines()))
    assert err.startswith("junkai: sqlite:///junkai.db: ")


# ── what dies, and what hangs ────────────────────────────────────────────────────────────────────────────────────


def test_a_killed_broker_is_replaced_at_once_and_the_next_time_after_a_second(
    junkai: Junkai, site: ScriptedSite
) -> None:
    with Running(junkai, "--brokers", "1", *SILENT) as system:
        for count in (1, 2):
            system.wait_for("broker_started", count)
            os.kill(system.brokers()[-1], signal.SIGKILL)
        started = system.wait_for("broker_started", 3)
        ended = system.named("broker_ended")
        code = system.stop()

    assert 0 == code
    assert all(each["message"].endswith("ended: by SIGKILL") for each in ended[:2])
    assert seconds_between(ended[0], started[1]) < 0.8
    assert 0.9 < seconds_between(ended[1], started[2]) < 2.5


def test_a_hung_broker_is_killed_and_its_hosts_are_visited_again_after_the_lease(
    junkai: Junkai, site: ScriptedSite
) -> None:
    url = site.put(1, "/feed", [Answer(delay_s=0.9, body=feed("a")), Answer(body=feed("a", "b"))])
    junkai.subscribe(url)
    with Running(junkai, "--brokers", "1", *SILENT, "--set", "silence_seconds_max=1.5") as system:
        site.wait_for(1)
        (hung,) = system.brokers()
        os.kill(hung, signal.SIGSTOP)
        (killed,) = system.wait_for("broker_killed")
        site.wait_for(2, seconds=20)
        system.wait_until(lambda: any(each["event"] == "visit" for each in system.said), "visit")
        code = system.stop()

    assert 0 == code
    assert f"(pid {hung}) is killed: it has said nothing for " in killed["message"]
    assert 2 == len(site.asked)
    assert site.gaps_below(1.9) == []
    assert ["a", "b"] == sorted(row["id"] for row in junkai.rows("entries"))


def test_a_broker_whose_pass_is_overdue_is_killed(junkai: Junkai, site: ScriptedSite) -> None:
    junkai.environ |= {"JUNKAI_FETCH_DEADLINE_SECONDS": "30", "JUNKAI_LEASE_SECONDS": "60"}
    junkai.subscribe(site.put(1, "/feed", Answer(delay_s=25, body=feed("a"))))
    with Running(junkai, "--brokers", "1", *SILENT, "--set", "pass_seconds_max=1") as system:
        (killed, *_) = system.wait_for("broker_killed")
        system.wait_for("broker_started", 2)

    assert "is killed: its pass has been running for " in killed["message"]


def test_brokers_outlive_their_preload_server_and_are_still_looked_after(junkai: Junkai, site: ScriptedSite) -> None:
    with Running(junkai, "--brokers", "2", *SILENT) as system:
        system.wait_for("broker_started", 2)
        before = system.brokers()
        (server,) = system.preload_servers()
        os.kill(server, signal.SIGKILL)
        system.wait_for("preload_ended")
        system.wait_until(lambda: len(system.preload_servers()) == 1, "second preload server")
        assert before == system.brokers()

        os.kill(before[0], signal.SIGKILL)
        system.wait_for("broker_started", 3)
        after = system.brokers()
        code = system.stop()

    assert before[1] in after
    assert 2 == len(after)
    assert 0 == code
    assert not any(map(is_running, after))


# ── the end ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_told_to_stop_it_records_what_is_in_flight_and_leaves_nothing_running(
    junkai: Junkai, site: ScriptedSite, number: signal.Signals
) -> None:
    junkai.subscribe(*[site.put(host, "/feed", Answer(delay_s=0.5, body=feed(f"{host}"))) for host in range(1, 7)])
    with Running(junkai, "--brokers", "2", *SILENT) as system:
        site.wait_for(6)
        processes = [*system.brokers(), *children_of(system.process.pid)]
        system.signal(number)
        code = system.process.wait(20)
        left = [pid for pid in processes if is_running(pid)]
        system.wait_until(lambda: any(each["event"] == "summary" for each in system.said), "summary")

    assert (0, []) == (code, left)
    assert 3 == len(processes)
    assert 6 == next(each for each in system.said if each["event"] == "summary")["ok"]
    assert 6 == len(junkai.rows("entries"))


def test_a_drain_ends_within_its_limit_and_gives_back_what_it_broke_off(junkai: Junkai, site: ScriptedSite) -> None:
    junkai.environ |= {"JUNKAI_FETCH_DEADLINE_SECONDS": "50", "JUNKAI_LEASE_SECONDS": "60"}
    junkai.subscribe(site.put(1, "/feed", Answer(delay_s=45, body=feed("a"))))
    with Running(junkai, "--brokers", "1", *SILENT, "--set", "drain_seconds_max=2") as system:
        site.wait_for(1)
        began = monotonic()
        code = system.stop()
        took = monotonic() - began
        status = junkai.rows("status")[0]

    assert 0 == code
    assert took < 5
    assert 0 == status["in_turn"]


def test_a_second_interrupt_ends_it_at_once(junkai: Junkai, site: ScriptedSite) -> None:
    junkai.environ |= {"JUNKAI_FETCH_DEADLINE_SECONDS": "50", "JUNKAI_LEASE_SECONDS": "60"}
    junkai.subscribe(site.put(1, "/feed", Answer(delay_s=45, body=feed("a"))))
    with Running(junkai, "--brokers", "1", *SILENT) as system:
        site.wait_for(1)
        system.signal(signal.SIGINT)
        system.wait_for("drain")
        system.signal(signal.SIGINT)
        began = monotonic()
        system.process.wait(20)
        took = monotonic() - began

    assert took < 5


def test_brokers_of_a_killed_manager_end_by_themselves_and_a_new_one_starts_at_once(
    junkai: Junkai, site: ScriptedSite
) -> None:
    junkai.subscribe(*[site.put(host, "/feed", Answer(delay_s=0.6, body=feed(f"{host}"))) for host in range(1, 7)])
    with Running(junkai, "--brokers", "2", *SILENT) as first:
        site.wait_for(6)
        processes = [*first.brokers(), *children_of(first.process.pid)]
        first.signal(signal.SIGKILL)
        first.process.wait()
        with Running(junkai, "--brokers", "1", *SILENT) as second:
            second.wait_for("broker_started")
            second.wait_until(lambda: not any(map(is_running, processes)), "end of the old processes")
            code = second.stop()

    assert 0 == code
    assert 3 == len(processes)
    assert 6 == len(site.asked)  # what was in flight was recorded by the old ones
    assert 6 == len(junkai.rows("entries"))


# ── a deploy ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.timeout(120)
def test_a_hangup_brings_a_new_version_to_all_brokers_without_losing_a_visit(
    tmp_path: Path, site: ScriptedSite
) -> None:
    junkai = Deployed(tmp_path, delay_seconds=0.05, lease_seconds=20, fetch_deadline_seconds=5)
    junkai.version("1.0")
    urls = [
        site.put(host, f"/{number}", Answer(delay_s=0.15, body=feed(f"{host}-{number}")))
        for host in range(1, 13)
        for number in range(15)
    ]
    junkai.subscribe(*urls)
    with Running(junkai, "--once", "--brokers", "2", *SILENT) as system:
        site.wait_for(30)
        old = system.brokers()
        junkai.version("2.0")
        system.signal(signal.SIGHUP)
        system.wait_for("deployed")
        started = system.named("broker_started")
        system.wait_until(lambda: not any(map(is_running, old)), "end of the old brokers")
        asked_when_new = len(site.asked)
        code = system.process.wait(60)
        system.wait_until(lambda: any(each["event"] == "summary" for each in system.said), "summary")
        ended = system.named("broker_ended")

    summary = next(each for each in system.said if each["event"] == "summary")
    assert 0 == code
    assert ["1.0", "1.0", "2.0", "2.0"] == [each["message"].rpartition(" ")[2] for each in started]
    assert all(f"(pid {pid}) ended: told to" in " ".join(each["message"] for each in ended) for pid in old)
    assert asked_when_new < len(urls)  # it was under load
    assert (len(urls), 0, 0) == (summary["visits"], summary["lost"], summary["failed"])
    assert dict.fromkeys(urls, 1) == Counter(f"http://{each.host}{each.path}" for each in site.asked)
    assert {1} == {each["revision"] for each in junkai.rows("entries")}
    assert len(urls) == len(junkai.rows("entries"))
    assert site.overlaps() == []
    assert site.gaps_below(0.05) == []


@pytest.mark.parametrize("trouble", ["settings", "code"])
def test_a_deploy_that_fails_leaves_the_old_version_at_work(tmp_path: Path, site: ScriptedSite, trouble: str) -> None:
    junkai = Deployed(tmp_path, delay_seconds=0.05)
    junkai.version("1.0")
    with Running(junkai, "--brokers", "1", *SILENT) as system:
        system.wait_for("broker_started")
        before = system.brokers()
        if trouble == "settings":
            (tmp_path / "junkai.toml").write_text("delay_seconds = 'soon'\n")
        else:
            (tmp_path / "1.0" / "junkai" / "preload.py").write_text("import no_such_module\n")
        system.signal(signal.SIGHUP)
        (failed,) = system.wait_for("deploy_failed")
        after = system.brokers()

        (tmp_path / "junkai.toml").unlink(missing_ok=True)
        junkai.version("2.0")
        system.signal(signal.SIGHUP)
        system.wait_for("deployed")
        system.wait_until(lambda: not is_running(before[0]), "end of the old broker")
        code = system.stop()

    assert ("delay_seconds: bad value" if trouble == "settings" else "preload server: ended") in failed["message"]
    assert before == after
    assert 0 == code


# ── the page and the status port ─────────────────────────────────────────────────────────────────────────────────


def page_status(system: Running) -> int:
    """The status of the page's own answer about its health; 0: no answer."""
    host, _, port = system.listening()["page"].removeprefix("http://").rstrip("/").partition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=5)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status
    except OSError:
        return 0
    finally:
        connection.close()


def test_the_status_port_tells_of_each_broker_and_of_what_is_done(junkai: Junkai, site: ScriptedSite) -> None:
    junkai.subscribe(*[site.put(host, "/feed", feed(f"{host}")) for host in range(1, 7)])
    with Running(junkai, "--brokers", "2", *SILENT) as system:
        system.wait_until(lambda: system.snapshot().work.visits == 6, "visits")
        os.kill(system.brokers()[0], signal.SIGKILL)
        system.wait_for("broker_started", 3)
        system.wait_until(lambda: len(system.snapshot().brokers) == 2, "second broker")
        snapshot = system.snapshot()
        pids = system.brokers()

    assert ["broker 1", "broker 2"] == [row.name for row in snapshot.brokers]
    assert set(pids) == {row.pid for row in snapshot.brokers}
    assert (system.process.pid, 2, 1, 0) == (
        snapshot.pid,
        snapshot.brokers_wanted,
        snapshot.restarts,
        snapshot.killed,
    )
    assert (6, 6) == (snapshot.work.visits, snapshot.work.entries_new)  # those of the killed broker are kept
    assert ("sqlite:///junkai.db", "", "") == (snapshot.store, snapshot.page, snapshot.trouble)


def test_the_page_is_there_and_comes_back_after_a_kill(junkai: Junkai) -> None:
    with Running(junkai, "--brokers", "1") as system:
        system.wait_until(lambda: page_status(system) == 200, "page")
        (before,) = system.web_processes()
        os.kill(before, signal.SIGKILL)
        system.wait_for("web_ended")
        system.wait_until(lambda: page_status(system) == 200, "page")
        (after,) = system.web_processes()
        code = system.stop()

    assert before != after
    assert 0 == code
    assert not is_running(after)


def test_the_page_answers_all_through_a_deploy_and_is_of_the_new_process_then(junkai: Junkai) -> None:
    with Running(junkai, "--brokers", "1") as system:
        system.wait_until(lambda: page_status(system) == 200, "page")
        (before,) = system.web_processes()
        statuses = []
        system.signal(signal.SIGHUP)

        def is_renewed() -> bool:
            statuses.append(page_status(system))
            return bool(system.web_processes()) and before not in system.web_processes()

        system.wait_until(is_renewed, "new web process")
        statuses.append(page_status(system))
        code = system.stop()

    assert {200} == set(statuses)
    assert 0 == code


def test_the_page_of_a_killed_manager_makes_way_for_the_next_one(junkai: Junkai) -> None:
    with Running(junkai, "--brokers", "1") as system:
        system.wait_until(lambda: page_status(system) == 200, "page")
        port = int(system.listening()["page"].rstrip("/").rpartition(":")[2])
        (web,) = system.web_processes()
        system.signal(signal.SIGKILL)
        system.process.wait()
        process = junkai.start("run", "--once", "--set", f"web_port={port}", "--set", "status_port=0", "--json")
        out, err = process.communicate(timeout=60)
        system.wait_until(lambda: not is_running(web), "end of the old page")

    assert (0, "") == (process.returncode, err)
    assert '"visits":0' in out


# ── what the manager is ──────────────────────────────────────────────────────────────────────────────────────────


def test_the_manager_stays_light_and_holds_no_store(junkai: Junkai, site: ScriptedSite) -> None:
    junkai.subscribe(site.put(1, "/feed", feed("a")))
    with Running(junkai, "--brokers", "1", *SILENT) as system:
        site.wait_for(1)
        pid = system.process.pid
        libraries = proc(pid, "maps")
        files = [str(each.readlink()) for each in Path(f"/proc/{pid}/fd").iterdir()]
        pss_kb = next(
            int(line.split()[1]) for line in proc(pid, "smaps_rollup").splitlines() if line.startswith("Pss:")
        )

    assert [] == [name for name in ("pycurl", "lxml", "nh3", "cares", "pydantic") if name in libraries]
    assert [] == [file for file in files if ".db" in file and not file.endswith(".lock")]
    assert pss_kb < 25_000


def test_the_first_words_say_where_it_can_be_looked_at(junkai: Junkai) -> None:
    with Running(junkai, "--brokers", "1", *SILENT) as system:
        listening = system.listening()

    assert system.said[0] == listening
    assert listening["page"] is None
    assert listening["status_port"] > 0
