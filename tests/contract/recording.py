"""What the kill test kills: a process that claims, records and releases until it dies. Argument: the store's address."""

from __future__ import annotations

import sys
from datetime import timedelta

from contract.scene import T0, claim, entry, record_of
from junkai.backend import open_store


def record_until_killed(address: str, first_second: int) -> None:
    store = open_store(address)
    for seconds in range(first_second, 1_000_000, 200):  # beyond the leases of whoever was killed before
        now = T0 + timedelta(seconds=seconds)
        turns = [turn for turn in claim(store, now, hosts_max=8) if turn.sources]
        records = [
            record_of(
                turn,
                source,
                now=now,
                due_in_s=100,
                entries=[entry(f"{seconds}/{number}") for number in range(20)],
                attempts=source.state.attempts + 1,
            )
            for turn in turns
            for source in turn.sources
        ]
        sys.stdout.write("recording\n")
        sys.stdout.flush()
        store.frontier.record(records, now)
        store.frontier.release([turn.ref for turn in turns], now)


if __name__ == "__main__":
    record_until_killed(sys.argv[1], int(sys.argv[2]))
