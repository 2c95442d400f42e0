"""Sources and subscriptions as the operator lists and steers them: URLs and filters in, rows out."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

import msgspec

from junkai import url as urls
from junkai.backend.listed import FeedFilter, FeedRow
from junkai.backend.sqlite import hosts, tally
from junkai.backend.sqlite.connection import Connection, Row
from junkai.backend.sqlite.names import source_id_of
from junkai.backend.sqlite.queries import load
from junkai.backend.sqlite.rows import SOURCE_COLUMNS, SOURCE_WIDTH, source_of
from junkai.clock import from_ms, to_ms
from junkai.errors import UnknownSourceError

SQL: Final = load("catalogue")
SQL["feeds"] = SQL["feeds"].replace("{source}", SOURCE_COLUMNS)
_ROWS_MAX: Final = 500
_CONDITIONS: Final = {
    "source_id": "AND source.source_id = :source_id",
    "owner": """AND EXISTS (SELECT 1 FROM subscription
      WHERE subscription.source_id = source.source_id AND owner = :owner)""",
    "group": """AND EXISTS (SELECT 1 FROM subscription_group
      WHERE subscription_group.source_id = source.source_id AND name = :group)""",
    "state": "AND source.state = :state",
    "host": "AND coalesce(source.home_id, source.host_id) IN (SELECT host_id FROM host WHERE key = :host)",
}


class SqliteCatalogue:
    """See `protocol.Catalogue`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    # ── sources ──────────────────────────────────────────────────────────────────────────────────────────────────

    def feeds(self, which: FeedFilter) -> Iterator[FeedRow]:
        """See the protocol."""
        values: dict[str, Any] = {
            "owner": which.owner,
            "group": which.group,
            "state": which.state and which.state.value,
            "host": which.host,
        }
        values = {name: value for name, value in values.items() if value is not None}
        if which.url is not None:
            try:
                values["source_id"] = source_id_of(self._connection, which.url)
            except UnknownSourceError:
                return
        query = SQL["feeds"].replace("{conditions}", " ".join(_CONDITIONS[name] for name in values))
        values |= {"after": 0, "rows_max": _ROWS_MAX}
        while rows := self._connection.rows(query, values):
            for row in rows:
                yield _feed_row(row, which)
            values["after"] = rows[-1][0]

    def feed(self, url: str) -> FeedRow:
        """See the protocol."""
        for row in self.feeds(FeedFilter(url=url)):
            return row
        raise UnknownSourceError(urls.shown(url))

    def pause(self, url: str, now: datetime) -> None:  # noqa: ARG002 -- the protocol's
        """See the protocol."""
        with self._connection.transaction():
            self._connection.change(SQL["pause"], {"source_id": source_id_of(self._connection, url)})

    def resume(self, url: str, now: datetime) -> None:
        """See the protocol."""
        with self._connection.transaction():
            source_id = source_id_of(self._connection, url)
            self._connection.change(SQL["resume"], {"source_id": source_id, "now": to_ms(now)})
            self._wake_host_of(source_id, now)

    def remove(self, url: str) -> int:
        """See the protocol."""
        with self._connection.transaction():
            source_id = source_id_of(self._connection, url)
            entries = self._connection.change(SQL["remove_entries"], (source_id,))
            for query in ("remove_subscriptions", "remove_groups", "remove_earlier_urls", "remove"):
                self._connection.change(SQL[query], (source_id,))
            tally.keep(self._connection, "entries", -entries)
            tally.keep(self._connection, "sources", -1)
        return entries

    def refresh(self, url: str | None, now: datetime, *, is_unconditional: bool = False) -> int:
        """See the protocol. A paused source stays paused."""
        with self._connection.transaction():
            if url is None:
                if is_unconditional:
                    self._connection.change(SQL["forget_all_bodies"])
                count = self._connection.change(SQL["refresh_all"], {"now": to_ms(now)})
                self._connection.change(SQL["wake_all"], {"now": to_ms(now)})
                return count
            source_id = source_id_of(self._connection, url)
            if is_unconditional:
                self._connection.change(SQL["forget_body"], {"source_id": source_id})
            count = self._connection.change(SQL["refresh"], {"source_id": source_id, "now": to_ms(now)})
            if count:
                self._wake_host_of(source_id, now)
            return count

    def _wake_host_of(self, source_id: int, now: datetime) -> None:
        for (host_id,) in self._connection.rows(SQL["host_of"], (source_id,)):
            hosts.wake(self._connection, [(host_id, to_ms(now))])

    def owners(self) -> list[tuple[str, int]]:
        """See the protocol."""
        return [(owner, count) for owner, count in self._connection.rows(SQL["owners"])]


def _feed_row(row: Row, which: FeedFilter) -> FeedRow:
    prio, is_paused, added_at, host, is_exempt, not_before, hold_why, is_blocked = row[SOURCE_WIDTH : SOURCE_WIDTH + 8]
    entries, subscriptions, groups, earlier_urls = row[SOURCE_WIDTH + 8 :]
    source = source_of(row, host, is_exempt=bool(is_exempt))
    titles: dict[str, str] = dict(msgspec.json.decode(subscriptions))
    given = titles.get(which.owner or "") or next(filter(None, titles.values()), "")
    return FeedRow(
        source=source,
        owners=tuple(sorted(titles)),
        groups=tuple(msgspec.json.decode(groups)),
        title=given or source.state.title,
        entries=entries,
        prio=prio,
        is_paused=bool(is_paused),
        added_at=from_ms(added_at),
        host_not_before=from_ms(not_before) if not_before else None,
        host_hold_why="blocked" if is_blocked else hold_why,
        earlier_urls=tuple(msgspec.json.decode(earlier_urls)),
    )
