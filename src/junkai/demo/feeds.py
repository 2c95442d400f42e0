"""A seed in, made-up publishers out; what each has published at a moment follows from the seed and the start alone."""

from __future__ import annotations

import hashlib
import tomllib
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cache
from importlib.resources import files
from math import floor
from typing import Final

import msgspec

from junkai.immutable import Struct

#: Entries that a feed shows; older ones fall off its end.
SHOWN: Final = 20
_PERIOD_SECONDS_MIN: Final = 10.0
_PERIOD_RANGE: Final = 60.0  # the slowest publisher is that many times slower than the fastest
_REVISED_AFTER_PERIODS: Final = 1.7
_WORDS: Final = (
    "teahouse",
    "lantern",
    "orchard",
    "harbour",
    "meadow",
    "attic",
    "pebble",
    "sparrow",
    "willow",
    "kettle",
)


class Format(StrEnum):
    """The formats that are published."""

    RSS_20 = "rss-2.0"
    ATOM_10 = "atom-1.0"
    RDF = "rss-1.0"
    RSS_091 = "rss-0.91"
    ATOM_03 = "atom-0.3"
    JSON_FEED = "json-feed-1.1"


class Quirk(StrEnum):
    """How a publisher's server behaves."""

    NONE = "none"
    SLOW = "slow"  #: 2–6 s until the first byte
    MOVED_HERE = "moved_here"  #: 301 to another path
    MOVED_AWAY = "moved_away"  #: 301 to another address
    AWAY_FOR_NOW = "away_for_now"  #: 302 to another address
    GONE = "gone"  #: 410
    MISSING = "missing"  #: 404
    LIMITED = "limited"  #: 429 with Retry-After; who waits is served
    UNAVAILABLE = "unavailable"  #: 503 two times out of three
    BROKEN_XML = "broken_xml"  #: can be repaired
    HTML = "html"  #: a page where the feed was
    EMPTY = "empty"  #: 200 without a body
    HUGE = "huge"  #: more than 10 MiB
    TRUNCATED = "truncated"  #: less than Content-Length says
    DRIP = "drip"  #: a byte a second


class Validators(StrEnum):
    """What a publisher's server offers to be asked with again."""

    BOTH = "both"
    ETAG = "etag"
    LAST_MODIFIED = "last_modified"
    NONE = "none"


class Post(Struct, frozen=True, kw_only=True):
    """One entry. Its texts are plain."""

    number: int
    title: str
    paragraphs: tuple[str, ...]
    published_at: datetime
    revised_at: datetime | None


class Language(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The phrases of one language, as `phrases.toml` has them."""

    name: str
    encodings: list[str]
    places: list[str]
    blogs: list[str]
    titles: list[str]
    sentences: list[str]


def dice(*key: object) -> int:
    """A large number that follows from the key: chance that repeats itself."""
    return int.from_bytes(hashlib.blake2b(repr(key).encode(), digest_size=8).digest(), "big")


@cache
def languages() -> dict[str, Language]:
    """The phrase book, by language tag."""
    table = tomllib.loads(files(__package__).joinpath("phrases.toml").read_text(encoding="utf-8"))
    return msgspec.convert(table, dict[str, Language])


class Publisher(Struct, frozen=True, kw_only=True):
    """One made-up blog, and how its server behaves."""

    seed: int
    number: int
    language: str
    title: str
    author: str
    host: str  #: what its links name; nobody answers there
    format: Format
    encoding: str
    period_seconds: float  #: between two entries, on average
    quirk: Quirk
    validators: Validators

    @property
    def group(self) -> str:
        """The folder that it is listed in."""
        return languages()[self.language].name

    def posts(self, started_at: datetime, now: datetime) -> list[Post]:
        """What the feed shows at `now`, newest first. `started_at` is the start of the demo."""
        newest = self._newest(started_at, now)
        return [self._post(number, started_at, now) for number in range(newest, newest - SHOWN, -1)]

    def changes_at(self, started_at: datetime, now: datetime) -> datetime:
        """The first moment after `now` at which the feed shows something else."""
        newest = self._newest(started_at, now)
        revisions = (self._revised_at(number, started_at) for number in range(newest - SHOWN + 1, newest + 1))
        coming = (moment for moment in revisions if moment is not None and moment > now)
        return min([self._published_at(newest + 1, started_at), *coming])

    def _newest(self, started_at: datetime, now: datetime) -> int:
        """The last entry's number. Entry SHOWN is the first one after the start; those before it are the backlog."""
        periods = floor((now - started_at).total_seconds() / self.period_seconds) + SHOWN
        return periods if self._published_at(periods, started_at) <= now else periods - 1

    def _published_at(self, number: int, started_at: datetime) -> datetime:
        jitter = dice(self.seed, self.number, number, "jitter") % 1000 / 2000
        return started_at + timedelta(seconds=(number - SHOWN + jitter) * self.period_seconds)

    def _revised_at(self, number: int, started_at: datetime) -> datetime | None:
        """One entry in nine is corrected later."""
        if dice(self.seed, self.number, number, "revised") % 9:
            return None
        return self._published_at(number, started_at) + timedelta(seconds=_REVISED_AFTER_PERIODS * self.period_seconds)

    def _post(self, number: int, started_at: datetime, now: datetime) -> Post:
        language = languages()[self.language]

        def say(phrases: list[str], *key: object) -> str:
            roll = dice(self.seed, self.number, number, *key)
            place = language.places[roll // 7 % len(language.places)]
            return phrases[roll // 1009 % len(phrases)].format(place=place, n=2 + roll // 11 % 18)

        revised_at = self._revised_at(number, started_at)
        is_revised = revised_at is not None and revised_at <= now
        count = 2 + dice(self.seed, self.number, number, "length") % 3 + is_revised
        gap = "" if self.language in {"ja", "zh"} else " "
        paragraphs = (
            gap.join(dict.fromkeys(say(language.sentences, paragraph, part) for part in range(3)))
            for paragraph in range(count)
        )
        return Post(
            number=number,
            title=say(language.titles, "title"),
            paragraphs=tuple(paragraphs),
            published_at=self._published_at(number, started_at),
            revised_at=revised_at if is_revised else None,
        )


def publishers(count: int, *, seed: int) -> list[Publisher]:
    """That many publishers, one in ten of them with a quirk; the same ones for the same seed."""
    return [_publisher(number, seed) for number in range(count)]


def _publisher(number: int, seed: int) -> Publisher:
    roll = dice(seed, number)
    tags = sorted(languages())
    tag = tags[number % len(tags)]
    language = languages()[tag]
    quirks = list(Quirk)[1:]
    quirk = quirks[number // 10 % len(quirks)] if number % 10 == 7 else Quirk.NONE
    # Most publish RSS 2.0 or Atom, as in the world outside.
    formats = (Format.RSS_20, Format.ATOM_10, Format.RSS_20, Format.ATOM_10, *Format)
    form = Format.RSS_20 if quirk is Quirk.BROKEN_XML else formats[roll % len(formats)]
    is_json = form is Format.JSON_FEED  # RFC 8259 §8.1: UTF-8
    kinds = (Validators.BOTH,) * 7 + (Validators.ETAG, Validators.ETAG, Validators.LAST_MODIFIED, Validators.NONE)
    place = language.places[roll // 13 % len(language.places)]
    return Publisher(
        seed=seed,
        number=number,
        language=tag,
        title=language.blogs[roll // 101 % len(language.blogs)].format(place=place),
        author=place,
        host=f"{_WORDS[roll // 17 % len(_WORDS)]}-{number}.{tag}.example",
        format=form,
        encoding="utf-8" if is_json else language.encodings[roll // 19 % len(language.encodings)],
        period_seconds=_PERIOD_SECONDS_MIN * _PERIOD_RANGE ** (roll // 23 % 1000 / 1000),
        quirk=quirk,
        validators=kinds[roll // 29 % len(kinds)],
    )
