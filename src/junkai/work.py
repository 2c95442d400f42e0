"""Claims and recorded visits in; the work that was done, counted, out."""

from __future__ import annotations

from collections.abc import Sequence

from junkai.backend.protocol import Recorded
from junkai.fleet import Work
from junkai.model import Claim, Fetched, NotModified, Redirected, Visit


class WorkCount:
    """Counts since the process started."""

    def __init__(self) -> None:
        self._counts = dict.fromkeys(Work.__struct_fields__, 0)

    def add_claims(self, claims: Sequence[Claim]) -> None:
        """Hosts were claimed."""
        self._counts["hosts_claimed"] += len(claims)
        self._counts["hosts_claimed_idle"] += sum(not claim.sources for claim in claims)

    def add_visit(self, visit: Visit, recorded: Recorded) -> None:
        """A visit was recorded, or lost with its turn."""
        counts = self._counts
        if recorded.is_lost:
            counts["lost"] += 1
            return
        counts["visits"] += 1
        match visit.outcome:
            case Fetched():
                counts["ok"] += 1
            case NotModified():
                counts["not_modified"] += 1
            case Redirected():
                counts["redirected"] += 1
            case _:
                counts["failed"] += 1
        counts["entries_new"] += recorded.entries_new
        counts["entries_updated"] += recorded.entries_updated
        counts["bytes"] += visit.bytes_received

    def so_far(self) -> Work:
        """All of it."""
        return Work(**self._counts)
