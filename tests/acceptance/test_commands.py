"""The installed command, in a process of its own: what it prints, what it refuses, and how it ends."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import junkai as package
from installed import Junkai
from scripted_site import ScriptedSite

HOSTILE_TITLE = "&#x9b;2J\u202eevil&lt;b&gt; 紅葉"


def rss(title: str, *entries: str) -> bytes:
    items = "".join(f"<item><guid>{entry}</guid><title>{entry}</title></item>" for entry in entries)
    return f"<rss version='2.0'><channel><title>{title}</title>{items}</channel></rss>".encode()


def ended(junkai: Junkai, *arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    process = junkai.start(*arguments)
    try:
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    return process.returncode, out, err


@pytest.fixture
def junkai(tmp_path: Path) -> Junkai:
    return Junkai(tmp_path, delay_seconds=0.05)


@pytest.fixture
def site() -> Iterator[ScriptedSite]:
    with ScriptedSite() as opened:
        yield opened


# ── adding and reading ───────────────────────────────────────────────────────────────────────────────────────────


def test_a_feed_is_added_crawled_and_read(junkai: Junkai, site: ScriptedSite) -> None:
    url = site.put(1, "/feed.xml", rss("Blog", "one", "two"), ("ETag", '"v1"'))

    added = junkai.run("add", url, "--group", "京都", "--owner", "aki")
    (summary,) = junkai.rows("crawl", "--once")
    (feed,) = junkai.rows("feeds")
    entries = junkai.rows("entries", "--group", "京都", "--owner", "aki", "--since", "1h")

    assert f"added\t{url}\n" == added
    assert (1, 1, 0, 2) == (summary["visits"], summary["ok"], summary["failed"], summary["entries_new"])
    assert ("fetched", "Blog", '"v1"', 2, 200) == (
        feed["state"],
        feed["title"],
        feed["etag"],
        feed["entries"],
        feed["http_status"],
    )
    assert feed["next_visit_at"] > feed["last_visit_at"]
    assert {("one", url, 1), ("two", url, 1)} == {(row["title"], row["feed_url"], row["revision"]) for row in entries}


def test_a_feed_that_is_added_again_is_known(junkai: Junkai) -> None:
    junkai.run("add", "https://blog.example/feed")

    assert junkai.run("add", "https://blog.example/feed") == "known\thttps://blog.example/feed\n"


def test_a_url_that_is_refused_stops_none_of_the_others(junkai: Junkai) -> None:
    code, out, err = ended(
        junkai, "add", "https://a.example/", "blog.example", "ftp://b.example/", "https://c.example/"
    )

    assert (2, ["added\thttps://a.example/", "added\thttps://c.example/"]) == (code, out.splitlines())
    assert [
        "junkai: blog.example: not a URL; did you mean https://blog.example ?",
        "junkai: ftp://b.example/: scheme ftp: is refused; only http and https are visited",
    ] == err.splitlines()


def test_a_list_is_imported_with_folders_titles_and_refusals(junkai: Junkai, tmp_path: Path) -> None:
    (tmp_path / "list.opml").write_text(
        "<opml version='2.0'><body>\n"
        "<outline text='京都'><outline text='紅葉の庭' xmlUrl='https://k.example/feed'/></outline>\n"
        "<outline text='no' xmlUrl='gopher://k.example/'/>\n"
        "<outline text='紅葉の庭' xmlUrl='https://k.example/feed'/>\n"
        "</body></opml>",
        encoding="utf-8",
    )

    code, out, err = ended(junkai, "import", "list.opml")
    (feed,) = junkai.rows("feeds")

    assert (0, "added 1, known 1, refused 1\n") == (code, out)
    assert "list.opml:3: gopher://k.example/: scheme gopher: is refused; only http and https are visited\n" == err
    assert ("紅葉の庭", ["京都"]) == (feed["title"], feed["groups"])


def test_ten_thousand_duplicates_and_refusals_are_counted_not_listed(junkai: Junkai, tmp_path: Path) -> None:
    outlines = "<outline xmlUrl='https://k.example/feed'/>" * 10_000 + "<outline xmlUrl='nothing'/>" * 10_000
    (tmp_path / "list.opml").write_text(f"<opml version='2.0'><body>{outlines}</body></opml>")

    code, out, err = ended(junkai, "import", "list.opml")

    assert (0, "added 1, known 9,999, refused 10,000\n") == (code, out)
    assert (51, "list.opml: 9,950 more refused; --json shows all") == (len(err.splitlines()), err.splitlines()[-1])


def test_a_broken_list_imports_nothing_and_names_file_and_line(junkai: Junkai, tmp_path: Path) -> None:
    (tmp_path / "list.opml").write_text("<opml><body>\n<outline xmlUrl='https://a.example/'/>\n<outline>")

    code, out, err = ended(junkai, "import", "list.opml")

    assert (2, "", 1) == (code, out, len(err.splitlines()))
    assert err.startswith("junkai: list.opml: line 3: ")
    assert not (tmp_path / "junkai.db").exists()


def test_a_list_without_feeds_is_a_failure(junkai: Junkai, tmp_path: Path) -> None:
    (tmp_path / "list.opml").write_text("<opml><body/></opml>")

    code, out, err = ended(junkai, "import", "list.opml")

    assert (1, "added 0, known 0, refused 0\n") == (code, out)
    assert "junkai: list.opml: no feeds in it; a feed is an outline with an xmlUrl\n" == err


def test_what_was_imported_is_exported_again(junkai: Junkai, tmp_path: Path) -> None:
    junkai.run("add", "https://k.example/feed?a=1&b=2", "--group", "京都")

    (tmp_path / "out.opml").write_text(junkai.run("export", "opml"), encoding="utf-8")
    again = Junkai(tmp_path, store="sqlite:///again.db")
    imported = again.run("import", "out.opml")
    (feed,) = again.rows("feeds")

    assert ("added 1, known 0, refused 0\n", "https://k.example/feed?a=1&b=2", ["京都"]) == (
        imported,
        feed["url"],
        feed["groups"],
    )


# ── the operator's word ──────────────────────────────────────────────────────────────────────────────────────────


def test_a_source_is_paused_resumed_refreshed_and_removed(junkai: Junkai) -> None:
    url = "https://blog.example/feed"
    junkai.run("add", url)

    junkai.run("pause", url)
    (paused,) = junkai.rows("feeds", "--state", "paused")
    refused = ended(junkai, "refresh", url)
    junkai.run("resume", url)
    junkai.run("refresh", url, "--unconditional")
    (resumed,) = junkai.rows("feeds")
    removed = junkai.run("remove", url)

    assert (True, None, "paused by the operator") == (
        paused["is_paused"],
        paused["next_visit_at"],
        paused["next_visit_why"],
    )
    assert (1, f"not active: {url}; `junkai resume` starts it again\n") == refused[:2]
    assert (False, True) == (resumed["is_paused"], resumed["next_visit_at"] is not None)
    assert (f"removed {url} with 0 entries\n", []) == (removed, junkai.rows("feeds"))


def test_a_host_is_held_and_says_why_and_its_feeds_too(junkai: Junkai) -> None:
    junkai.run("add", "https://blog.example/feed")

    junkai.run("host", "blog.example", "--hold", "2h", "--delay", "3", "--slots", "2", "--exempt")
    (host,) = junkai.rows("host", "BLOG.example")
    (feed,) = junkai.rows("feeds", "--host", "blog.example")
    explained = junkai.run("host", "blog.example", "--explain")
    junkai.run("host", "blog.example", "--hold", "off")
    (freed,) = junkai.rows("hosts")

    assert (3.0, 2, True) == (host["delay_s"], host["slots"], host["is_exempt"])
    assert (host["hold_until"], host["hold_why"]) == (feed["next_visit_at"], feed["next_visit_why"])
    assert "Not asked until" in explained
    assert freed["hold_until"] is None


def test_numbers_of_the_store_are_told(junkai: Junkai) -> None:
    junkai.run("add", "https://a.example/", "https://b.example/")

    (status,) = junkai.rows("status")

    assert (2, 2, 2, {"discovered": 2}) == (
        status["sources"],
        status["hosts"],
        status["due"],
        {state: number for state, number in status["by_state"].items() if number},
    )


# ── one look, one file ───────────────────────────────────────────────────────────────────────────────────────────


def test_fetch_shows_hops_fields_and_the_verdict_and_stores_nothing(junkai: Junkai, site: ScriptedSite) -> None:
    url = site.put(1, "/feed.xml", rss("Blog", "one"), ("X-Served-By", "a\x9bb"))

    shown = junkai.run("fetch", url)
    code, _, err = ended(junkai, "fetch", url.replace("feed.xml", "nothing"))

    assert shown.startswith("A feed with 1 entry.\n")
    assert "Status\t200\n" in shown
    assert "x-served-by\ta�b\n" in shown.lower()
    assert (1, "") == (code, err)
    assert junkai.rows("feeds") == []


def test_fetch_keeps_out_of_a_held_host(junkai: Junkai, site: ScriptedSite) -> None:
    url = site.put(1, "/feed.xml", rss("Blog", "one"))
    host = url.split("/")[2]
    junkai.run("host", host, "--hold", "2h")

    code, out, err = ended(junkai, "fetch", url)

    assert (1, "", True) == (code, out, err.startswith(f"junkai: {host}: not asked: it is held until "))
    assert site.asked == []


def test_parse_prints_a_document_a_line_and_goes_on_past_what_is_none(junkai: Junkai, tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(rss("A", "one"))
    (tmp_path / "page.html").write_bytes(b"<!doctype html><title>No feed</title><p>text")
    (tmp_path / "b.xml").write_bytes(rss(HOSTILE_TITLE, "/rel"))

    code, out, err = ended(junkai, "parse", "a.xml", "page.html", "b.xml", "--url", "https://blog.example/")

    first, second = (json.loads(line) for line in out.splitlines())
    assert (1, 1, True) == (code, len(err.splitlines()), err.startswith("junkai: page.html: "))
    assert ("rss", "A", 1, "one") == (
        first["format"],
        first["title"],
        first["entry_count"],
        first["entries"][0]["title"],
    )
    assert "紅葉" in second["title"]
    assert not {"known", "id_hash", "content_hash"} & {*first, *first["entries"][0]}
    assert not set(out) & set("\x9b\u202e")


# ── this installation ────────────────────────────────────────────────────────────────────────────────────────────


def test_version_says_which(junkai: Junkai) -> None:
    assert f"junkai {package.__version__}\n" == junkai.run("version")


def test_config_shows_where_a_value_comes_from(junkai: Junkai, tmp_path: Path) -> None:
    (tmp_path / "junkai.toml").write_text("concurrency = 7\n")

    rows = {row["name"]: row for row in junkai.rows("config", "--set", "entries_max=9")}

    assert (9, "command line") == (rows["entries_max"]["value"], rows["entries_max"]["origin"])
    assert (7, "junkai.toml") == (rows["concurrency"]["value"], rows["concurrency"]["origin"])
    assert (0.05, "JUNKAI_DELAY_SECONDS") == (rows["delay_seconds"]["value"], rows["delay_seconds"]["origin"])
    assert "default" == rows["body_bytes_max"]["origin"]


def test_doctor_fails_with_what_to_do(junkai: Junkai) -> None:
    code, out, err = ended(junkai, "doctor", "--set", "ca_file=/nowhere/ca.pem", "--set", "nameservers=127.0.0.1")

    lines = {line.split("\t")[1]: line for line in out.splitlines()}
    assert (1, "") == (code, err)
    assert "✗\tCA file\t/nowhere/ca.pem: No such file or directory Set ca_file to a PEM file" in lines["CA file"]
    assert lines["store"].startswith("✓\tstore\tsqlite:///junkai.db: not made yet")


def test_the_demo_shows_real_work_and_minds_no_settings_but_its_own(junkai: Junkai, tmp_path: Path) -> None:
    (tmp_path / "junkai.toml").write_text("no_such_setting = 1\n")

    (first,) = junkai.rows("demo", "--once", "--set", "fetch_deadline_seconds=4")
    (second,) = junkai.rows("demo", "--seconds", "2", "--set", "fetch_deadline_seconds=1")
    (tmp_path / "junkai.toml").unlink()
    feeds = junkai.rows("feeds", "--store", "sqlite:///demo.db")

    assert first["ok"] >= 200
    assert first["entries_new"] >= 1_000
    assert second["visits"] >= 1
    assert 300 <= len(feeds) <= 400


# ── wrong use and bad endings ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["feeds", "--set", "nosuch=1"], 2, "junkai: nosuch: unknown setting"),
        (["feeds"], 1, "junkai: sqlite:///junkai.db: no such store yet"),
    ],
)
def test_a_trouble_is_one_line_with_its_subject(junkai: Junkai, arguments: list[str], code: int, said: str) -> None:
    actual_code, out, err = ended(junkai, *arguments)

    assert (code, "", 1) == (actual_code, out, len(err.splitlines()))
    assert err.startswith(said)


def test_an_unknown_source_is_named(junkai: Junkai) -> None:
    junkai.run("add", "https://a.example/")

    code, out, err = ended(junkai, "pause", "https://b.example/")

    assert (2, "") == (code, out)
    assert "junkai: https://b.example/: No such source in the store; `junkai feeds` lists them\n" == err


def test_an_unknown_command_is_wrong_use(junkai: Junkai) -> None:
    code, out, err = ended(junkai, "crwl")

    assert (2, "", True) == (code, out, "No such command 'crwl'" in err)


def test_a_reader_that_has_had_enough_is_no_trouble(junkai: Junkai, tmp_path: Path) -> None:
    outlines = "".join(f"<outline xmlUrl='https://k.example/{number}'/>" for number in range(3_000))
    (tmp_path / "list.opml").write_text(f"<opml version='2.0'><body>{outlines}</body></opml>")
    junkai.run("import", "list.opml")

    process = junkai.start("feeds", "--json")
    assert process.stdout is not None
    first = process.stdout.readline()
    process.stdout.close()
    _, err = process.communicate(timeout=30)

    assert ("k.example", 0, "") == (json.loads(first)["host"], process.returncode, err)


def test_a_second_crawl_on_the_same_store_is_refused(junkai: Junkai, site: ScriptedSite) -> None:
    junkai.run("add", site.put(1, "/feed.xml", rss("Blog", "one")))

    running = junkai.start("crawl")
    assert running.stdout is not None
    visited = json.loads(running.stdout.readline())
    code, out, err = ended(junkai, "crawl", "--once")
    running.send_signal(signal.SIGTERM)
    rest, trouble = running.communicate(timeout=30)

    assert (1, "", 1) == (code, out, len(err.splitlines()))
    assert "sqlite:///junkai.db" in err
    assert ("visit", "fetched", 1) == (visited["event"], visited["outcome"], visited["entries_new"])
    assert (0, "", "summary") == (running.returncode, trouble, json.loads(rest.splitlines()[-1])["event"])


def test_a_log_for_people_ends_in_a_readable_summary(junkai: Junkai, site: ScriptedSite) -> None:
    url = site.put(1, "/feed.xml", rss("Blog", "one"))
    junkai.run("add", url)

    out = junkai.run("crawl", "--once", "--set", "log_format=human")

    assert f"{url}  1 new, next in" in out
    assert "\n1 visit in " in out
    assert "\nNew entries\t1\n" in out


# ── on a terminal ────────────────────────────────────────────────────────────────────────────────────────────────


def on_terminal(junkai: Junkai, *arguments: str, columns: int = 80) -> str:
    """What the command writes to a terminal of that width."""
    reading, writing = pty.openpty()
    environ = junkai.environ | {"COLUMNS": str(columns), "LINES": "40", "TERM": "xterm-256color"}
    with subprocess.Popen(
        [sys.executable, "-m", "junkai", *arguments],
        cwd=junkai.folder,
        env=environ,
        stdin=writing,
        stdout=writing,
        stderr=writing,
    ):
        os.close(writing)
        shown = b""
        while True:
            try:
                part = os.read(reading, 65_536)
            except OSError:  # Linux says so when the other end has closed
                break
            if not part:
                break
            shown += part
    os.close(reading)
    return shown.decode()


def test_no_feed_steers_a_terminal(junkai: Junkai, site: ScriptedSite) -> None:
    body = rss(HOSTILE_TITLE, HOSTILE_TITLE)
    url = site.put(1, "/feed.xml", body)
    junkai.run("add", url)

    crawled = on_terminal(junkai, "crawl", "--once")
    shown = "".join(
        on_terminal(junkai, *arguments)
        for arguments in (
            ["feeds"],
            ["feed", url],
            ["entries"],
            ["feeds", "--json"],
            ["entries", "--json"],
        )
    )

    assert "紅葉" in crawled
    assert 5 <= shown.count("紅葉")
    assert not set(crawled + shown) & set("\x9b\u202e")


def test_a_source_is_removed_on_a_terminal_only_when_confirmed(junkai: Junkai) -> None:
    url = "https://blog.example/feed"
    junkai.run("add", url)

    shown = on_terminal(junkai, "remove", url, "--yes")

    assert f"removed {url} with 0 entries" in shown
    assert junkai.rows("feeds") == []
