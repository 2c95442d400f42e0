"""Crawlers in the broker's own process: a Turn in, its Visits out as they finish."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from junkai.clock import Clock, monotonic
from junkai.config import Settings
from junkai.crawler import TurnTime, crawl_turn
from junkai.fetch import Fetcher
from junkai.model import Turn, Visit
from junkai.politeness import DomainBudget


class LocalDispatcher:
    """Runs turns on the broker's event loop, within the broker's domain budget."""

    def __init__(self, fetcher: Fetcher, settings: Settings, now: Clock, budget: DomainBudget) -> None:
        self._fetcher = fetcher
        self._settings = settings
        self._now = now
        self._budget = budget

    def crawl(self, turn: Turn, time: TurnTime) -> AsyncGenerator[Visit, None]:
        """See Dispatcher.crawl."""
        # A host that is its own domain is spaced by its delay already, which is the stricter rule of the two.
        is_spaced = turn.domain == turn.host and turn.delay_s >= 1 / self._settings.domain_per_second_max
        return crawl_turn(
            turn,
            time,
            fetcher=self._fetcher,
            settings=self._settings,
            now=self._now,
            reserve=None if is_spaced else self._reserve,
        )

    def _reserve(self, domain: str) -> float:
        return self._budget.reserve_request(domain, monotonic())
