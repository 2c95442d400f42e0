"""URLs and OPML outlines on their way into the frontier."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from junkai import intake
from junkai.backend import open_store
from junkai.backend.listed import FeedFilter
from junkai.backend.protocol import NewSource, Store
from junkai.config import Settings
from junkai.errors import SettingsError, UsageError
from junkai.parse.opml import OpmlFeed

NOW = datetime(2026, 11, 27, 13, 48, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(open_store(f"sqlite:///{tmp_path}/a.db", delay_s=1.0)) as opened:
        yield opened


def wanted(*urls: str) -> list[intake.Wanted]:
    return [intake.Wanted(source=NewSource(url=url), line=line) for line, url in enumerate(urls, start=1)]


def test_what_may_be_visited_is_accepted_in_order() -> None:
    accepted, refused = intake.sift(wanted("https://b.example/", "https://a.example/"), Settings())

    assert (["https://b.example/", "https://a.example/"], []) == ([one.source.url for one in accepted], refused)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("blog.example", "did you mean https://blog.example"),
        ("ftp://blog.example/", "scheme ftp: is refused"),
        ("https://me:secret@blog.example/", "do not belong in the URL"),
        ("http://127.0.0.1/", "127.0.0.1 may not be visited: loopback"),
        ("http://0x7f.1/", "127.0.0.1 may not be visited: loopback"),
        ("https://www.no.example/", "is on the block list"),
        ("", "URL"),
    ],
)
def test_what_may_not_is_refused_with_its_line_and_why(url: str, why: str) -> None:
    accepted, refused = intake.sift(wanted("https://a.example/", url), Settings(block=("*.no.example",)))

    assert ["https://a.example/"] == [one.source.url for one in accepted]
    assert [2] == [refusal.line for refusal in refused]
    assert why in refused[0].why


def test_a_refusal_shows_no_password_and_no_control_character() -> None:
    _, refused = intake.sift(wanted("https://me:secret@a.example/", "https://a\x1b[31m.example:x/"), Settings())

    shown = "".join(refusal.url + refusal.why for refusal in refused)
    assert not {"secret", "\x1b"} & {part for part in ("secret", "\x1b") if part in shown}


def test_a_block_list_that_cannot_be_read_is_the_settings_fault() -> None:
    with pytest.raises(SettingsError, match="block"):
        intake.sift(wanted("https://a.example/"), Settings(block=("no host",)))


def test_sources_are_added_in_batches_and_counted(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "BATCH_SOURCES", 2)
    heard: list[int] = []
    five = wanted(*(f"https://a.example/{number}" for number in range(5)))

    first = intake.take(store.frontier, five, NOW, on_batch=heard.append)
    again = intake.take(store.frontier, five, NOW)

    assert ([True] * 5, [False] * 5, [2, 4, 5]) == (first, again, heard)


def test_a_url_that_a_list_repeats_is_added_once(store: Store) -> None:
    same = wanted("https://a.example/feed", "https://a.example/feed#top", "HTTPS://A.example:443/feed")

    actual = intake.take(store.frontier, same, NOW)

    assert [True, False, False] == actual


def test_an_outline_keeps_its_title_its_site_and_its_folder(store: Store) -> None:
    feeds = [
        OpmlFeed(url="https://a.example/feed", title="紅葉", site_url="https://a.example/", groups=("京都",), line=4)
    ]

    listed = intake.wanted_by_opml(feeds, owner="aki", groups=["all", "京都"], interval_s=7200)
    intake.take(store.frontier, listed, NOW)

    assert [4] == [one.line for one in listed]
    (row,) = store.catalogue.feeds(FeedFilter())
    assert ("紅葉", ("aki",), {"all", "京都"}, 7200) == (
        row.title,
        row.owners,
        set(row.groups),
        row.source.explicit_interval_s,
    )


def test_an_interval_under_the_floor_names_the_floor() -> None:
    intake.check_interval(None)
    intake.check_interval(300)

    with pytest.raises(UsageError, match="interval 4 min: shorter than the floor of 5 min"):
        intake.check_interval(240)
