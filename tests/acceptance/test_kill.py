"""`junkai crawl` killed with SIGKILL at random moments, and started again: it costs nothing but time."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from installed import Junkai
from scripted_site import Answer, Asked, ScriptedSite

DELAY_SECONDS = 0.05
#: JUNKAI_TEST_FULL=1 runs the size that the promise is made for; the suite's own size keeps it short.
IS_FULL = bool(os.environ.get("JUNKAI_TEST_FULL"))
HOSTS, FEEDS, KILLS, LEASE_SECONDS = (40, 50, 20, 5) if IS_FULL else (12, 16, 4, 3)
ANSWER_SECONDS = (0.02, 0.5) if IS_FULL else (0.02, 0.3)
ENTRIES = 3


def feed(host: int, number: int) -> bytes:
    items = "".join(
        f"<item><guid>{host}-{number}-{n}</guid><title>{n}</title><description>text {n}</description></item>"
        for n in range(ENTRIES)
    )
    return f"<rss version='2.0'><channel><title>{host}/{number}</title>{items}</channel></rss>".encode()


@pytest.mark.timeout(600 if IS_FULL else 120)
def test_crawl_killed_at_random_moments_loses_nothing_doubles_nothing_and_keeps_every_delay(tmp_path: Path) -> None:
    dice = random.Random(20261201)  # moments of kills, not secrets
    with ScriptedSite() as site:
        urls = []
        for host in range(1, HOSTS + 1):
            for number in range(FEEDS):
                body = feed(host, number)
                seconds = dice.uniform(*ANSWER_SECONDS)

                def slowly(_asked: Asked, body: bytes = body, seconds: float = seconds) -> Answer:
                    return Answer(body=body, delay_s=seconds, fields=(("ETag", f'"{len(body)}"'),))

                urls.append(site.put(host, f"/{number}.xml", slowly))
        junkai = Junkai(tmp_path, delay_seconds=DELAY_SECONDS, lease_seconds=LEASE_SECONDS, fetch_deadline_seconds=1)
        junkai.subscribe(*urls)
        killed = 0
        for _ in range(KILLS):
            process = junkai.start("crawl", "--once", "--json")
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(dice.uniform(0.6, 2.4))
            killed += process.poll() is None
            process.send_signal(signal.SIGKILL)
            process.communicate()
        summary = junkai.rows("crawl", "--once", seconds=300)[-1]
        feeds = junkai.rows("feeds")
        entries = junkai.rows("entries")
        asked = Counter(f"http://{each.host}{each.path}" for each in site.asked)

    assert killed == KILLS
    assert (summary["failed"], summary["skipped"]) == (0, 0)
    assert {row["url"]: (row["state"], row["entries"]) for row in feeds} == dict.fromkeys(urls, ("fetched", ENTRIES))
    assert Counter((each["feed_url"], each["id"]) for each in entries) == {
        (url, f"{host}-{number}-{n}"): 1
        for url, (host, number) in zip(urls, ((h, f) for h in range(1, HOSTS + 1) for f in range(FEEDS)), strict=True)
        for n in range(ENTRIES)
    }
    assert {each["revision"] for each in entries} == {1}
    assert set(asked) == set(urls)
    assert site.overlaps() == []
    assert site.gaps_below(DELAY_SECONDS) == []
