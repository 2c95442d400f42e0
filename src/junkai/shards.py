"""The shards that have something ready in; which of them the next pass takes, out. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from junkai.url import SHARDS

#: Every tenth pass goes where somebody has waited longest, so that no place in the circle can be starved.
OLDEST_EVERY: Final = 10


class ShardWalk:
    """One broker's way round the shards."""

    def __init__(self, *, number: int = 1, brokers: int = 1) -> None:
        """Brokers, numbered from 1, begin at places spread over the circle."""
        self._at = (number - 1) * SHARDS // brokers % SHARDS

    def next(self, ready: Mapping[int, datetime], pass_no: int) -> int | None:
        """The shard of pass `pass_no`: the next one of those that have something ready since a moment; None where none
        has, after a full circle."""
        if not ready:
            return None
        if pass_no % OLDEST_EVERY == 0:
            return min(ready, key=lambda shard: (ready[shard], shard))
        shard = min(ready, key=lambda each: (each - self._at) % SHARDS)
        self._at = (shard + 1) % SHARDS
        return shard
