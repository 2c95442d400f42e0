"""Sources to know and hosts to claim in; claims, leases and what is left out. Its law: docs/frontier.md."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from junkai import url as urls
from junkai.backend.protocol import NewSource, OperatorsWord, Recorded, Remaining
from junkai.backend.sqlite import hosts, names, tally
from junkai.backend.sqlite.connection import Connection, Row
from junkai.backend.sqlite.queries import load
from junkai.backend.sqlite.record import record
from junkai.backend.sqlite.rows import DUE_AT, SOURCE_COLUMNS, moment, source_of, to_ms_up
from junkai.clock import NEVER_MS, from_ms, to_ms
from junkai.model import Claim, Record, TurnRef

SQL: Final = load("frontier")
SQL["due"] = SQL["due"].replace("{source}", SOURCE_COLUMNS)


class SqliteFrontier:
    """See `protocol.Frontier`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    # ── add ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def add(self, sources: Sequence[NewSource], now: datetime) -> list[bool]:
        """See the protocol."""
        parsed = [urls.parse(source.url) for source in sources]
        keys = [urls.url_key(url.href) for url in parsed]
        slots: dict[str, list[int]] = {}
        ids: dict[bytes, int] = {}
        woken: set[int] = set()
        is_new = [False] * len(sources)
        now_ms = to_ms(now)
        with self._connection.transaction():
            for place in sorted(range(len(sources)), key=keys.__getitem__):
                key, url = keys[place], parsed[place]
                if key in ids:
                    continue
                if (found := names.find(self._connection, key)) is not None:
                    ids[key] = found
                    continue
                if url.host not in slots:
                    slots[url.host] = hosts.slot_ids(self._connection, url.host)
                host_id = hosts.slot_of(key, slots[url.host])
                ids[key] = self._connection.insert(
                    SQL["add"], (key, host_id, sources[place].kind.value, url.verbatim, now_ms, now_ms)
                )
                woken.add(host_id)
                is_new[place] = True
            tally.keep(self._connection, "sources", sum(is_new))
            self._subscribe([ids[key] for key in keys], sources, now_ms)
            hosts.wake(self._connection, [(host_id, now_ms) for host_id in sorted(woken)])
        return is_new

    def _subscribe(self, source_ids: Sequence[int], wishes: Sequence[NewSource], now_ms: int) -> None:
        wished = list(zip(source_ids, wishes, strict=True))
        self._connection.change_many(
            SQL["subscribe"], [(source_id, wish.owner, wish.title, wish.site_url, now_ms) for source_id, wish in wished]
        )
        self._connection.change_many(
            SQL["join_group"], [(source_id, wish.owner, group) for source_id, wish in wished for group in wish.groups]
        )
        self._connection.change_many(
            SQL["set_interval"],
            [
                (wish.explicit_interval_s, source_id)
                for source_id, wish in wished
                if wish.explicit_interval_s is not None
            ],
        )

    # ── turns ────────────────────────────────────────────────────────────────────────────────────────────────────

    def claim(
        self,
        *,
        owner: str,
        now: datetime,
        lease_s: float,
        hosts_max: int,
        sources_per_host_max: int,
        shard: int | None = None,
        due_before: datetime | None = None,
    ) -> list[Claim]:
        """See the protocol."""
        now_ms = to_ms(now)
        due_ms = now_ms if due_before is None else min(now_ms, to_ms(due_before))
        query = "ready" if due_before is None else "ready_in_round"
        if shard is not None:
            query += "_in_shard" if due_before is None else "_and_shard"
        values: dict[str, Any] = {"now": now_ms, "hosts_max": hosts_max}
        if shard is not None:
            values["shard"] = shard
        if due_before is not None:
            values["due"] = due_ms
        if not self._connection.rows(SQL[query], values | {"hosts_max": 1}):
            return []  # an empty claim keeps no other writer waiting
        with self._connection.transaction():
            ready = self._connection.rows(SQL[query], values)
            leases = self._take(ready, owner, now_ms, lease_s)
            due = self._due(ready, due_ms, sources_per_host_max)
            tally.count(self._connection, hosts_claimed=len(ready), hosts_claimed_idle=len(ready) - len(due))
        return [_claim(row, lease, due.get(row[0], [])) for row, lease in zip(ready, leases, strict=True)]

    def claim_host(self, host: str, *, owner: str, now: datetime, lease_s: float) -> Claim | None:
        """See the protocol."""
        with self._connection.transaction():
            hosts.slot_ids(self._connection, host)
            row = self._connection.row(SQL["free_slot"], {"key": host, "now": to_ms(now)})
            if row is None:
                return None
            [lease_until] = self._take([row], owner, to_ms(now), lease_s)
        return _claim(row, lease_until, [])

    def _take(self, rows: Sequence[Row], owner: str, now_ms: int, lease_s: float) -> list[int]:
        """The ends of the leases, by row."""
        leases = [now_ms + round(lease_s * 1000) + row[5] for row in rows]
        many = [{"host_id": row[0], "until": until, "owner": owner} for row, until in zip(rows, leases, strict=True)]
        self._connection.change_many(SQL["take"], many)
        return leases

    def _due(self, claimed: Sequence[Row], due_ms: int, sources_max: int) -> dict[int, list[Row]]:
        """Rows of sources by host id, in the order of asking."""
        if not claimed:
            return {}
        host_ids = msgspec.json.encode([row[0] for row in claimed]).decode()
        by_host: dict[int, list[Row]] = {}
        for row in self._connection.rows(SQL["due"], {"host_ids": host_ids, "due": due_ms, "sources_max": sources_max}):
            by_host.setdefault(row[-1], []).append(row)
        for rows in by_host.values():
            rows.sort(key=_prio_and_due_at)
        return by_host

    def renew(self, refs: Sequence[TurnRef], *, now: datetime, lease_s: float) -> list[datetime | None]:
        """See the protocol."""
        values = {"now": to_ms(now), "lease": round(lease_s * 1000)}
        with self._connection.transaction():
            rows = [self._connection.row(SQL["renew"], values | _ref(ref)) for ref in refs]
        return [None if row is None else from_ms(row[0]) for row in rows]

    def operators_words(self, turns: Sequence[tuple[TurnRef, Sequence[int]]]) -> list[OperatorsWord | None]:
        """See the protocol."""
        host_ids = msgspec.json.encode([ref.host_id for ref, _ in turns]).decode()
        source_ids = msgspec.json.encode([source_id for _, ids in turns for source_id in ids]).decode()
        hosts_now = {(row[0], row[1]): row for row in self._connection.rows(SQL["turns"], (host_ids,))}
        wanted = {row[0] for row in self._connection.rows(SQL["wanted"], (source_ids,))}
        words: list[OperatorsWord | None] = []
        for ref, ids in turns:
            row = hosts_now.get((ref.host_id, ref.turn_no))
            if row is None:
                words.append(None)
                continue
            unwanted = frozenset(ids).difference(wanted)
            words.append(OperatorsWord(not_before=from_ms(row[2]), delay_s=row[3] / 1000, unwanted=unwanted))
        return words

    def record(self, records: Sequence[Record], now: datetime) -> list[Recorded]:
        """See the protocol."""
        return record(self._connection, records, now)

    def release(self, refs: Sequence[TurnRef], now: datetime, *, not_before: datetime | None = None) -> None:  # noqa: ARG002 -- the protocol's
        """See the protocol."""
        floor_ms = 0 if not_before is None else to_ms_up(not_before)
        with self._connection.transaction():
            many = [_ref(ref) | {"floor": floor_ms, "never": NEVER_MS} for ref in refs]
            self._connection.change_many(SQL["release"], many)

    def ready_shards(self, now: datetime, *, due_before: datetime | None = None) -> dict[int, datetime]:
        """See the protocol."""
        values = {"now": to_ms(now), "shards": urls.SHARDS}
        if due_before is None:
            rows = self._connection.rows(SQL["ready_shards"], values)
        else:
            rows = self._connection.rows(SQL["ready_shards_in_round"], values | {"due": to_ms(min(now, due_before))})
        return {shard: from_ms(ready_at) for shard, ready_at in rows if ready_at is not None}

    # ── numbers ──────────────────────────────────────────────────────────────────────────────────────────────────

    def remaining(self, *, owner: str, due_before: datetime, now: datetime) -> Remaining:
        """See the protocol."""
        values = {"owner": owner, "due": to_ms(due_before), "now": to_ms(now)}
        by_held = {bool(row[0]): row for row in self._connection.rows(SQL["remaining"], values)}
        _, free, ready_at = by_held.get(False, (False, 0, None))
        _, held, _ = by_held.get(True, (True, 0, None))
        return Remaining(sources=free, held=held, ready_at=moment(ready_at))

    def next_ready_at(self) -> datetime | None:
        """See the protocol."""
        row = self._connection.row(SQL["next_ready_at"])
        return None if row is None or row[0] is None or row[0] >= NEVER_MS else from_ms(row[0])


def _ref(ref: TurnRef) -> dict[str, int]:
    return {"host_id": ref.host_id, "turn_no": ref.turn_no}


def _prio_and_due_at(row: Row) -> tuple[int, int]:
    return row[-2], row[DUE_AT]


def _claim(row: Row, lease_until: int, sources: list[Row]) -> Claim:
    host_id, turn_no, key, slot, domain, delay_ms, is_exempt = row
    return Claim(
        ref=TurnRef(host_id=host_id, turn_no=turn_no + 1),
        host=key,
        slot=slot,
        domain=domain,
        lease_until=from_ms(lease_until),
        delay_s=delay_ms / 1000,
        sources=tuple([source_of(source, key, is_exempt=bool(is_exempt)) for source in sources]),
    )
