"""The caps over many hosts of one registrable domain: which turns may start, and when a request may. Pure; no clock."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

_DOMAINS_MAX: Final = 50_000
_AWAY_SECONDS_MIN: Final = 1.0


class DomainBudget:
    """Requests in flight and per second per registrable domain, over the turns of one broker.

    A turn has one request in flight at a time, so turns are what is counted. Moments are seconds on any one clock.
    """

    def __init__(self, *, in_flight_max: int, per_second_max: float) -> None:
        self._in_flight_max = in_flight_max
        self._spacing_s = 1 / per_second_max
        self._in_flight: dict[str, int] = {}
        self._next_at: OrderedDict[str, float] = OrderedDict()
        self._back_at: OrderedDict[str, float] = OrderedDict()

    def start_turn(self, domain: str) -> bool:
        """Count a turn in; False where the domain already has as many as it may."""
        running = self._in_flight.get(domain, 0)
        if running >= self._in_flight_max:
            return False
        self._in_flight[domain] = running + 1
        return True

    def end_turn(self, domain: str) -> None:
        """Count a turn out."""
        running = self._in_flight.pop(domain) - 1
        if running:
            self._in_flight[domain] = running

    def reserve_request(self, domain: str, now: float) -> float:
        """Seconds to wait before the next request to the domain; its place is taken with this call.

        Each place is one spacing after the last, so that any second holds at most `per_second_max` starts.
        """
        return self._place(self._next_at, domain, now)

    def postpone_turn(self, domain: str, now: float) -> float:
        """Seconds that a turn which may not start now should stay away: a second, or until those that were sent away
        before it have had their places. So the hosts of a large platform come back one by one, and not all at once."""
        return _AWAY_SECONDS_MIN + self._place(self._back_at, domain, now)

    def _place(self, places: OrderedDict[str, float], domain: str, now: float) -> float:
        at = max(now, places.pop(domain, 0.0))
        places[domain] = at + self._spacing_s
        if len(places) > _DOMAINS_MAX:
            places.popitem(last=False)
        return at - now
