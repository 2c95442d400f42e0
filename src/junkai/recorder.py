"""Visits and ended turns in, batched transactions out: recorded within RECORD_SECONDS of arrival, then released."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Final

from junkai.backend.protocol import Recorded, Store
from junkai.bridge import StoreBridge
from junkai.clock import Clock
from junkai.model import Record, Source, TurnRef

RECORD_SECONDS: Final = 0.2
BATCH_RECORDS: Final = 256
BACKLOG_RECORDS_MAX: Final = 2_048

OnRecorded = Callable[[Record, Source, Recorded], None]
Instead = Callable[[Record, Source, str], Record]


class Recorder:
    """Keeps what is to be written, in order; a turn is released only after its visits were recorded."""

    def __init__(
        self,
        bridge: StoreBridge,
        now: Clock,
        *,
        instead: Instead,
        on_recorded: OnRecorded,
        on_released: Callable[[], None],
    ) -> None:
        """`instead` makes what is written in the place of a record that cannot be stored."""
        self._bridge = bridge
        self._now = now
        self._instead = instead
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

    async def put(self, record: Record, source: Source) -> None:
        """Queue a record; waits while the backlog is at its bound."""
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
                try:
                    await asyncio.wait_for(self._is_full.wait(), RECORD_SECONDS)
                except TimeoutError:
                    pass
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

        def write(store: Store) -> list[Recorded]:
            recorded = store.frontier.record([record for record, _ in records], self._now()) if records else []
            for (record, source), answer in zip(records, recorded, strict=True):
                if answer.error is not None:
                    store.frontier.record([self._instead(record, source, answer.error)], self._now())
            for not_before in {floor for _, floor in releases}:
                refs = [ref for ref, floor in releases if floor == not_before]
                store.frontier.release(refs, self._now(), not_before=not_before)
            return recorded

        self._is_writing = True
        try:
            recorded = await self._bridge.call(write)
        finally:
            self._is_writing = False
        for (record, source), answer in zip(records, recorded, strict=True):
            self._on_recorded(record, source, answer)
        if releases:
            self._on_released()
