"""The metrics, read back by a parser of its own."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from junkai.backend.listed import Freshness, Total
from junkai.fleet import Backlog
from junkai.web import metrics
from junkai.web.facts import Numbers
from requirements import REPO
from scene_of_the_page import COUNTS, NOW, ago, snapshot

PROCESS = metrics.Process(version="1.2.3", memory_bytes=50_000_000, cpu_s=1.25)
SAMPLE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (\S+)')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')


class Parsed(NamedTuple):
    kinds: dict[str, str]
    samples: dict[tuple[str, tuple[tuple[str, str], ...]], float]


def parsed(text: str) -> Parsed:
    """The text format 0.0.4, strictly: HELP and TYPE once and before their samples, samples together, lines ended by \\n."""
    assert text.endswith("\n")
    kinds: dict[str, str] = {}
    helped: set[str] = set()
    samples: dict[tuple[str, tuple[tuple[str, str], ...]], float] = {}
    current = ""
    for line in text[:-1].split("\n"):
        if line.startswith("# HELP "):
            current = line.split(" ", 3)[2]
            assert current not in helped
            helped.add(current)
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name == current
            assert name not in kinds
            kinds[name] = kind
        else:
            found = SAMPLE.fullmatch(line)
            assert found is not None, line
            suffixes = ("_bucket", "_sum", "_count") if kinds[current] == "histogram" else ("",)
            assert found[1] in {current + suffix for suffix in suffixes}
            key = (found[1], tuple(LABEL.findall(found[2] or "")))
            assert key not in samples
            samples[key] = float(found[3])
    return Parsed(kinds, samples)


def numbers(**different: Any) -> Numbers:
    totals = (
        Total(name="visits", labels=(("outcome", "new"), ("status", "2xx")), value=300),
        Total(name="visits", labels=(("outcome", "failed"), ("status", "none")), value=7),
        Total(name="visit_seconds", labels=(("le", "0.05"),), value=28),
        Total(name="visit_seconds", labels=(("le", "+Inf"),), value=307),
        Total(name="visit_seconds_sum", value=203.5),
        Total(name="bytes_received", value=680_257),
        Total(name="entries_new", value=6_000),
    )
    usual = Numbers(
        at=NOW, totals=totals, counts=COUNTS, backlog=Backlog(at=NOW, free=3, turn=4, held=9, oldest_due_at=ago(40)),
        freshness=Freshness(entries=10, median_s=31, p95_s=90.5),
    )  # fmt: skip
    return replace(usual, **different)


def values(text: str) -> dict[str, float]:
    """By name and labels, as a query would write them."""
    return {
        name + ("{" + ",".join(f"{key}={value}" for key, value in labels) + "}" if labels else ""): value
        for (name, labels), value in parsed(text).samples.items()
    }


def test_the_numbers_are_those_of_the_store_and_of_the_manager() -> None:
    found = values(metrics.render(numbers(), snapshot(restarts=4, killed=1), PROCESS))

    assert {
        "junkai_visits_total{outcome=new,status=2xx}": 300, "junkai_visits_total{outcome=failed,status=none}": 7,
        "junkai_bytes_received_total": 680_257, "junkai_entries_new_total": 6_000,
        "junkai_visit_seconds_bucket{le=0.05}": 28, "junkai_visit_seconds_bucket{le=+Inf}": 307,
        "junkai_visit_seconds_sum": 203.5, "junkai_visit_seconds_count": 307,
        "junkai_sources{state=fetched}": 980, "junkai_sources{state=error}": 5, "junkai_entries": 20_000,
        "junkai_hosts": 800, "junkai_hosts_held": 2, "junkai_hosts_in_turn": 5,
        "junkai_sources_due{wait=broker}": 3, "junkai_sources_due{wait=host}": 4, "junkai_sources_due{wait=hold}": 9,
        "junkai_due_oldest_seconds": 40, "junkai_broker_wait_oldest_seconds": 0,
        "junkai_freshness_seconds{quantile=0.5}": 31, "junkai_freshness_seconds{quantile=0.95}": 90.5,
        "junkai_brokers_wanted": 2, "junkai_brokers_alive": 2, "junkai_brokers_heard": 2,
        "junkai_broker_restarts_total": 4, "junkai_brokers_killed_total": 1, "junkai_brokers_in_turn": 24,
        "junkai_brokers_memory_bytes": 116_800_000, "junkai_web_memory_bytes": 50_000_000,
        "junkai_build_info{version=1.2.3}": 1, "junkai_store_readable": 1, "junkai_manager_answers": 1,
    }.items() <= found.items()  # fmt: skip


def test_every_counter_is_called_total_and_nothing_else_is() -> None:
    kinds = parsed(metrics.render(numbers(), snapshot(), PROCESS)).kinds

    assert {name for name, kind in kinds.items() if kind == "counter"} == {
        name for name in kinds if name.endswith("_total")
    }
    assert all(name.startswith("junkai_") for name in kinds)


def test_no_label_is_a_host_or_a_url() -> None:
    samples = parsed(metrics.render(numbers(), snapshot(), PROCESS)).samples

    labels = {label for _, pairs in samples for label, _ in pairs}
    assert {"outcome", "status", "le", "state", "wait", "quantile", "version"} == labels


def test_a_label_of_any_text_stays_one_label() -> None:
    text = metrics.render(None, None, replace(PROCESS, version='a"b\\c\nd'))

    assert [(("version", 'a\\"b\\\\c\\nd'),)] == [
        labels for name, labels in parsed(text).samples if name == "junkai_build_info"
    ]


@pytest.mark.parametrize(("is_store", "is_manager"), [(False, True), (True, False), (False, False)])
def test_what_does_not_answer_is_left_out_and_said(is_store: bool, is_manager: bool) -> None:
    found = values(metrics.render(numbers() if is_store else None, snapshot() if is_manager else None, PROCESS))

    assert (is_store, is_manager) == (found["junkai_store_readable"], found["junkai_manager_answers"])
    assert is_store == ("junkai_entries" in found)
    assert is_manager == ("junkai_brokers_wanted" in found)


def test_no_freshness_is_no_number() -> None:
    assert "junkai_freshness_seconds" not in metrics.render(numbers(freshness=Freshness()), snapshot(), PROCESS)


def test_every_metric_is_documented_and_no_other() -> None:
    page = (REPO / "docs" / "metrics.md").read_text(encoding="utf-8")
    documented = set(
        re.findall(r"`(junkai_\w+)", "\n".join(line for line in page.splitlines() if line.startswith("| `")))
    )

    assert documented == set(parsed(metrics.render(numbers(), snapshot(), PROCESS)).kinds)
