"""The thread bridge to the store: blocking calls in, awaitables out; one thread, which alone touches the store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Self, TypeVar

from junkai.backend.protocol import Store

T = TypeVar("T")


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
        """What `work` answers, run in the store's thread. Raises what it raises: StoreError and its kinds."""
        store = self._store
        assert store is not None, "the bridge is entered first"
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, store)
