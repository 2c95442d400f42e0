"""Where crawlers run: a Turn in, its Visits out as they finish."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol

from junkai.crawler import TurnTime
from junkai.model import Turn, Visit


class Dispatcher(Protocol):
    """A way to have turns crawled."""

    def crawl(self, turn: Turn, time: TurnTime) -> AsyncGenerator[Visit, None]:
        """The visits of the turn as they finish. Sources that were not reached are left out. No request starts after
        `time.until`, which the caller may move while the turn runs."""
