"""A store's address and the status port in; what both say, no older than a second or so, out.

One thread owns the store, opened to read only and opened again now and then, and after each failure: what was moved or
replaced is seen. However many viewers there are, one look is under way at a time, and they share what it finds.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Final, Generic, TypeVar

from junkai.backend import open_store
from junkai.backend.protocol import Store
from junkai.clock import monotonic
from junkai.errors import StoreBusyError, StoreError
from junkai.fleet import Snapshot

T = TypeVar("T")

#: A look may take so long before whoever waits for it is told so.
WAIT_SECONDS_MAX: Final = 8.0
_REOPEN_SECONDS: Final = 30.0
#: After a look at the store it is left alone for so many times as long: a big one is looked at less often.
REST: Final = 8


class Kept(Generic[T]):
    """The last answer of a look, shared until it is too old; one look at a time.

    It is fresh for `fresh_s`, or for `rest` times as long as the look took where that is longer; for `spare_s` more it
    may still be given out, while the next look is under way.
    """

    def __init__(
        self, look: Callable[[], Awaitable[T]], *, fresh_s: float, spare_s: float = 0.0, rest: int = REST
    ) -> None:
        self._look = look
        self._fresh_s = fresh_s
        self._spare_s = spare_s
        self._rest = rest
        self._found: asyncio.Future[T] | None = None
        self._old_at_s = 0.0  #: on the monotonic clock

    async def get(self) -> T:
        """The answer. Raises what the look raised, and TimeoutError after WAIT_SECONDS_MAX."""
        last = self._found
        if last is None or (last.done() and monotonic() >= self._old_at_s):
            self._found = asyncio.ensure_future(self._measured())
            # Whoever waited may have given up before it failed.
            self._found.add_done_callback(lambda found: found.cancelled() or found.exception())
            if last is not None and monotonic() < self._old_at_s + self._spare_s and last.exception() is None:
                return last.result()
        assert self._found is not None
        async with asyncio.timeout(WAIT_SECONDS_MAX):
            return await asyncio.shield(self._found)

    async def _measured(self) -> T:
        began_s = monotonic()
        try:
            return await self._look()
        finally:
            ended_s = monotonic()
            self._old_at_s = ended_s + max(self._fresh_s, self._rest * (ended_s - began_s))


class StoreReader:
    """A store that is only read, in a thread of its own."""

    def __init__(self, address: str, utc_now: Callable[[], datetime]) -> None:
        self.address = address
        self._utc_now = utc_now
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="store")
        self._store: Store | None = None
        self._opened_at_s = 0.0

    async def read(self, work: Callable[[Store, datetime], T]) -> T:
        """What `work` finds in the store, as of now. Raises StoreError and its kinds."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._read, work)

    async def close(self) -> None:
        """Close the store, unless a look at it does not end."""
        closing = asyncio.get_running_loop().run_in_executor(self._thread, self._close)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                await closing
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _read(self, work: Callable[[Store, datetime], T]) -> T:
        if monotonic() - self._opened_at_s > _REOPEN_SECONDS:
            self._close()
        try:
            if self._store is None:
                self._store = open_store(self.address, is_read_only=True)
                self._opened_at_s = monotonic()
            return work(self._store, self._utc_now())
        except StoreError:
            self._close()
            raise

    def _close(self) -> None:
        store, self._store = self._store, None
        if store is not None:
            store.close()


class ManagerAsker:
    """The manager's word, asked for in a thread of its own."""

    def __init__(self, ask: Callable[[], Snapshot | None]) -> None:
        self._ask = ask
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="manager")

    async def ask(self) -> Snapshot | None:
        """Its snapshot; None where it does not answer."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._ask)

    def close(self) -> None:
        """Leave the thread to end by itself: it is done within seconds."""
        self._thread.shutdown(wait=False, cancel_futures=True)


def busy(address: str) -> StoreError:
    """The trouble of a look that does not end."""
    return StoreBusyError(address, f"it did not answer within {WAIT_SECONDS_MAX:.0f} s; something keeps it locked")
