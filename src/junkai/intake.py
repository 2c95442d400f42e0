"""URLs from a command line or an OPML file in; sources in the frontier, and refusals with line and reason, out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Final

from junkai import url as urls
from junkai.backend.protocol import Frontier, NewSource
from junkai.config import Settings
from junkai.errors import UrlError, UsageError
from junkai.fetch.guard import Guard
from junkai.immutable import Struct
from junkai.parse.opml import OpmlFeed
from junkai.schedule import EXPLICIT_INTERVAL_MIN_S, duration

BATCH_SOURCES: Final = 1_000


class Wanted(Struct, frozen=True, kw_only=True):
    """A source that somebody wants, and the line of the file that said so."""

    source: NewSource
    line: int | None = None


class Refusal(Struct, frozen=True, kw_only=True):
    """A URL that will not be visited, and why: one sentence."""

    url: str
    why: str
    line: int | None = None


def wanted_by_opml(
    feeds: Iterable[OpmlFeed], *, owner: str, groups: Sequence[str], interval_s: float | None
) -> list[Wanted]:
    """The feeds of an OPML document as sources: its folders are groups, beside those that the caller names."""
    return [
        Wanted(
            line=feed.line,
            source=NewSource(
                url=feed.url,
                owner=owner,
                groups=tuple(dict.fromkeys((*groups, *feed.groups))),
                title="" if feed.title == feed.url else feed.title,  # what a list without titles says instead
                site_url=feed.site_url,
                explicit_interval_s=interval_s,
            ),
        )
        for feed in feeds
    ]


def sift(wanted: Iterable[Wanted], settings: Settings) -> tuple[list[Wanted], list[Refusal]]:
    """Those that may be visited, and those that are no URL or blocked, in the order given. Asks nobody: no DNS.

    Raises SettingsError for a block list that cannot be read.
    """
    guard = Guard(settings)
    accepted: list[Wanted] = []
    refused: list[Refusal] = []
    for one in wanted:
        try:
            guard.check_url(urls.parse(one.source.url))
        except UrlError as error:
            refused.append(Refusal(url=error.subject, why=error.detail or str(error.__doc__), line=one.line))
        else:
            accepted.append(one)
    return accepted, refused


def take(
    frontier: Frontier, accepted: Sequence[Wanted], now: datetime, *, on_batch: Callable[[int], None] | None = None
) -> list[bool]:
    """Add the sources, BATCH_SOURCES in one piece; True for each that was not known. `on_batch` hears how many so far.

    Raises StoreError; the batches before it stay, and adding them again does no harm.
    """
    is_new: list[bool] = []
    for start in range(0, len(accepted), BATCH_SOURCES):
        is_new += frontier.add([one.source for one in accepted[start : start + BATCH_SOURCES]], now)
        if on_batch is not None:
            on_batch(len(is_new))
    return is_new


def check_interval(interval_s: float | None) -> None:
    """Raises UsageError for an interval under the floor."""
    if interval_s is not None and interval_s < EXPLICIT_INTERVAL_MIN_S:
        raise UsageError(
            f"interval {duration(interval_s)}",
            f"shorter than the floor of {duration(EXPLICIT_INTERVAL_MIN_S)} between two visits; give 5m or more",
        )
