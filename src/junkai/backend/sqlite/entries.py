"""A filter or a cursor in, stored entries out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from junkai.backend.listed import EntryFilter, StoredEntry
from junkai.backend.sqlite.connection import Connection, Row
from junkai.backend.sqlite.names import source_id_of
from junkai.backend.sqlite.queries import load
from junkai.backend.sqlite.rows import entry_of
from junkai.clock import NEVER_MS, from_ms, to_ms

SQL: Final = load("entries")
_ROWS_MAX: Final = 200
_CONDITIONS: Final = {
    "source_id": "AND entry.source_id = :source_id",
    "owner": """AND EXISTS (SELECT 1 FROM subscription
      WHERE subscription.source_id = entry.source_id AND owner = :owner)""",
    "group": """AND EXISTS (SELECT 1 FROM subscription_group
      WHERE subscription_group.source_id = entry.source_id AND name = :group)""",
    "since": "AND entry.first_seen_at >= :since",
}


class SqliteEntries:
    """See `protocol.Entries`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def recent(self, which: EntryFilter) -> Iterator[StoredEntry]:
        """See the protocol. An unknown feed_url is found at the call, not at the first entry."""
        values: dict[str, Any] = {
            "source_id": None if which.feed_url is None else source_id_of(self._connection, which.feed_url),
            "owner": which.owner,
            "group": which.group,
            "since": None if which.since is None else to_ms(which.since),
        }
        return self._pages({name: value for name, value in values.items() if value is not None}, which.limit)

    def _pages(self, values: dict[str, Any], limit: int | None) -> Iterator[StoredEntry]:
        query = SQL["recent"].replace("{conditions}", " ".join(_CONDITIONS[name] for name in values))
        values |= {"before_at": NEVER_MS, "before_seq": 0}
        left = limit
        while left is None or left > 0:
            values["rows_max"] = _ROWS_MAX if left is None else min(left, _ROWS_MAX)
            rows = self._connection.rows(query, values)
            if not rows:
                return
            yield from map(_stored, rows)
            values |= {"before_at": rows[-1][3], "before_seq": rows[-1][0]}
            left = None if left is None else left - len(rows)

    def after(self, seq: int, limit: int) -> list[StoredEntry]:
        """See the protocol."""
        return [_stored(row) for row in self._connection.rows(SQL["after"], {"seq": seq, "rows_max": limit})]


def _stored(row: Row) -> StoredEntry:
    seq, feed_url, content, first_seen_at, revision = row
    return StoredEntry(
        seq=seq,
        feed_url=feed_url,
        entry=entry_of(content),
        first_seen_at=from_ms(first_seen_at),
        revision=revision,
    )
