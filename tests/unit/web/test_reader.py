"""Looks at the store that many viewers share, and a store that comes and goes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import pytest

from junkai.backend import open_store
from junkai.backend.protocol import Store
from junkai.clock import monotonic
from junkai.errors import StoreError
from junkai.web import reader
from junkai.web.reader import Kept, StoreReader
from scene_of_the_page import NOW

T = TypeVar("T")


def sources(store: Store, now: datetime) -> int:
    return store.statistics.counts(now).sources


def with_reader(path: Path, work: Callable[[StoreReader], Awaitable[T]]) -> T:
    async def run() -> T:
        store = StoreReader(f"sqlite:///{path}", lambda: NOW)
        try:
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(run())


def test_many_viewers_share_one_look() -> None:
    looks = 0

    async def look() -> int:
        nonlocal looks
        looks += 1
        await asyncio.sleep(0)
        return looks

    async def run() -> list[int]:
        kept = Kept(look, fresh_s=60.0)
        return [*await asyncio.gather(*(kept.get() for _ in range(50))), await kept.get()]

    assert [1] * 51 == asyncio.run(run())


def test_an_old_answer_is_looked_up_again() -> None:
    looks = iter(range(3))

    async def look() -> int:
        return next(looks)

    async def run() -> list[int]:
        kept = Kept(look, fresh_s=0.0)
        kept_for_nothing = []
        for _ in range(3):
            kept_for_nothing.append(await kept.get())
            kept._old_at_s = 0.0
        return kept_for_nothing

    assert [0, 1, 2] == asyncio.run(run())


def test_an_answer_that_is_a_little_old_is_given_out_while_the_next_look_is_under_way() -> None:
    looks = iter(range(3))

    async def look() -> int:
        return next(looks)

    async def run() -> list[int]:
        kept = Kept(look, fresh_s=0.0, spare_s=60.0)
        found = [await kept.get()]
        kept._old_at_s = monotonic()
        found.append(await kept.get())
        found.append(await kept.get())
        return found

    assert [0, 0, 1] == asyncio.run(run())


def test_a_look_that_does_not_end_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "WAIT_SECONDS_MAX", 0.01)

    async def run() -> tuple[bool, int]:
        ended = asyncio.Event()

        async def look() -> int:
            await ended.wait()
            return 7

        kept = Kept(look, fresh_s=60.0)
        with pytest.raises(TimeoutError):
            await kept.get()
        ended.set()
        return True, await kept.get()

    assert (True, 7) == asyncio.run(run())


def test_a_store_that_is_not_there_is_named_and_found_once_it_is(tmp_path: Path) -> None:
    path = tmp_path / "junkai.db"

    async def work(store: StoreReader) -> int:
        with pytest.raises(StoreError, match="no such store yet"):
            await store.read(sources)
        open_store(f"sqlite:///{path}").close()
        return await store.read(sources)

    assert 0 == with_reader(path, work)


def test_a_store_that_was_removed_is_missed_after_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "junkai.db"
    open_store(f"sqlite:///{path}").close()
    monkeypatch.setattr(reader, "_REOPEN_SECONDS", 0.0)

    async def work(store: StoreReader) -> str:
        await store.read(sources)
        path.unlink()
        with pytest.raises(StoreError) as missed:
            await store.read(sources)
        return str(missed.value)

    assert "no such store yet" in with_reader(path, work)


def test_the_store_cannot_be_changed_through_it(tmp_path: Path) -> None:
    path = tmp_path / "junkai.db"
    open_store(f"sqlite:///{path}").close()

    async def work(store: StoreReader) -> None:
        with pytest.raises(StoreError):
            await store.read(lambda opened, now: opened.hosts.change("a.example", now, slots=2))

    with_reader(path, work)
