"""Each request to a scripted site, when it began and ended, in; which came together or too soon after another, out."""

from __future__ import annotations

import itertools
import threading
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from junkai.clock import monotonic


@dataclass(kw_only=True, eq=False)
class Asked:
    """One request as the site saw it. Times are seconds of `clock.monotonic`."""

    host: str
    path: str
    fields: Mapping[str, str]  #: names in lower case; a repeated field is joined with ", "
    method: str
    started_at: float
    ended_at: float | None = None  #: the kernel took the last byte, or the client was gone; None: not yet
    status: int = 0  #: 0: the client was gone before the answer began
    is_aborted: bool = False  #: the client was gone before the answer ended

    @property
    def is_conditional(self) -> bool:
        """It carries a validator."""
        return "if-none-match" in self.fields or "if-modified-since" in self.fields


class AskedLog:
    """Written by the serving thread, read by the test's."""

    def __init__(self) -> None:
        self._asked: list[Asked] = []
        self._changed = threading.Condition(threading.RLock())

    @property
    def asked(self) -> list[Asked]:
        """Every request so far, in the order of arrival."""
        with self._changed:
            return list(self._asked)

    def forget(self) -> None:
        """Empty the log."""
        with self._changed:
            self._asked.clear()

    def wait_for(self, count: int, *, seconds: float = 10.0) -> list[Asked]:
        """The log once it holds that many requests. Raises TimeoutError when it does not in time."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self._asked) >= count, seconds):
                raise TimeoutError(f"{len(self._asked)} of {count} requests came in {seconds} s")
            return list(self._asked)

    def wait_until_idle(self, *, seconds: float = 10.0) -> None:
        """Return when no request is being answered. Raises TimeoutError when one still is."""
        with self._changed:
            if not self._changed.wait_for(lambda: all(each.ended_at is not None for each in self._asked), seconds):
                raise TimeoutError(f"requests are still being answered after {seconds} s")

    def overlaps(self) -> list[tuple[Asked, Asked]]:
        """Pairs of requests to one host of which the later began before the earlier had ended."""
        return [(a, b) for a, b in self._neighbours() if a.ended_at is None or b.started_at < a.ended_at]

    def gaps_below(self, seconds: float) -> list[tuple[Asked, Asked]]:
        """Pairs of consecutive requests to one host that began less than `seconds` apart."""
        return [(a, b) for a, b in self._neighbours() if b.started_at - a.started_at < seconds]

    def _neighbours(self) -> list[tuple[Asked, Asked]]:
        """Each request with the next one to its host: where three overlap, so do two neighbours."""
        by_host: defaultdict[str, list[Asked]] = defaultdict(list)
        for asked in self.asked:
            by_host[asked.host].append(asked)
        return [pair for requests in by_host.values() for pair in itertools.pairwise(requests)]

    def note_started(self, asked: Asked) -> None:
        """The request's head was read just now."""
        with self._changed:
            self._asked.append(asked)
            self._changed.notify_all()

    def note_ended(self, asked: Asked, *, is_aborted: bool) -> None:
        """Its answer ended just now, or the client went away."""
        with self._changed:
            asked.is_aborted = is_aborted
            asked.ended_at = monotonic()
            self._changed.notify_all()
