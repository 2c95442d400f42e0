"""What a manager, its brokers and those who ask about them tell each other: orders, heartbeats, a snapshot of all.

Everything crosses a pipe or a loopback port as one JSON object a line; fields are only ever added.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Final

import msgspec

from junkai.immutable import Struct

#: The longest line that either side reads, bytes; a longer one ends the connection.
LINE_BYTES_MAX: Final = 1 << 20


class Work(Struct, frozen=True, kw_only=True):
    """What was done. visits = ok + not_modified + redirected + failed; all count since the process started."""

    visits: int = 0
    ok: int = 0
    not_modified: int = 0
    redirected: int = 0
    failed: int = 0  #: rate limited and gone included
    lost: int = 0  #: visits whose turn had passed to another process; they are made again
    entries_new: int = 0
    entries_updated: int = 0
    bytes: int = 0  #: body bytes on the wire
    hosts_claimed: int = 0
    hosts_claimed_idle: int = 0  #: of those, with no source that was due

    def __add__(self, other: Work) -> Work:
        return Work(**{name: getattr(self, name) + getattr(other, name) for name in Work.__struct_fields__})


class Summary(Work, frozen=True, kw_only=True, omit_defaults=False):
    """What a crawl did, all its processes together."""

    skipped: int = 0  #: sources that were due, but their host was under a hold
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    next_visit_at: datetime | None = None  #: when the first host can be asked again; None: not known, or never


class Phase(StrEnum):
    """What a broker does at the moment."""

    STARTING = "starting"
    PASS = "pass"  # noqa: S105 -- no password: a pass over a shard
    SLEEPING = "sleeping"  #: between passes: nothing is ready
    DRAINING = "draining"  #: takes no new turns; ends once those it has are recorded


# ── manager → preload server, manager → broker ───────────────────────────────────────────────────────────────────


class Order(Struct, frozen=True, kw_only=True):
    """What a new broker is to do."""

    name: str  #: "broker 1"; the number of its place, not of its process
    number: int  #: of its place, from 1
    brokers: int = 1  #: how many share the caps per domain
    round_at: datetime | None = None  #: visit what is due at this moment, once, and end; None: go on until told to end
    is_silent: bool = False  #: write no line for each visit


class End(Struct, frozen=True, kw_only=True, tag="end"):
    """Take no new turns, finish those under way, and end."""

    seconds_max: float = 30.0  #: what is still in flight then is broken off and given back


class TellBacklog(Struct, frozen=True, kw_only=True, tag="tell_backlog"):
    """Look at what is due in the store, and say it."""


# ── preload server → manager ─────────────────────────────────────────────────────────────────────────────────────


class Ready(Struct, frozen=True, kw_only=True, tag="ready"):
    """Everything is imported, and the settings are good: orders are taken from now on, one at a time."""

    version: str  #: of the code that its brokers run


class Started(Struct, frozen=True, kw_only=True, tag="started"):
    """The broker that was ordered runs. Until its `Ended` comes, its pid is no one else's."""

    pid: int


class Ended(Struct, frozen=True, kw_only=True, tag="ended"):
    """A broker ended, and was waited for."""

    pid: int
    status: int  #: its exit code; below 0: the number of the signal that ended it


# ── broker → manager ─────────────────────────────────────────────────────────────────────────────────────────────


class Heartbeat(Struct, frozen=True, kw_only=True, tag="heartbeat"):
    """Where a broker stands. Sent when it starts, at each change of phase or pass, and every second at least."""

    phase: Phase
    pass_no: int = 0
    shard: int | None = None
    pass_s: float = 0.0  #: how long the pass has been running; sleep between passes is no pass
    in_turn: int = 0  #: hosts
    memory_bytes: int = 0  #: resident
    cpu_s: float = 0.0  #: user and system, of this process
    work: Work = Work()


class Backlog(Struct, frozen=True, kw_only=True, tag="backlog"):
    """What is due, by what it waits for, as of `at`. Numbers are of sources, and end at `is_capped`'s bound."""

    at: datetime
    free: int = 0  #: whose host may be asked now: they wait for a free broker
    turn: int = 0  #: whose host is in a turn, or within its politeness delay
    held: int = 0  #: whose host is held or blocked; not counted as due
    oldest_free_at: datetime | None = None  #: since when the longest-waiting of `free` could have been asked
    oldest_due_at: datetime | None = None  #: the earliest due moment among `free` and `turn`
    is_capped: bool = False


#: The one reason to end after which a broker of a round is not replaced.
ROUND_DONE: Final = "the round is done"


class Farewell(Struct, frozen=True, kw_only=True, tag="farewell"):
    """The last thing a broker says: it has recorded and released everything, and ends by itself."""

    why: str  #: one phrase: "told to", "recycled after 500 passes", "the round is done"
    work: Work = Work()
    skipped: int = 0  #: sources that a round left because their host is under a hold


PreloadMessage = Ready | Started | Ended
BrokerMessage = Heartbeat | Backlog | Farewell
ManagerMessage = End | TellBacklog


# ── manager → whoever asks ───────────────────────────────────────────────────────────────────────────────────────


class BrokerRow(Struct, frozen=True, kw_only=True):
    """A broker as the status port, `junkai status` and the page show it."""

    name: str
    pid: int
    version: str
    started_at: datetime
    heartbeat: Heartbeat
    silent_s: float = 0.0  #: since its last heartbeat
    visits_a_minute: float = 0.0  #: over the last minute
    is_ending: bool = False  #: was told to end


class Snapshot(Struct, frozen=True, kw_only=True):
    """The system at one moment, as its manager sees it."""

    at: datetime
    pid: int
    version: str  #: of the code that new brokers run
    started_at: datetime
    store: str  #: its address, without a password
    page: str = ""  #: the web page's address; "": no web process is wanted
    brokers_wanted: int = 0
    brokers: tuple[BrokerRow, ...] = ()
    work: Work = Work()  #: of all brokers since the manager started, ended ones included
    restarts: int = 0  #: brokers that died or were killed, and were replaced
    killed: int = 0  #: of those, by the manager: their pass was overdue, or they were silent
    is_draining: bool = False
    trouble: str = (
        ""  #: one sentence: what stands in the way (a deploy that failed, brokers that do not start); "": nothing
    )
    cpu_s: float = 0.0  #: user and system, of the manager and all it has waited for


def encode(message: msgspec.Struct) -> bytes:
    """One line, with its end."""
    return msgspec.json.encode(message) + b"\n"
