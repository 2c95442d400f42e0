"""How a crawl is shown while it goes: log lines, nothing, or a live display."""

from __future__ import annotations

import json
import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from rich.text import Text

from junkai.backend.protocol import Recorded
from junkai.cli import crawl
from junkai.cli.progress import NEWS_PER_SECOND_MAX, Display, Lines
from junkai.config import Settings
from junkai.document import Document, Entry, IdSource
from junkai.errors import FailureKind
from junkai.model import (
    CrawlState,
    Decision,
    Failed,
    Fetched,
    NotModified,
    Outcome,
    Source,
    SourceState,
    Validators,
    Visit,
)
from screens import screen

NOW = datetime(2026, 11, 27, 13, 48, tzinfo=UTC)
URL = "https://blog.example/feed"
SOURCE = Source(source_id=1, url=URL, host="blog.example")


def visit(outcome: Outcome) -> Visit:
    return Visit(source_id=1, url=URL, started_at=NOW, ended_at=NOW, outcome=outcome)


def decision(*, title: str = "Blog", error: str | None = None) -> Decision:
    return Decision(
        state=SourceState(state=CrawlState.FETCHED, due_at=NOW + timedelta(hours=1), title=title, error=error)
    )


def fetched(title: str) -> Fetched:
    document = Document(format="rss", entries=(Entry(id="a", id_source=IdSource.ID, title=title),))
    return Fetched(status=200, validators=Validators(url=URL), body_hash=b"h", document=document)


def plain(raw: bytes) -> str:
    return Text.from_ansi(raw.decode().replace("\r", "\n")).plain


def test_a_display_counts_along_and_says_what_is_new() -> None:
    with screen(columns=80) as raw, Display(has_end=True) as display:
        display.on_round(3)
        display.on_visit(visit(fetched("紅葉の庭")), SOURCE, decision(title="京都日記"), Recorded(entries_new=2))
        display.on_visit(visit(NotModified()), SOURCE, decision(), Recorded())

    shown = plain(raw.getvalue())
    assert "2 new  京都日記  紅葉の庭" in shown
    assert "2/3" in shown
    assert "2 visits · 1 ok · 1 not modified · 0 failed · 2 new" in shown


def test_a_display_says_what_failed_and_why() -> None:
    outcome = Failed(kind=FailureKind.NOT_FOUND, status=404)
    with screen(columns=80) as raw, Display(has_end=False) as display:
        display.on_visit(visit(outcome), SOURCE, decision(error="not found: HTTP 404"), Recorded())

    assert "failed  https://blog.example/feed  not found: HTTP 404" in plain(raw.getvalue())


def test_a_title_cannot_steer_the_display() -> None:
    hostile = "\x1b]0;owned\x07\x9b2J[red]\u202e"
    with screen(columns=80) as raw, Display(has_end=False) as display:
        display.on_visit(visit(fetched(hostile)), SOURCE, decision(title=hostile), Recorded(entries_new=1))

    shown = raw.getvalue().decode()
    assert "�]0;owned�" in shown
    assert "\x1b]0;" not in shown
    assert not set(shown) & set("\x07\x9b\u202e")


def test_more_news_than_anyone_reads_is_counted_only() -> None:
    with screen(columns=80) as raw, Display(has_end=False) as display:
        for _ in range(3 * NEWS_PER_SECOND_MAX):
            display.on_visit(visit(fetched("one")), SOURCE, decision(), Recorded(entries_new=1))

    shown = plain(raw.getvalue())
    assert shown.count("1 new  Blog") < 3 * NEWS_PER_SECOND_MAX
    assert f"{3 * NEWS_PER_SECOND_MAX} new" in shown


def test_a_lost_turn_is_not_counted() -> None:
    with screen(columns=80) as raw, Display(has_end=False) as display:
        display.on_visit(visit(NotModified()), SOURCE, decision(), Recorded(is_lost=True))

    assert "0 visits" in plain(raw.getvalue())


def test_elsewhere_a_visit_is_a_line_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    with crawl.watching(Settings(), is_quiet=False, has_end=True) as progress:
        progress.on_round(1)
        progress.on_visit(visit(NotModified()), SOURCE, decision(), Recorded())

    assert json.loads(capsys.readouterr().out)["outcome"] == "not_modified"


def test_quiet_is_quiet_everywhere(capsys: pytest.CaptureFixture[str]) -> None:
    with crawl.watching(Settings(), is_quiet=True, has_end=True) as progress:
        progress.on_round(1)
        progress.on_visit(visit(NotModified()), SOURCE, decision(), Recorded())

    assert capsys.readouterr().out == ""


def test_a_crawl_goes_on_when_nobody_reads_its_lines_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as nobody:
        monkeypatch.setattr(sys, "stdout", nobody)
        lines = Lines(is_json=True)
        lines.on_visit(visit(NotModified()), SOURCE, decision(), Recorded())
        lines.on_visit(visit(NotModified()), SOURCE, decision(), Recorded())
        monkeypatch.undo()

        assert os.path.samestat(Path(os.devnull).stat(), os.fstat(nobody.fileno()))
