"""The parser against the public corpora: what each file's own expectations say, and that none hangs or crashes it."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any, Final

import pytest

from junkai.document import Document
from junkai.errors import NotADocumentError
from junkai.parse import parse_document
from junkai.parse.sanitize import text_of_entry

URL: Final = "https://feeds.example/feed"
FEED_ROOTS: Final = {"rss", "feed", "rdf:RDF"}
#: Every how many files of the large folders are read here; a full run takes some two seconds.
SAMPLE_STEP: Final = 10


def expectations(folder: Path, name: str = "expectations.json") -> dict[str, dict[str, Any]]:
    loaded: dict[str, dict[str, Any]] = json.loads((folder / name).read_text(encoding="utf-8"))
    return loaded


def parsed(path: Path) -> Document:
    return parse_document(path.read_bytes(), url=URL)


def declares_a_language(path: Path) -> bool:
    return (
        re.search(rb'<language|<dc:language|<\w+ [^>]*xml:lang|"language"', path.read_bytes().replace(b"\0", b""))
        is not None
    )


def test_the_shapes_of_platforms_are_understood(corpora: Path) -> None:
    folder = corpora / "feeds" / "platform-shapes"
    wrong: dict[tuple[str, str], bool] = {}
    for name, expected in expectations(folder).items():
        document = parsed(folder / name)
        titles = [entry.title or None for entry in document.entries]
        published = [
            entry.published_at and entry.published_at.strftime("%Y-%m-%dT%H:%M:%SZ") for entry in document.entries
        ]
        understood = {
            "entry_count": document.entry_count == expected["entry_count"],
            "titles": titles == expected["titles"],
            "published_utc": published == expected["published_utc"],
            "body_texts": all(
                text in text_of_entry(entry)
                for text, entry in zip(expected["body_texts"], document.entries, strict=True)
            ),
            # Some shapes declare none: the expectation is then the language of the text.
            "language": (document.language or "").partition("-")[0]
            == (expected["language"] if declares_a_language(folder / name) else ""),
            "without problems": document.problems == (),
        }
        wrong |= {(name, what): False for what, is_right in understood.items() if not is_right}

    assert {} == wrong


def test_real_feeds_have_all_their_entries_and_fragments_are_no_documents(corpora: Path) -> None:
    folder = corpora / "feeds" / "realworld-scrambled"
    expected: dict[str, int | None] = {}
    found: dict[str, int | None] = {}
    for name, facts in expectations(folder, "meta.json").items():
        expected[name] = facts["items"] if facts["root"] in FEED_ROOTS else None
        try:
            found[name] = parsed(folder / name).entry_count
        except NotADocumentError:
            found[name] = None

    assert expected == found


def test_a_second_poll_of_a_real_feed_finds_nothing_new(corpora: Path) -> None:
    folder = corpora / "feeds" / "realworld-scrambled"
    for name, facts in expectations(folder, "meta.json").items():
        if facts["root"] in FEED_ROOTS:
            body = (folder / name).read_bytes()
            first = parse_document(body, url=URL)
            second = parse_document(body, url=URL, known=first.known)

            assert (name, (), first.known) == (name, second.entries, second.known)


def test_no_file_takes_long_or_fails_in_any_other_way_than_being_no_document(corpora: Path) -> None:
    attacks = sorted(path for path in (corpora / "xml-attacks").rglob("*") if path.is_file())
    feeds = sorted(path for path in (corpora / "feeds").rglob("*") if path.is_file())[::SAMPLE_STEP]
    slow = {}
    for path in (*attacks, *feeds):
        started = time.process_time()
        try:
            parsed(path)
        except NotADocumentError:
            pass
        seconds = time.process_time() - started
        if seconds > 1:
            slow[path.name] = seconds

    assert {} == slow


@pytest.mark.parametrize(
    "name", ["billion-laughs-rss.xml", "quadratic-rss.xml", "xxe-http-rss.xml", "xinclude-rss.xml"]
)
def test_an_attack_leaves_the_feed_and_loses_its_charge(corpora: Path, name: str) -> None:
    document = parsed(corpora / "xml-attacks" / "made" / name)

    assert 1 == document.entry_count
    assert len(document.entries[0].title + text_of_entry(document.entries[0])) < 100_000
