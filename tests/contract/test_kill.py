from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from contract.scene import T0, add, claim
from junkai.backend.listed import FeedFilter
from junkai.backend.protocol import Store
from requirements import REPO

RECORDING = Path(__file__).with_name("recording.py")


def _killed_while_recording(address: str, first_second: int, batches: int) -> None:
    """Killed just after it has said that it begins with the last of so many batches."""
    environ = os.environ | {"PYTHONPATH": os.pathsep.join((str(REPO / "src"), str(REPO / "tests")))}
    command = [sys.executable, str(RECORDING), address, str(first_second)]
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for _ in range(batches):
            assert process.stdout.readline() == b"recording\n"
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL


def test_a_process_killed_while_recording_leaves_each_record_whole_or_absent(
    address: str, store: Store, opened: Callable[..., Store]
) -> None:
    urls = [f"https://h{number}.test/" for number in range(8)]
    add(store, *urls)
    now = T0

    for batches in (1, 2, 3, 5, 8, 13):
        _killed_while_recording(address, round((now - T0).total_seconds()) + 200, batches)
        reopened = opened()
        found = {row.source.url: row for row in reopened.catalogue.feeds(FeedFilter())}
        entries = Counter(stored.feed_url for stored in reopened.entries.after(0, 1_000_000))
        last_visits = [row.source.state.due_at for row in found.values() if row.source.state.due_at is not None]
        now = max(now, *last_visits)

        assert set(urls) == set(found)
        assert {url: 20 * row.source.state.attempts for url, row in found.items()} == {
            url: entries[url] for url in urls
        }
    assert sum(entries.values()) > 0

    later = claim(store, now + timedelta(days=1))
    assert sorted(urls) == sorted(source.url for turn in later for source in turn.sources)
