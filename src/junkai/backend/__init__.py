"""A store's address in; an open store, or the right to crawl on it, out. Only this module names a concrete backend."""

from __future__ import annotations

from contextlib import AbstractContextManager

from junkai.backend.protocol import Store
from junkai.errors import UsageError


def open_store(address: str, *, delay_s: float = 1.0, is_read_only: bool = False) -> Store:
    """Open the store at an address, and make it where there is none yet (not with `is_read_only`).

    `delay_s` is the politeness delay of hosts not seen before.
    Raises UsageError for an address of no known scheme, StoreError (or one of its kinds) where it cannot be opened.
    """
    _check_scheme(address)
    from junkai.backend.sqlite.store import SqliteStore

    return SqliteStore(address, delay_s=delay_s, is_read_only=is_read_only)


def load(address: str) -> None:
    """Import what `open_store` would need for the address; nothing is opened. Raises UsageError for no known scheme."""
    _check_scheme(address)
    import junkai.backend.sqlite.store  # noqa: F401  # loaded, so that a fork has it


def crawl_lock(address: str) -> AbstractContextManager[None]:
    """The right to crawl on a store that only one process can serve at a time; held until the context is left.

    Entering raises StoreBusyError, naming the store, while another process has it.
    """
    _check_scheme(address)
    from junkai.backend.sqlite import lock

    return lock.crawl_lock(address)


def _check_scheme(address: str) -> None:
    scheme, separator, _ = address.partition("://")
    if not separator or scheme != "sqlite":
        named = f"no backend for {scheme}://" if separator else "no scheme in it"
        raise UsageError(address, f"{named}; write sqlite:///relative.db or sqlite:////absolute.db")
