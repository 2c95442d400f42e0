"""A list of URLs in; what the least that could be called a feed crawler spends on them, as one line of JSON, out.

Run in a process of its own (`python -m bench.bound LIST STORE`): a loop of libcurl, documents parsed to tuples by lxml,
and SQLite in WAL mode. No schedule, no politeness, no leases, no sanitising, no comparing. What Junkai costs beyond it,
in the same run on the same core, says more than milliseconds on a shared machine do.
"""

from __future__ import annotations

import io
import json
import os
import sqlite3
import sys
import time
from pathlib import Path
from typing import Final

import pycurl  # type: ignore[import-untyped]  # it has no types
from lxml import etree

_AT_ONCE: Final = 200
_BATCH: Final = 256
_ATOM: Final = "{http://www.w3.org/2005/Atom}"
_CONTENT: Final = "{http://purl.org/rss/1.0/modules/content/}encoded"
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS feed (url TEXT PRIMARY KEY, etag TEXT, last_modified TEXT, visited_at REAL);
CREATE TABLE IF NOT EXISTS entry (id INTEGER PRIMARY KEY, url TEXT, guid TEXT, title TEXT, link TEXT, date TEXT,
  content TEXT, UNIQUE (url, guid));
"""
_SAVE_FEED: Final = "INSERT INTO feed VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET etag = excluded.etag,\
 last_modified = excluded.last_modified, visited_at = excluded.visited_at"
_SAVE_ENTRY: Final = "INSERT OR IGNORE INTO entry (url, guid, title, link, date, content) VALUES (?, ?, ?, ?, ?, ?)"

Entry = tuple[str | None, ...]


def entries_of(url: str, body: bytes) -> list[Entry]:
    """The entries of a feed, as tuples."""
    root = etree.fromstring(body)
    if root.tag == f"{_ATOM}feed":
        return [
            (
                url,
                entry.findtext(f"{_ATOM}id"),
                entry.findtext(f"{_ATOM}title"),
                None,
                entry.findtext(f"{_ATOM}published"),
                entry.findtext(f"{_ATOM}content"),
            )
            for entry in root.iter(f"{_ATOM}entry")
        ]
    return [
        (
            url,
            item.findtext("guid"),
            item.findtext("title"),
            item.findtext("link"),
            item.findtext("pubDate"),
            item.findtext(_CONTENT) or item.findtext("description"),
        )
        for item in root.iter("item")
    ]


class _Bound:
    """One loop over all URLs."""

    def __init__(self, urls: list[str], store: Path) -> None:
        self._waiting = urls[::-1]
        self._store = sqlite3.connect(store)
        self._store.execute("PRAGMA journal_mode = WAL")
        self._store.execute("PRAGMA synchronous = NORMAL")
        self._store.executescript(_SCHEMA)
        self._validators = {row[0]: row[1:] for row in self._store.execute("SELECT url, etag, last_modified FROM feed")}
        self._feeds: list[tuple[str, str, str, float]] = []
        self._entries: list[Entry] = []
        self._multi = pycurl.CurlMulti()
        self._idle = [pycurl.Curl() for _ in range(_AT_ONCE)]
        self._asked: dict[pycurl.Curl, tuple[str, io.BytesIO, list[bytes]]] = {}

    def run(self) -> None:
        while self._waiting or self._asked:
            while self._waiting and self._idle:
                self._ask(self._idle.pop(), self._waiting.pop())
            self._multi.perform()
            _, finished, failed = self._multi.info_read()
            if failed:
                raise SystemExit(f"bench.bound: {failed[0][2]}")
            for curl in finished:
                self._take(curl)
            if not finished:
                self._multi.select(1.0)
        self._save()
        self._store.close()

    def _ask(self, curl: pycurl.Curl, url: str) -> None:
        body = io.BytesIO()
        lines: list[bytes] = []
        curl.setopt(pycurl.URL, url)
        curl.setopt(pycurl.ACCEPT_ENCODING, "gzip")
        curl.setopt(pycurl.FORBID_REUSE, 1)
        curl.setopt(pycurl.DNS_CACHE_TIMEOUT, 0)
        curl.setopt(pycurl.WRITEFUNCTION, body.write)
        curl.setopt(pycurl.HEADERFUNCTION, lines.append)
        etag, last_modified = self._validators.get(url, ("", ""))
        fields = [f"If-None-Match: {etag}"] if etag else []
        curl.setopt(pycurl.HTTPHEADER, fields + ([f"If-Modified-Since: {last_modified}"] if last_modified else []))
        self._asked[curl] = (url, body, lines)
        self._multi.add_handle(curl)

    def _take(self, curl: pycurl.Curl) -> None:
        self._multi.remove_handle(curl)
        self._idle.append(curl)
        url, body, lines = self._asked.pop(curl)
        fields = dict(line.decode("latin-1").strip().partition(": ")[::2] for line in lines[1:])
        self._feeds.append((url, fields.get("ETag", ""), fields.get("Last-Modified", ""), time.time()))
        if curl.getinfo(pycurl.RESPONSE_CODE) == 200:
            self._entries += entries_of(url, body.getvalue())
        if len(self._feeds) >= _BATCH:
            self._save()

    def _save(self) -> None:
        with self._store:
            self._store.executemany(_SAVE_FEED, self._feeds)
            self._store.executemany(_SAVE_ENTRY, self._entries)
        self._feeds.clear()
        self._entries.clear()


def main() -> None:
    """Visit each URL of a file once; say how many, and what it cost."""
    urls = Path(sys.argv[1]).read_text().split()
    bound = _Bound(urls, Path(sys.argv[2]))
    bound.run()
    times = os.times()
    sys.stdout.write(json.dumps({"visits": len(urls), "cpu_s": times.user + times.system}) + "\n")


if __name__ == "__main__":
    main()
