"""Whole corpora served from loopback, each file on its own address, added by OPML and crawled as a user would."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from installed import Junkai
from scripted_site import ScriptedSite

FEED_ROOTS = {"rss", "feed", "rdf:RDF"}


def expected_entries(corpora: Path) -> dict[Path, int]:
    """Files that are feeds, and how many entries each has."""
    platforms = corpora / "feeds" / "platform-shapes"
    real = corpora / "feeds" / "realworld-scrambled"
    shapes = json.loads((platforms / "expectations.json").read_text(encoding="utf-8"))
    facts = json.loads((real / "meta.json").read_text(encoding="utf-8"))
    return {platforms / name: case["entry_count"] for name, case in shapes.items()} | {
        real / name: fact["items"] for name, fact in facts.items() if fact["root"] in FEED_ROOTS
    }


@pytest.mark.timeout(180)
def test_every_feed_of_the_corpora_is_stored_whole_and_asked_once_more_conditionally(
    tmp_path: Path, corpora: Path
) -> None:
    expected = expected_entries(corpora)
    others = [
        path for path in sorted((corpora / "feeds" / "realworld-scrambled").glob("*.xml")) if path not in expected
    ]
    junkai = Junkai(tmp_path)
    with ScriptedSite() as site:
        urls = {
            path: site.put(
                number,
                f"/{path.name}",
                path.read_bytes(),
                ("Content-Type", "application/feed+json" if path.suffix == ".json" else "application/xml"),
            )
            for number, path in enumerate([*expected, *others], start=1)
        }
        junkai.subscribe(*urls.values())
        first = junkai.rows("crawl", "--once")[-1]
        stored = Counter(row["feed_url"] for row in junkai.rows("entries"))
        first_asked = Counter(each.host for each in site.asked)
        site.forget()
        second = junkai.rows("crawl", "--once", "--all")[-1]
        second_asked = Counter((each.host, each.is_conditional) for each in site.asked)
        states = {row["url"]: row["state"] for row in junkai.rows("feeds")}

    assert {path.name: stored[urls[path]] for path in expected} == {path.name: n for path, n in expected.items()}
    assert set(first_asked.values()) == {1}
    assert first["entries_new"] == sum(expected.values())
    assert {states[urls[path]] for path in others} == {"fetch_error"}
    assert second_asked == {(urls[path].split("/")[2], path in expected): 1 for path in urls}
    assert (second["entries_new"], second["entries_updated"]) == (0, 0)
    assert (second["not_modified"], second["failed"]) == (len(expected), len(others))
