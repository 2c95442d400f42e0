"""Settings in; the store that they name, open for the length of a block, out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

from junkai.backend import open_store
from junkai.backend.protocol import Store
from junkai.config import Settings


@contextmanager
def opened(settings: Settings) -> Iterator[Store]:
    """The store, made where there is none yet. Raises StoreError and its kinds, UsageError for an unknown address."""
    with closing(open_store(settings.store, delay_s=settings.delay_seconds)) as store:
        yield store


@contextmanager
def opened_to_read(settings: Settings) -> Iterator[Store]:
    """The store as it is; nothing can be changed. Raises like `opened`, and where there is no store yet."""
    with closing(open_store(settings.store, is_read_only=True)) as store:
        yield store
