"""Sizes and moments of a body's pieces in; whether it drips below the least rate, out. No clock (rule 34)."""

from __future__ import annotations

from typing import Final

RATE_WINDOW_S: Final = 10.0


class DripWatch:
    """Adds up what came within a window of RATE_WINDOW_S or a little more; moments are seconds on any one clock."""

    def __init__(self, *, rate_min_bytes: int, began_at: float) -> None:
        self._rate_min_bytes = rate_min_bytes
        self._began_at = began_at
        self._size = 0

    def is_dripping(self, size: int, at: float) -> bool:
        """Take a piece in; True where the window that it ends was below the rate in bytes a second."""
        self._size += size
        elapsed_s = at - self._began_at
        if elapsed_s < RATE_WINDOW_S:
            return False
        is_low = self._size < self._rate_min_bytes * elapsed_s
        self._began_at = at
        self._size = 0
        return is_low
