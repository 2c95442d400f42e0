"""A store's address in; an open SQLite store, its five parts on one connection, out."""

from __future__ import annotations

from junkai.backend.sqlite.catalogue import SqliteCatalogue
from junkai.backend.sqlite.connection import Connection
from junkai.backend.sqlite.entries import SqliteEntries
from junkai.backend.sqlite.frontier import SqliteFrontier
from junkai.backend.sqlite.hosts import SqliteHosts
from junkai.backend.sqlite.statistics import SqliteStatistics


class SqliteStore:
    """See `protocol.Store`."""

    def __init__(self, address: str, *, delay_s: float, is_read_only: bool) -> None:
        self.address = address
        self._connection = Connection(address, delay_s=delay_s, is_read_only=is_read_only)
        self._frontier = SqliteFrontier(self._connection)
        self._catalogue = SqliteCatalogue(self._connection)
        self._hosts = SqliteHosts(self._connection)
        self._entries = SqliteEntries(self._connection)
        self._statistics = SqliteStatistics(self._connection)

    @property
    def frontier(self) -> SqliteFrontier:
        """What to visit next."""
        return self._frontier

    @property
    def catalogue(self) -> SqliteCatalogue:
        """What is known."""
        return self._catalogue

    @property
    def hosts(self) -> SqliteHosts:
        """Whom we ask."""
        return self._hosts

    @property
    def entries(self) -> SqliteEntries:
        """What was published."""
        return self._entries

    @property
    def statistics(self) -> SqliteStatistics:
        """What was done, and what waits."""
        return self._statistics

    def close(self) -> None:
        """See the protocol."""
        self._connection.close()
