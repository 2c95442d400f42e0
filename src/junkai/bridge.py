"""The thread bridge to the store: blocking calls in, awaitables out; one thread, which alone touches the store."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Final, Self, TypeVar

from junkai.backend.protocol import Store
from junkai.errors import StoreBusyError

T = TypeVar("T")

_log = logging.getLogger(__name__)

#: Each try waits for the lock by itself (SQLite: 30 s), so that this is about ten minutes.
BUSY_TRIES_MAX: Final = 20


class StoreBridge:
    """Opens the store in a thread of its own, and runs calls on it there, in order."""

    def __init__(self, open_store: Callable[[], Store]) -> None:
        self._open_store = open_store
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="store")
        self._store: Store | None = None

    async def __aenter__(self) -> Self:
        try:
            self._store = await asyncio.get_running_loop().run_in_executor(self._thread, self._open_store)
        except BaseException:
            self._thread.shutdown()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self.call(lambda store: store.close())
        finally:
            self._thread.shutdown()

    async def call(self, work: Callable[[Store], T]) -> T:
        """What `work` answers, run in the store's thread. Raises what it raises: StoreError and its kinds.

        While others keep the store locked it is tried again, BUSY_TRIES_MAX times; `work` must bear being run again.
        """
        store = self._store
        assert store is not None, "the bridge is entered first"
        loop = asyncio.get_running_loop()
        for _ in range(BUSY_TRIES_MAX - 1):
            try:
                return await loop.run_in_executor(self._thread, work, store)
            except StoreBusyError as error:
                _log.warning("%s", error)
        return await loop.run_in_executor(self._thread, work, store)
