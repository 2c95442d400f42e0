"""Visits with their decisions in; source state, entries, floors and holds saved, each record whole or not at all."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

import msgspec

from junkai import url as urls
from junkai.backend.protocol import Recorded
from junkai.backend.sqlite import hosts, names, tally
from junkai.backend.sqlite.connection import Connection, UnstorableError
from junkai.backend.sqlite.queries import load
from junkai.backend.sqlite.rows import entry_values, state_values, to_ms_up
from junkai.clock import from_ms, to_ms
from junkai.document import Entry
from junkai.errors import UrlError
from junkai.model import Fetched, Record, SourceState

SQL: Final = load("record")
#: What one bad record raises: a value of the wrong kind or range, text that is not text, a URL that is none.
_BAD: Final = (UnstorableError, UrlError, TypeError, ValueError, OverflowError)
#: What `refresh` and `resume` in sql/catalogue.sql write.
_OPERATORS_WORDS: Final = frozenset({"asked for by the operator", "resumed"})
_LOST: Final = Recorded(is_lost=True)

#: Host keys by (host_id, turn_no).
_Turns = dict[tuple[int, int], str]


class _Place(NamedTuple):
    """A source's row as it stands at the moment of recording: the operator may have spoken during the visit."""

    host_id: int
    home_id: int | None
    is_paused: bool
    due_at_ms: int | None
    why: str
    is_bare: bool  #: without body hash and known entries: never fetched, or to be fetched unconditionally


_Places = dict[int, _Place]


def record(connection: Connection, records: Sequence[Record], now: datetime) -> list[Recorded]:
    """See `Frontier.record`: the whole batch at once; where that fails, one by one."""
    if not records:
        return []
    ids = {each.visit.source_id for each in records}
    if len(ids) == len(records):
        with contextlib.suppress(*_BAD), connection.transaction():
            return _save(connection, records, now)
    with connection.transaction():
        return [_save_alone(connection, each, now) for each in records]


def _save_alone(connection: Connection, record: Record, now: datetime) -> Recorded:
    try:
        with connection.savepoint():
            return _save(connection, [record], now)[0]
    except _BAD as error:
        # The visit cannot be kept, but the host was asked: its floor and hold count all the same.
        with contextlib.suppress(*_BAD), connection.savepoint():
            if turns := _turns(connection, [record]):
                _spare_hosts(connection, [record], turns)
        return Recorded(error=f"cannot be stored: {error}")


def _save(connection: Connection, records: Sequence[Record], now: datetime) -> list[Recorded]:
    turns = _turns(connection, records)
    ours = [each for each in records if (each.ref.host_id, each.ref.turn_no) in turns]
    places = _places(connection, ours)
    results: dict[int, Recorded] = {}
    kept: list[Record] = []
    for each in ours:
        place = places.get(each.visit.source_id)
        if place is None or place.host_id != each.ref.host_id:
            results[each.visit.source_id] = Recorded(error="the source was removed or moved away during the visit")
        else:
            kept.append(each)
    _save_states(connection, kept, places, now)
    results |= _save_entries(connection, kept, now)
    _spare_hosts(connection, ours, turns)
    tally.count_visits(connection, [(each, results[each.visit.source_id]) for each in kept], now)
    tally.count(connection, visits_lost=len(records) - len(ours))
    return [
        results[each.visit.source_id] if (each.ref.host_id, each.ref.turn_no) in turns else _LOST for each in records
    ]


def _turns(connection: Connection, records: Sequence[Record]) -> _Turns:
    """The host keys of the turns that are still ours, by reference."""
    refs = sorted({(each.ref.host_id, each.ref.turn_no) for each in records})
    rows = connection.rows(SQL["fence"], {"refs": msgspec.json.encode(refs).decode()})
    return {(host_id, turn_no): key for host_id, turn_no, key in rows}


def _places(connection: Connection, records: Sequence[Record]) -> _Places:
    ids = msgspec.json.encode([each.visit.source_id for each in records]).decode()
    rows = connection.rows(SQL["sources"], (ids,))
    return {
        source_id: _Place(host_id, home_id, bool(is_paused), due_at_ms, why, bool(is_bare))
        for source_id, host_id, home_id, is_paused, due_at_ms, why, is_bare in rows
    }


# ── source state ─────────────────────────────────────────────────────────────────────────────────────────────────


def _save_states(connection: Connection, records: Sequence[Record], places: _Places, now: datetime) -> None:
    values: list[tuple[Any, ...]] = []
    travellers: list[Record] = []
    for each in records:
        source_id = each.visit.source_id
        place = places[source_id]
        state = _with_operators_word(each, place)
        values.append((*state_values(state), source_id))
        if place.home_id is not None or state.pending_url is not None or each.decision.new_url is not None:
            travellers.append(each)
    connection.change_many(SQL["save_state"], values)
    for each in travellers:
        _place(connection, each, places[each.visit.source_id], now)


def _with_operators_word(record: Record, place: _Place) -> SourceState:
    """The decision's state, under what the operator said while the visit was under way: that it is paused, or due now.

    A source that is claimed was due before its visit began; asked for later than that, it was so meanwhile.
    """
    state = record.decision.state
    if place.is_paused:  # only the operator resumes it
        return msgspec.structs.replace(state, due_at=None, why="paused")
    is_asked_for = place.due_at_ms is not None and place.due_at_ms > to_ms(record.visit.started_at)
    if place.due_at_ms is None or not is_asked_for or place.why not in _OPERATORS_WORDS:
        return state
    state = msgspec.structs.replace(state, due_at=from_ms(place.due_at_ms), why=place.why)
    if place.is_bare:
        return msgspec.structs.replace(state, validators=None, body_hash=b"", known=b"")
    return state


def _place(connection: Connection, record: Record, place: _Place, now: datetime) -> None:
    """Put a source under the host that it is asked at next: a pending URL's until its next decision, else its own."""
    home_id = place.host_id if place.home_id is None else place.home_id
    source_id = record.visit.source_id
    decision = record.decision
    if decision.new_url is not None and (moved := names.move(connection, source_id, decision.new_url, now)):
        home_id = hosts.slot_of(urls.url_key(moved.href), hosts.slot_ids(connection, moved.host))
    next_id, returns_to = home_id, None
    if decision.state.pending_url is not None:
        [(url_key, _)] = connection.rows(names.SQL["current"], (source_id,))
        ids = hosts.slot_ids(connection, urls.parse(decision.state.pending_url).host)
        next_id = hosts.slot_of(url_key, ids)
        if connection.rows(SQL["blocked"], (next_id,)):  # it would wait there for ever
            raise UnstorableError(connection.address, "it redirects to a host that the operator blocked")
        returns_to = None if next_id == home_id else home_id
    connection.change(SQL["place"], (next_id, returns_to, source_id))
    if decision.state.due_at is not None:
        hosts.wake(connection, [(next_id, to_ms(decision.state.due_at))])


# ── entries ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _entries_of(record: Record) -> tuple[Entry, ...]:
    outcome = record.visit.outcome
    return outcome.document.entries if isinstance(outcome, Fetched) and outcome.document is not None else ()


def _save_entries(connection: Connection, records: Sequence[Record], now: datetime) -> dict[int, Recorded]:
    """What came of each source's entries. Their numbers are given out under the write lock, so that they become
    visible in their order and a cursor misses none."""
    results = {each.visit.source_id: Recorded() for each in records}
    entries = {each.visit.source_id: found for each in records if (found := _entries_of(each))}
    if not entries:
        return results
    row = connection.row(SQL["next_seqs"], (sum(map(len, entries.values())),))
    assert row is not None
    seq = row[0] - sum(map(len, entries.values())) + 1
    for source_id, found in entries.items():
        many = [entry_values(seq + n, source_id, to_ms(now), entry) for n, entry in enumerate(found)]
        seq += len(many)
        new = connection.change_many(SQL["add_entry"], many)
        updated = connection.change_many(SQL["revise_entry"], many) if new < len(many) else 0
        results[source_id] = Recorded(entries_new=new, entries_updated=updated)
    return results


# ── hosts ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _spare_hosts(connection: Connection, records: Sequence[Record], turns: _Turns) -> None:
    """Raise the floor of each row that was asked, and of all of a host's rows where it wants to be left alone."""
    floors: dict[int, int] = {}
    for each in records:
        floors[each.ref.host_id] = max(floors.get(each.ref.host_id, 0), to_ms_up(each.floor_at))
    many = [(floor, host_id) for host_id, floor in floors.items()]
    if connection.change_many(SQL["raise_floor"], many) < len(many):
        connection.change_many(SQL["raise_high_floor"], many)
    for each in records:
        if (hold := each.decision.hold) is not None:
            key = turns[each.ref.host_id, each.ref.turn_no]
            connection.change(SQL["hold"], {"key": key, "until": to_ms_up(hold.until), "why": hold.why})
            tally.count(connection, holds=1)
