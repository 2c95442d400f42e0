"""The backends that the suite runs on: another one adds a line to BACKENDS."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from contract.scene import DELAY_S, Backend
from junkai.backend import open_store
from junkai.backend.protocol import Store


@contextlib.contextmanager
def _sqlite_without_fence() -> Iterator[None]:
    from junkai.backend.sqlite import frontier, record

    with pytest.MonkeyPatch.context() as patch:
        for topic, query, condition in (
            (record.SQL, "fence", "AND host.turn_no = json_extract(ref.value, '$[1]')"),
            (frontier.SQL, "release", "AND turn_no = :turn_no"),
            (frontier.SQL, "renew", "AND turn_no = :turn_no"),
        ):
            assert condition in topic[query]
            patch.setitem(topic, query, topic[query].replace(condition, ""))
        returned = "SELECT host.host_id, host.turn_no,"
        assert returned in record.SQL["fence"]
        unfenced = record.SQL["fence"].replace(returned, "SELECT host.host_id, json_extract(ref.value, '$[1]'),")
        patch.setitem(record.SQL, "fence", unfenced)
        yield


BACKENDS: Final = (
    Backend(
        name="sqlite",
        address=lambda folder: f"sqlite:///{folder}/store.db",
        without_fence=_sqlite_without_fence,
    ),
)


@pytest.fixture(params=BACKENDS, ids=lambda backend: backend.name)
def backend(request: pytest.FixtureRequest) -> Backend:
    chosen: Backend = request.param
    return chosen


@pytest.fixture
def address(backend: Backend, tmp_path: Path) -> str:
    return backend.address(tmp_path)


@pytest.fixture
def opened(address: str) -> Iterator[Callable[..., Store]]:
    """One more handle on the same store with each call."""
    with contextlib.ExitStack() as handles:

        def another(**options: Any) -> Store:
            return handles.enter_context(contextlib.closing(open_store(address, **({"delay_s": DELAY_S} | options))))

        yield another


@pytest.fixture
def store(opened: Callable[..., Store]) -> Store:
    return opened()


@pytest.fixture
def other(store: Store, opened: Callable[..., Store]) -> Store:
    """A second handle, as another process has one."""
    return opened()
