"""Settings in; the word of the manager that works on their store, or why there is none, out."""

from __future__ import annotations

from typing import NamedTuple

from junkai import status_port
from junkai.config import Settings
from junkai.fleet import Snapshot


class Answer(NamedTuple):
    """What the status port said."""

    snapshot: Snapshot | None
    why_none: str = ""  #: a clause: "no manager answers on port 8421"


def ask_manager(settings: Settings, *, timeout_s: float = 2.0) -> Answer:
    """Ask the manager on the status port of the settings; none where it works on another store. Blocks that long."""
    port = settings.status_port
    if not port:
        return Answer(None, "status_port is 0, and so the manager's port is not known")
    snapshot = status_port.ask(port, timeout_s=timeout_s)
    if snapshot is None:
        return Answer(None, f"no manager answers on port {port}")
    if _last_part(snapshot.store) != _last_part(settings.store):
        return Answer(None, f"the manager on port {port} works on another store, {snapshot.store}")
    return Answer(snapshot)


def _last_part(address: str) -> str:
    """The rest may differ: the manager may have been told of the same store by a path from another folder."""
    return address.rpartition("/")[2]
