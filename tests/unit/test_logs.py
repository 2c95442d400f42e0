"""The log line of a visit, for people and as JSON, and the lines of our own troubles."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Literal

import pytest

from junkai import logs
from junkai.backend.protocol import Recorded
from junkai.config import Settings
from junkai.document import Document
from junkai.errors import FailureKind
from junkai.model import (
    CrawlState,
    Decision,
    Failed,
    Fetched,
    Outcome,
    RateLimited,
    Source,
    SourceState,
    Validators,
    Visit,
)

STARTED = datetime(2026, 11, 27, 13, 48, tzinfo=UTC)
ENDED = STARTED + timedelta(milliseconds=212)
URL = "https://blog.example/feed"
FETCHED = Fetched(status=200, validators=Validators(url=URL), body_hash=b"h", document=Document(format="rss"))


def line(
    outcome: Outcome = FETCHED,
    *,
    recorded: Recorded = Recorded(),  # noqa: B008  # frozen: shared by all calls without harm
    error: str | None = None,
    due_at: datetime | None = ENDED + timedelta(hours=1),
    url: str = URL,
) -> logs.VisitLine:
    visit = Visit(source_id=1, url=url, started_at=STARTED, ended_at=ENDED, outcome=outcome, bytes_received=11_402)
    decision = Decision(state=SourceState(state=CrawlState.FETCHED, due_at=due_at, error=error))
    return logs.visit_line(visit, Source(source_id=1, url=URL, host="blog.example"), decision, recorded)


@pytest.fixture
def logger() -> Iterator[logging.Logger]:
    logger = logging.getLogger("junkai")
    before = logger.handlers, logger.propagate
    yield logger
    logger.handlers, logger.propagate = before


def test_a_visit_has_all_keys_in_their_order() -> None:
    actual = json.loads(logs.as_json(line(recorded=Recorded(entries_new=2))))

    assert list(actual.items()) == [
        ("event", "visit"),
        ("at", "2026-11-27T13:48:00.212000Z"),
        ("source", URL),
        ("host", "blog.example"),
        ("outcome", "fetched"),
        ("status", 200),
        ("bytes", 11_402),
        ("ms", 212),
        ("next_visit_at", "2026-11-27T14:48:00.212000Z"),
        ("entries_new", 2),
        ("entries_updated", 0),
        ("detail", None),
    ]


def test_a_failure_is_named_by_its_kind_and_told_in_a_sentence() -> None:
    failed = Failed(kind=FailureKind.NOT_FOUND, status=404)

    actual = line(failed, error="not found: HTTP 404")

    assert ("not_found", 404, "not found: HTTP 404") == (actual.outcome, actual.status, actual.detail)


def test_the_host_is_the_one_that_was_asked() -> None:
    actual = line(url="https://www.blog.example:8443/feed").host

    assert actual == "www.blog.example:8443"


def test_a_lost_turn_says_that_nothing_was_stored() -> None:
    actual = line(recorded=Recorded(is_lost=True)).detail

    assert actual == "the turn was lost: nothing of this visit was stored"


def test_a_visit_that_could_not_be_stored_says_why() -> None:
    actual = line(recorded=Recorded(error="too large")).detail

    assert actual == "could not be stored: too large"


def test_the_line_for_people_has_the_facts_in_the_same_order() -> None:
    actual = logs.as_text(line(recorded=Recorded(entries_new=2, entries_updated=1)))

    assert actual == (
        "13:48:00  fetched         200     11 KB     212 ms  https://blog.example/feed  2 new, 1 edited, next in 1 h"
    )


def test_a_rate_limit_has_its_reason_in_brackets_at_the_end() -> None:
    actual = logs.as_text(line(RateLimited(status=429), error="rate limited (HTTP 429)", due_at=None))

    assert actual.endswith("https://blog.example/feed  no more visits  (rate limited (HTTP 429))")


def test_no_control_character_of_a_failure_reaches_either_form() -> None:
    hostile = line(Failed(kind=FailureKind.PROTOCOL), error="bad status \x1b]0;title\x07 \x9b2J\u202e")

    shown = logs.as_text(hostile) + logs.as_json(hostile)

    assert not set(shown) & set("\x1b\x07\x9b\u202e")


@pytest.mark.parametrize(
    ("log_format", "is_terminal", "expected"),
    [("auto", True, False), ("auto", False, True), ("human", False, False), ("json", True, True)],
)
def test_the_form_follows_the_setting_and_the_terminal(
    log_format: Literal["auto", "human", "json"], is_terminal: bool, expected: bool
) -> None:
    actual = logs.is_json(Settings(log_format=log_format), is_terminal=is_terminal)

    assert expected == actual


def test_a_trouble_is_one_json_line_on_standard_error(
    logger: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.write_troubles(is_json=True)

    logger.warning("turn of %s \x1b[31m lost", "blog.example")

    actual = json.loads(capsys.readouterr().err)
    assert ("warning", "turn of blog.example \x1b[31m lost", None) == (
        actual["event"],
        actual["message"],
        actual["trace"],
    )


def test_a_fault_of_our_own_brings_its_trace_for_people(
    logger: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.write_troubles(is_json=False)

    try:
        int("\x1b[31mred")
    except ValueError:
        logger.exception("a turn failed")

    shown = capsys.readouterr().err
    assert "error           a turn failed\n    Traceback" in shown
    assert "\x1b" not in shown
