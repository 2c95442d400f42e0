"""Nothing in, a made-up site of some hundred feeds on loopback out, in a process of its own, with its OPML list."""

from __future__ import annotations

import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from itertools import groupby
from typing import Final

import msgspec

from junkai.errors import JunkaiError
from junkai.immutable import Struct

FEEDS: Final = 320
SEED: Final = 1
_START_SECONDS_MAX: Final = 30.0
_STOP_SECONDS_MAX: Final = 3.0


class DemoFeed(Struct, frozen=True, kw_only=True):
    """One feed of the demo."""

    url: str
    title: str
    group: str


class DemoSite(Struct, frozen=True, kw_only=True):
    """What is served while the site runs."""

    feeds: tuple[DemoFeed, ...]

    @property
    def opml(self) -> bytes:
        """The feeds as OPML 2.0, a folder per group."""
        folders = []
        for group, feeds in groupby(sorted(self.feeds, key=lambda feed: feed.group), key=lambda feed: feed.group):
            outlines = "".join(
                f'  <outline type="rss" text="{escape(feed.title)}" xmlUrl="{escape(feed.url)}"/>\n' for feed in feeds
            )
            folders.append(f' <outline text="{escape(group)}">\n{outlines} </outline>\n')
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            '<opml version="2.0"><head><title>Junkai demo</title></head><body>\n'
            f"{''.join(folders)}</body></opml>\n"
        ).encode()


@contextmanager
def start_demo_site(*, feeds: int = FEEDS, seed: int = SEED) -> Iterator[DemoSite]:
    """Start the site; it is stopped on leaving the block, and ends by itself when this process dies.

    Raises JunkaiError when it cannot be started.
    """
    command = [sys.executable, "-m", "junkai.demo", "--feeds", str(feeds), "--seed", str(seed)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:  # noqa: S603  (our own module)
        try:
            yield DemoSite(feeds=tuple(_listed(process)))
        finally:
            _stop(process)


def _listed(process: subprocess.Popen[bytes]) -> list[DemoFeed]:
    """The list that the site prints when it listens."""
    output = process.stdout
    if output is None or not select.select([output], [], [], _START_SECONDS_MAX)[0]:
        raise JunkaiError("demo site", f"did not start within {_START_SECONDS_MAX:.0f} s")
    line = output.readline()
    if not line:
        raise JunkaiError("demo site", "ended while it started")
    return msgspec.json.decode(line, type=list[DemoFeed])


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        process.stdin.close()
    try:
        process.wait(_STOP_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        process.kill()
