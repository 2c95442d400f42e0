"""Numbers of the store and the manager's snapshot in; Prometheus' text format, version 0.0.4, out. Pure.

Written by hand: a client library counts what happens in its own process, and these numbers are the store's, right over
any number of processes and kills. Labels are bounded: never a host, never a URL.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final

from junkai import wording
from junkai.backend.listed import Total
from junkai.fleet import Snapshot
from junkai.immutable import Struct
from junkai.web.facts import Numbers

CONTENT_TYPE: Final = "text/plain; version=0.0.4"  # the framework adds the charset

Labels = tuple[tuple[str, str], ...]


class Family(Struct, frozen=True, kw_only=True):
    """All samples of one name. Names and help are ours; labels' values may be of any text."""

    name: str
    kind: str  #: counter | gauge | histogram
    help: str
    samples: tuple[tuple[str, Labels, float], ...]  #: what follows the name, labels, value


class Process(Struct, frozen=True, kw_only=True):
    """This process."""

    version: str
    memory_bytes: int
    cpu_s: float


_TOTALS: Final = {
    "visits": "Visits that were stored, by what they met and the class of the HTTP status.",
    "bytes_received": "Body bytes received, as they came over the wire.",
    "entries_new": "Entries stored for the first time.",
    "entries_updated": "Entries stored again because they had changed.",
    "visits_lost": "Visits that were not stored because their turn had passed to another process.",
    "holds": "Holds laid on hosts that asked us to wait.",
    "hosts_claimed": "Turns at hosts that were taken.",
    "hosts_claimed_idle": "Turns at hosts that were taken without a source that was due.",
}


def render(numbers: Numbers | None, snapshot: Snapshot | None, process: Process) -> str:
    """The whole answer; without the store's numbers where it cannot be read, the manager's where it does not answer."""
    families = [
        *_web_families(process, is_store_readable=numbers is not None, is_manager_heard=snapshot is not None),
        *(_store_families(numbers) if numbers else ()),
        *(_system_families(snapshot) if snapshot else ()),
    ]
    return "".join(line for family in families for line in _lines(family))


def _lines(family: Family) -> Iterator[str]:
    yield f"# HELP {family.name} {family.help}\n"
    yield f"# TYPE {family.name} {family.kind}\n"
    for suffix, labels, value in family.samples:
        told = ",".join(f'{name}="{_escaped(text)}"' for name, text in labels)
        yield (
            f"{family.name}{suffix}{{{told}}} {_number(value)}\n"
            if told
            else f"{family.name}{suffix} {_number(value)}\n"
        )


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))


# ── what each part says ──────────────────────────────────────────────────────────────────────────────────────────


def _web_families(process: Process, *, is_store_readable: bool, is_manager_heard: bool) -> Iterator[Family]:
    yield _gauge("junkai_build_info", "1, with the version of the code.", 1, (("version", process.version),))
    yield _gauge("junkai_store_readable", "1 while the store can be read, else 0.", is_store_readable)
    yield _gauge("junkai_manager_answers", "1 while the manager answers, else 0.", is_manager_heard)
    yield _gauge("junkai_web_memory_bytes", "Resident memory of the web process.", process.memory_bytes)
    yield _counter("junkai_web_cpu_seconds_total", "User and system time of the web process.", process.cpu_s)


def _store_families(numbers: Numbers) -> Iterator[Family]:
    for name, explanation in _TOTALS.items():
        samples = tuple(("", total.labels, total.value) for total in numbers.totals if total.name == name)
        yield Family(name=f"junkai_{name}_total", kind="counter", help=explanation, samples=samples)
    yield _visit_seconds(numbers.totals)
    counts, backlog, freshness = numbers.counts, numbers.backlog, numbers.freshness
    yield _by("junkai_sources", "Sources by crawl state.", "state", counts.by_state.items())
    yield _gauge("junkai_sources_paused", "Sources that the operator paused.", counts.paused)
    yield _gauge("junkai_entries", "Entries stored.", counts.entries)
    yield _gauge("junkai_hosts", "Hosts known.", counts.hosts)
    yield _gauge("junkai_hosts_held", "Hosts under a hold.", counts.held)
    yield _gauge("junkai_hosts_in_turn", "Hosts in a turn.", counts.in_turn)
    waits = (("broker", backlog.free), ("host", backlog.turn), ("hold", backlog.held))
    yield _by("junkai_sources_due", "Sources that are due, by what they wait for.", "wait", waits)
    due_s = _seconds_since(backlog.oldest_due_at, numbers.at)
    yield _gauge("junkai_due_oldest_seconds", "How long the longest-waiting due source has waited, holds aside.", due_s)
    free_s = _seconds_since(backlog.oldest_free_at, numbers.at)
    yield _gauge("junkai_broker_wait_oldest_seconds", "How long a due source has waited for a free broker.", free_s)
    if freshness.median_s is not None and freshness.p95_s is not None:
        quantiles = (("0.5", freshness.median_s), ("0.95", freshness.p95_s))
        explanation = "From publication to storage, of entries of the past hour."
        yield _by("junkai_freshness_seconds", explanation, "quantile", quantiles)


def _visit_seconds(totals: Iterable[Total]) -> Family:
    buckets = [total for total in totals if total.name == "visit_seconds"]
    buckets.sort(key=lambda total: float(dict(total.labels)["le"]))
    whole = sum(total.value for total in totals if total.name == "visit_seconds_sum")
    number = buckets[-1].value if buckets else 0.0
    return Family(
        name="junkai_visit_seconds",
        kind="histogram",
        help="How long visits took, politeness aside.",
        samples=(
            *(("_bucket", total.labels, total.value) for total in buckets),
            ("_sum", (), whole),
            ("_count", (), number),
        ),
    )


def _system_families(snapshot: Snapshot) -> Iterator[Family]:
    yield _gauge("junkai_start_time_seconds", "When the manager started, since 1970.", snapshot.started_at.timestamp())
    yield _gauge("junkai_brokers_wanted", "Brokers that should run.", snapshot.brokers_wanted)
    yield _gauge("junkai_brokers_alive", "Brokers that run.", len(snapshot.brokers))
    yield _gauge("junkai_brokers_heard", "Brokers that run and are not silent.", wording.heard_of(snapshot))
    yield _counter(
        "junkai_broker_restarts_total", "Brokers that died or were killed, and were replaced.", snapshot.restarts
    )
    yield _counter(
        "junkai_brokers_killed_total", "Brokers that the manager killed: overdue, or silent.", snapshot.killed
    )
    in_turn = sum(row.heartbeat.in_turn for row in snapshot.brokers)
    yield _gauge("junkai_brokers_in_turn", "Hosts that the brokers have in turn.", in_turn)
    memory = sum(row.heartbeat.memory_bytes for row in snapshot.brokers)
    yield _gauge(
        "junkai_brokers_memory_bytes", "Resident memory of all brokers; pages that they share count again.", memory
    )
    yield _gauge("junkai_draining", "1 while the system stops, else 0.", snapshot.is_draining)


def _gauge(name: str, explanation: str, value: float, labels: Labels = ()) -> Family:
    return Family(name=name, kind="gauge", help=explanation, samples=(("", labels, value),))


def _counter(name: str, explanation: str, value: float) -> Family:
    return Family(name=name, kind="counter", help=explanation, samples=(("", (), value),))


def _by(name: str, explanation: str, label: str, values: Iterable[tuple[str, float]]) -> Family:
    samples = tuple(("", ((label, key),), value) for key, value in values)
    return Family(name=name, kind="gauge", help=explanation, samples=samples)


def _seconds_since(at: datetime | None, now: datetime) -> float:
    return 0.0 if at is None else max((now - at).total_seconds(), 0.0)
