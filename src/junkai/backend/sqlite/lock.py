"""A store's address in; the right to crawl on it, which one process at a time has, out."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from junkai.backend.sqlite.connection import path_of
from junkai.errors import StoreBusyError, StoreError


@contextlib.contextmanager
def crawl_lock(address: str) -> Iterator[None]:
    """Held until left, or until the process ends in whatever way: the operating system frees it.

    The file beside the store stays; removing it would let two processes lock two files of one name.
    Raises StoreBusyError where another process has it, StoreError where there is no place for the file.
    """
    import fcntl

    store = path_of(address).resolve()  # whatever name it is called by
    if store.is_file() and store.stat().st_nlink > 1:
        raise StoreError(address, "it has several names (hard links), which SQLite cannot lock; leave it one")
    path = Path(f"{store}.lock")
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise StoreError(address, f"cannot lock {path}: {error.strerror}") from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StoreBusyError(
                address, "another process crawls on it; stop that one, or give another store"
            ) from None
        yield
    finally:
        os.close(handle)
