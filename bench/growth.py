"""A store that feeds were crawled into, in; what a warm pass over them costs beside many registered feeds, out."""

from __future__ import annotations

import shutil
import sqlite3
import time
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

#: Feeds beside those that are due: none of their hosts is ready for a year.
_FILL: Final = """
WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < :feeds)
INSERT INTO host (key, domain, shard, ready_at, delay_ms)
  SELECT 'feeds' || n || '.example', 'feeds' || n || '.example', n % 60, :due_at + n, 1000 FROM number;
WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < :feeds)
INSERT INTO source (url_key, host_id, kind, url, state, due_at, etag, validators_url, body_hash, known, added_at,
    last_visit_at, interval_s)
  SELECT randomblob(16), (SELECT host_id FROM host WHERE key = 'feeds' || n || '.example' AND slot = 0), 'feed',
    'https://feeds' || n || '.example/index.xml', 'fetched', :due_at + n, '"' || hex(randomblob(8)) || '"',
    'https://feeds' || n || '.example/index.xml', randomblob(16), randomblob(400), :due_at, :due_at, 7200 FROM number;
WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < :feeds)
INSERT INTO subscription (source_id, owner, added_at)
  SELECT (SELECT source_id FROM source JOIN host USING (host_id) WHERE key = 'feeds' || n || '.example'), '', :due_at
  FROM number;
UPDATE kept SET value = value + :feeds WHERE name IN ('hosts', 'sources');
"""
_YEAR_MS: Final = 366 * 86_400_000


class Growth(NamedTuple):
    """The same pass beside few and beside many registered feeds."""

    few: int
    many: int
    few_ms: float  #: CPU a visit, median
    many_ms: float

    @property
    def more_ms(self) -> float:
        """What the many cost a visit."""
        return self.many_ms - self.few_ms


def fill(store: Path, feeds: int) -> None:
    """Register so many feeds more, none of them due; the numbers the store keeps are kept right."""
    with sqlite3.connect(store) as connection:
        values = {"feeds": feeds, "due_at": int(time.time() * 1000) + _YEAR_MS}
        for statement in filter(None, map(str.strip, _FILL.split(";\n"))):
            connection.execute(statement, values)
    connection.close()


def make_due(store: Path, feeds: int) -> None:
    """Make the first `feeds` feeds due now, and their hosts ready: the warm pass again, and no other feed."""
    now_ms = int(time.time() * 1000)
    with sqlite3.connect(store) as connection:
        connection.execute("UPDATE source SET due_at = ? WHERE source_id <= ?", (now_ms, feeds))
        connection.execute(
            "UPDATE host SET ready_at = max(not_before, ?)"
            " WHERE host_id IN (SELECT host_id FROM source WHERE source_id <= ?)",
            (now_ms, feeds),
        )
    connection.close()


def copied(store: Path, name: str) -> Path:
    """A copy of a store that no process has open."""
    return Path(shutil.copyfile(store, store.with_name(name)))


def growth(few: int, many: int, runs: list[tuple[float, float]]) -> Growth:
    """The medians of interleaved runs, each (beside few, beside many) in CPU milliseconds a visit."""
    return Growth(few, many, median(run[0] for run in runs), median(run[1] for run in runs))
