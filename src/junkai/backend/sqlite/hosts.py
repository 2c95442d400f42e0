"""A host key in; its rows (one a slot), made, woken, listed and changed by the operator's word, out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Final

from junkai import url as urls
from junkai.backend.listed import HostRow
from junkai.backend.sqlite import tally
from junkai.backend.sqlite.connection import Connection, Row
from junkai.backend.sqlite.queries import load
from junkai.backend.sqlite.rows import moment, to_ms_up
from junkai.clock import NEVER_MS, from_ms, to_ms
from junkai.errors import UsageError
from junkai.model import Hold

SQL: Final = load("hosts")
_ROWS_MAX: Final = 500
HELD_BY_OPERATOR: Final = "the operator's word"


def slot_ids(connection: Connection, host: str) -> list[int]:
    """The ids of a host's rows, by slot; a host that is not known is made. Inside a transaction."""
    ids = [row[0] for row in connection.rows(SQL["slots"], (host,))]
    if ids:
        return ids
    values = {
        "key": host,
        "domain": urls.domain_of(host),
        "shard": urls.shard_of(host),
        "never": NEVER_MS,
        "delay_ms": connection.delay_ms,
    }
    tally.keep(connection, "hosts", 1)
    return [connection.insert(SQL["add"], values)]


def slot_of(url_key: bytes, ids: list[int]) -> int:
    """The id of the row that a source belongs to: url_key mod the number of slots."""
    return ids[int.from_bytes(url_key, "big") % len(ids)]


def wake(connection: Connection, due_at_by_host_id: Iterable[tuple[int, int]]) -> None:
    """Have hosts ready where something is due (milliseconds), unless their floor is higher or they are in a turn."""
    many = [{"host_id": host_id, "due": due_at} for host_id, due_at in due_at_by_host_id]
    connection.change_many(SQL["wake"], many)


# ── lists ────────────────────────────────────────────────────────────────────────────────────────────────────────


def all_hosts(connection: Connection, now: datetime) -> Iterator[HostRow]:
    """By key, read in batches; what is due is counted as of `now`."""
    after = ""
    while rows := connection.rows(SQL["list"], {"after": after, "now": to_ms(now), "rows_max": _ROWS_MAX}):
        yield from map(_host_row, rows)
        after = rows[-1][0]


def one_host(connection: Connection, host: str, now: datetime) -> HostRow | None:
    """The same of one host."""
    row = connection.row(SQL["one"], {"key": host, "now": to_ms(now)})
    return None if row is None else _host_row(row)


def _host_row(row: Row) -> HostRow:
    key, domain, slots, delay_ms, ready_at, not_before, hold_until, hold_why = row[:8]
    lease_until, owner, is_exempt, is_blocked, sources, due = row[8:]
    return HostRow(
        host=key,
        domain=domain,
        slots=slots,
        delay_s=delay_ms / 1000,
        sources=sources,
        due=due,
        ready_at=None if ready_at >= NEVER_MS else from_ms(ready_at),
        not_before=from_ms(not_before) if not_before else None,
        hold=None if hold_until is None else Hold(until=from_ms(hold_until), why=hold_why),
        lease_until=moment(lease_until),
        owner=owner,
        is_exempt=bool(is_exempt),
        is_blocked=bool(is_blocked),
    )


# ── the operator's word ──────────────────────────────────────────────────────────────────────────────────────────


def change_host(
    connection: Connection,
    host: str,
    now: datetime,
    *,
    delay_s: float | None,
    slots: int | None,
    hold_until: datetime | None,
    is_exempt: bool | None,
    is_blocked: bool | None,
) -> HostRow:
    """See `Hosts.change`."""
    with connection.transaction():
        ids = slot_ids(connection, host)
        if slots is not None and slots != len(ids):
            _set_slots(connection, host, ids, slots, to_ms(now))
        if delay_s is not None:
            connection.change(SQL["set_delay"], {"key": host, "delay_ms": round(delay_s * 1000)})
        if is_exempt is not None:
            connection.change(SQL["set_exempt"], {"key": host, "is_exempt": is_exempt})
        if is_blocked is not None:
            connection.change(SQL["set_blocked"], {"key": host, "is_blocked": is_blocked})
        if hold_until is not None or is_blocked is not None:
            _lay_floor(connection, host, now, hold_until)
        connection.change(SQL["settle"], {"key": host, "never": NEVER_MS})
        row = one_host(connection, host, now)
        assert row is not None
        return row


def _lay_floor(connection: Connection, host: str, now: datetime, hold_until: datetime | None) -> None:
    """The only place where a floor may fall."""
    before = one_host(connection, host, now)
    assert before is not None
    hold = before.hold if hold_until is None else Hold(until=hold_until, why=HELD_BY_OPERATOR)
    if hold is not None and hold.until <= now:
        hold = None
    values: dict[str, Any] = {
        "key": host,
        "now": to_ms_up(now),
        "never": NEVER_MS,
        "hold_until": hold and to_ms_up(hold.until),
        "hold_why": hold and hold.why,
    }
    connection.change(SQL["lay_floor"], values)


def _set_slots(connection: Connection, host: str, ids: list[int], slots: int, now_ms: int) -> None:
    """Move every source to the row of its new slot. Running turns are fenced off, and because each may still be asking
    until its lease ends, all slots count as in a turn (of nobody) until the last of those ends."""
    if slots < 1:
        raise UsageError(host, f"a host has at least one slot, not {slots}")
    latest_lease = connection.row(SQL["leases"], {"key": host, "now": now_ms})
    floor = connection.row(SQL["floor"], {"key": host})
    assert latest_lease is not None
    assert floor is not None
    for slot in range(len(ids), slots):
        connection.change(SQL["add_slot"], {"key": host, "slot": slot})
    old = set(ids)
    new = slot_ids(connection, host)[:slots]
    moves: list[tuple[int, int | None, int]] = []
    for source_id, url_key, host_id, home_id in connection.rows(SQL["sources"], {"key": host}):
        row = slot_of(url_key, new)
        moves.append((row if host_id in old else host_id, row if home_id in old else home_id, source_id))
    connection.change_many(SQL["move_source"], moves)
    connection.change(SQL["drop_slots"], {"key": host, "slots": slots})
    connection.change(SQL["fence"], {"key": host, "lease_until": latest_lease[0], "floor": floor[0]})


class SqliteHosts:
    """See `protocol.Hosts`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def listed(self, now: datetime) -> Iterator[HostRow]:
        """See the protocol."""
        return all_hosts(self._connection, now)

    def find(self, host: str, now: datetime) -> HostRow | None:
        """See the protocol."""
        return one_host(self._connection, host, now)

    def change(
        self,
        host: str,
        now: datetime,
        *,
        delay_s: float | None = None,
        slots: int | None = None,
        hold_until: datetime | None = None,
        is_exempt: bool | None = None,
        is_blocked: bool | None = None,
    ) -> HostRow:
        """See the protocol."""
        return change_host(
            self._connection,
            host,
            now,
            delay_s=delay_s,
            slots=slots,
            hold_until=hold_until,
            is_exempt=is_exempt,
            is_blocked=is_blocked,
        )
