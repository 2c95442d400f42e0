"""Visits and ended turns in, decided about; batched transactions out: recorded within RECORD_SECONDS, then released."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from junkai.backend.protocol import Recorded, Store
from junkai.bridge import StoreBridge
from junkai.clock import Clock
from junkai.config import Settings
from junkai.errors import FailureKind
from junkai.model import Failed, Record, Source, TurnRef, Visit
from junkai.parse import PARSER_VERSION
from junkai.schedule import decide

_log = logging.getLogger(__name__)

RECORD_SECONDS: Final = 0.2
BATCH_RECORDS: Final = 256
BACKLOG_RECORDS_MAX: Final = 2_048

OnRecorded = Callable[[Record, Source, Recorded], None]


class Recorder:
    """Keeps what is to be written, in order; a turn is released only after its visits were recorded."""

    def __init__(
        self,
        bridge: StoreBridge,
        settings: Settings,
        now: Clock,
        *,
        on_recorded: OnRecorded,
        on_released: Callable[[], None],
    ) -> None:
        self._bridge = bridge
        self._settings = settings
        self._now = now
        self._on_recorded = on_recorded
        self._on_released = on_released
        self._records: list[tuple[Record, Source]] = []
        self._releases: list[tuple[TurnRef, datetime | None]] = []
        self._has_work = asyncio.Event()
        self._is_full = asyncio.Event()
        self._has_room = asyncio.Event()
        self._has_room.set()
        self._is_closing = False
        self._is_writing = False

    @property
    def is_idle(self) -> bool:
        """Everything that was put is in the store."""
        return not (self._records or self._releases or self._is_writing)

    async def put(self, ref: TurnRef, visit: Visit, source: Source, *, floor_at: datetime) -> None:
        """Decide what follows from a visit, and queue both; waits while the backlog is at its bound."""
        record = self._decided(ref, visit, source, floor_at)
        await self._has_room.wait()
        self._records.append((record, source))
        self._has_work.set()
        if len(self._records) >= BATCH_RECORDS:
            self._is_full.set()
        if len(self._records) >= BACKLOG_RECORDS_MAX:
            self._has_room.clear()

    def release(self, ref: TurnRef, *, not_before: datetime | None = None) -> None:
        """Queue the end of a turn, behind its records."""
        self._releases.append((ref, not_before))
        self._has_work.set()

    def close(self) -> None:
        """Let `run` write what is queued and return."""
        self._is_closing = True
        self._has_work.set()
        self._is_full.set()

    async def run(self) -> None:
        """Write batches until closed. Raises StoreError where the store fails; what was not written stays due, since
        its turns end by time."""
        while True:
            await self._has_work.wait()
            if not self._is_closing:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(RECORD_SECONDS):
                        await self._is_full.wait()
            await self._flush()
            if self._is_closing and not self._records and not self._releases:
                return

    async def _flush(self) -> None:
        records, self._records = self._records, []
        releases, self._releases = self._releases, []
        self._has_work.clear()
        self._is_full.clear()
        self._has_room.set()
        if self._is_closing:
            self._has_work.set()

        self._is_writing = True
        try:
            recorded = await self._record(records)
            if releases:
                await self._bridge.call(lambda store: self._release(store, releases))
        finally:
            self._is_writing = False
        for (record, source), answer in zip(records, recorded, strict=True):
            self._on_recorded(record, source, answer)
        if releases:
            self._on_released()

    async def _record(self, records: list[tuple[Record, Source]]) -> list[Recorded]:
        """Each call is one transaction, so that one which has to be tried again counts nothing twice."""
        if not records:
            return []
        recorded = await self._bridge.call(
            lambda store: store.frontier.record([each for each, _ in records], self._now())
        )
        failed = [
            self._failed(record.ref, record.visit, source, answer.error, record.floor_at)
            for (record, source), answer in zip(records, recorded, strict=True)
            if answer.error is not None  # its source backs off instead of being visited for ever
        ]
        if failed:
            await self._bridge.call(lambda store: store.frontier.record(failed, self._now()))
        return recorded

    def _release(self, store: Store, releases: list[tuple[TurnRef, datetime | None]]) -> None:
        for not_before in {floor for _, floor in releases}:
            refs = [ref for ref, floor in releases if floor == not_before]
            store.frontier.release(refs, self._now(), not_before=not_before)

    # ── what follows from a visit ────────────────────────────────────────────────────────────────────────────────

    def _decided(self, ref: TurnRef, visit: Visit, source: Source, floor_at: datetime) -> Record:
        """The visit with what follows from it; a fault of our own while deciding is a failure of that visit."""
        try:
            decision = decide(source, visit, self._settings, self._now(), parser_version=PARSER_VERSION)
        except Exception as error:  # noqa: BLE001  # the boundary around one decision
            _log.exception("cannot decide about %s", visit.url)
            return self._failed(ref, visit, source, f"{type(error).__name__} while deciding", floor_at)
        return Record(ref=ref, visit=visit, decision=decision, floor_at=floor_at)

    def _failed(self, ref: TurnRef, visit: Visit, source: Source, detail: str, floor_at: datetime) -> Record:
        outcome = Failed(kind=FailureKind.INTERNAL, detail=detail)
        visit = replace(visit, outcome=outcome, hops=())
        decision = decide(source, visit, self._settings, self._now(), parser_version=PARSER_VERSION)
        return Record(ref=ref, visit=visit, decision=decision, floor_at=floor_at)
