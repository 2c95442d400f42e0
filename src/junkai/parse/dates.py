"""The text of a date in; an aware UTC moment out, or None: never "now" for what cannot be read.

The two forms that feeds should have (RFC 822, RFC 3339) come first and take a few µs; then the odd ones met in the
wild. A date without a zone is taken for UTC, one without a time for midnight.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import cache, lru_cache
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

from junkai.parse.calendar_words import AFTERNOON, ERAS, MONTHS, ZONE_MINUTES, plain

TEXT_CHARS_MAX: Final = 120
YEAR_MIN: Final = 1900
YEAR_MAX: Final = 9_998

_RFC_822: Final = re.compile(
    r"\s*(?:[A-Za-z]{3}, ?)?([0-9]{1,2}) ([A-Z][a-z]{2}) ([0-9]{4}) ([0-9]{2}:[0-9]{2}:[0-9]{2})"
    r" (?:([+-])([0-9]{2}):?([0-9]{2})|GMT|UTC?|Z)\s*"
)
_ENGLISH: Final = {
    name: f"{number:02}"
    for number, name in enumerate("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), start=1)
}
_RFC_3339: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?(?:Z|[+-][0-9]{2}:[0-9]{2})"
)

_COMPACT: Final = re.compile(r"[0-9]{8}t[0-9]{4}(?:[0-9]{2})?(?:z|[+-][0-9]{2}:?[0-9]{2})?")
_EPOCH: Final = re.compile(r"[0-9]{9,10}(?:\.[0-9]{1,9})?|[0-9]{12,13}")
_OFFSET: Final = r"[+-]\s?[0-9]{1,2}(?::?[0-9]{2})?(?![0-9])"
_TIME: Final = re.compile(
    r"(?<![0-9])([0-9]{1,2})[:.時时시hu]\s?([0-9]{1,2})(?:(?:[:.]|[分분]\s?)([0-9]{1,2})(?:[.,:][0-9]{1,9})?秒?초?)?분?分?"
)
_HOUR: Final = re.compile(r"(?<![0-9])([0-9]{1,2})\s?(?=[ap]\.?m\b)")
_HALF: Final = re.compile(r"(?<![a-z])[ap]\.?m\b\.?|午前|午後|上午|下午|오전|오후|凌晨|早上|晚上")
_ZONE_OFFSET: Final = re.compile(rf"(?:(?:gmt|utc?|z)\s?)?({_OFFSET})\s*(?:\([^)]*\)?)?\s*$")
_ZONE_PLACE: Final = re.compile(r"\b([a-z]{2,12}(?:/[a-z_+-]{2,20}[0-9]{0,2}){1,2})(?![a-z0-9])")
_ISO: Final = re.compile(
    r"([0-9]{4})(?:[-/.]([0-9]{1,2})(?:[-/.]([0-9]{1,2}))?|([0-9]{2})([0-9]{2}))?(?![-/.]?[0-9])(?:t|\s|$)?"
)
_DAY_FIRST: Final = re.compile(r"(?<![0-9])([0-9]{1,2})([-/.])\s?([0-9]{1,2})\2\s?([0-9]{4}|[0-9]{2})(?![0-9])")
_EAST_ASIAN: Final = re.compile(
    r"(?:(?P<era>令和|平成|昭和|大正|明治)\s?(?P<in_era>元|[0-9]{1,2})|(?P<year>[0-9]{4}))\s?[年년]\s?"
    r"(?P<month>[0-9]{1,2})\s?[月월]\s?(?:(?P<day>[0-9]{1,2})\s?[日일]?)?"
)
_NUMBERED_MONTH: Final = re.compile(r"([0-9]{1,2})\s?[月월]")
_WORD: Final = re.compile(r"[^\W\d_]+月?")
_NUMBER: Final = re.compile(r"[0-9]+")
_ORDINAL: Final = re.compile(r"([0-9]{4})-([0-9]{3})(?![0-9-])")
_OFFSET_MINUTES_MAX: Final = 14 * 60 + 59
_NO_TIME: Final = (0, 0, 0)


def parse_date(text: str) -> datetime | None:
    """The moment that a date of a feed means, in UTC; None where that cannot be told, or is before 1900."""
    match = _RFC_822.fullmatch(text)
    try:
        if match is not None and (month := _ENGLISH.get(match[2])):
            day, _, year, time, sign, hours, minutes = match.groups()
            zone = f"{sign}{hours}:{minutes}" if sign else "+00:00"
            return _in_utc(datetime.fromisoformat(f"{year}-{month}-{day:0>2}T{time}{zone}"))
        if _RFC_3339.fullmatch(text):
            return _in_utc(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        pass  # the 31st of February, 24:00, a leap second: the ladder knows some of them
    if not text or len(text) > TEXT_CHARS_MAX or not any(map(str.isdecimal, text)):
        return None
    text = plain(text).strip()
    if not text.isascii() and any(c.isdecimal() and not c.isascii() for c in text):
        return None  # digits of other scripts come with other calendars
    try:
        return _odd(text)
    except (ValueError, OverflowError):
        return None


def _odd(text: str) -> datetime | None:
    """The ladder: epoch numbers, East Asian dates, year first, numbers only, words. Raises ValueError too."""
    if _EPOCH.fullmatch(text):
        number = float(text)
        return _bounded(datetime.fromtimestamp(number / 1_000 if number >= 1e11 else number, UTC))
    if _COMPACT.fullmatch(text):
        moment = datetime.fromisoformat(text.upper())
        return _in_utc(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    date_text, time, zone = _without_time(text)
    date = _east_asian(date_text) or _year_first(date_text) or _day_first(date_text) or _worded(date_text)
    return None if date is None else _moment(date, time, zone)


def _moment(date: tuple[int, int, int], time: tuple[int, int, int], zone: tzinfo) -> datetime | None:
    """24:00 is the next midnight, and a leap second the next second."""
    hour, minute, second = time
    if hour == 24 or second == 60:
        start = datetime(*date, tzinfo=zone)
        return _bounded((start + timedelta(hours=hour, minutes=minute, seconds=second)).astimezone(UTC))
    moment = datetime(*date, hour, minute, second, tzinfo=zone)
    return _bounded(moment if zone is UTC else moment.astimezone(UTC))


def _in_utc(moment: datetime) -> datetime | None:
    """An aware moment in UTC. Raises ValueError where its offset is none that a place on Earth has."""
    if moment.tzinfo is UTC:
        return _bounded(moment)
    if abs(moment.utcoffset() or timedelta()) > timedelta(minutes=_OFFSET_MINUTES_MAX):
        raise ValueError("no offset on Earth")
    return _bounded(moment.astimezone(UTC))


def _bounded(moment: datetime) -> datetime | None:
    return moment if YEAR_MIN <= moment.year <= YEAR_MAX else None


# ── time and zone ────────────────────────────────────────────────────────────────────────────────────────────────


def _without_time(text: str) -> tuple[str, tuple[int, int, int], tzinfo]:
    """The text without time and zone, and those two."""
    text, zone = _without_zone(text)
    half = _HALF.search(text)
    match = _clock_time(text) or (_HOUR.search(text) if half else None)
    if match is None:
        return text, _NO_TIME, zone
    hour, minute, second = (int(part or 0) for part in (*match.groups(), None, None)[:3])
    if half is not None and hour <= 12:
        is_afternoon = AFTERNOON.get(half[0], half[0].startswith("p"))
        hour = hour % 12 + (12 if is_afternoon else 0)
    rest = f"{text[: match.start()]} {text[match.end() :]}"
    return _HALF.sub(" ", rest), (hour, minute, second), zone


def _clock_time(text: str) -> re.Match[str] | None:
    """A time with colons, else one with other signs that is no part of `4.5.2026`."""
    colon = re.search(r"(?<![0-9])([0-9]{1,2}):\s?([0-9]{1,2})(?::([0-9]{1,2})(?:[.,:][0-9]{1,9})?)?", text)
    if colon is not None:
        return colon
    return next((match for match in _TIME.finditer(text) if "." not in match[0]), None)


def _without_zone(text: str) -> tuple[str, tzinfo]:
    if (match := _ZONE_PLACE.search(text)) and (place := _place(match[1])):
        return f"{text[: match.start()]} {text[match.end() :]}", place
    has_time = ":" in text
    match = _ZONE_OFFSET.search(text)
    if match is not None and (has_time or not text[: match.start()].endswith(tuple("0123456789"))):
        return text[: match.start()], _offset(match[1])
    for word in _WORD.finditer(text):
        if (minutes := ZONE_MINUTES.get(word[0])) is not None and (len(word[0]) > 1 or word.end() == len(text)):
            return f"{text[: word.start()]} {text[word.end() :]}", _fixed(minutes)
    return text, UTC


@lru_cache(maxsize=256)
def _place(name: str) -> tzinfo | None:
    """A zone of the IANA database by its name in any case."""
    known = _places().get(name.casefold())
    try:
        return ZoneInfo(known) if known else None
    except (KeyError, ValueError, OSError):  # ZoneInfoNotFoundError is a KeyError
        return None


@cache
def _places() -> dict[str, str]:
    return {name.casefold(): name for name in available_timezones()}


def _offset(text: str) -> tzinfo:
    digits = text[1:].replace(":", "").strip()
    hours, minutes = (int(digits), 0) if len(digits) <= 2 else (int(digits[:-2]), int(digits[-2:]))
    if minutes > 59:
        raise ValueError("no offset")
    return _fixed((hours * 60 + minutes) * (-1 if text.startswith("-") else 1))


@lru_cache(maxsize=256)
def _fixed(minutes: int) -> tzinfo:
    if abs(minutes) > _OFFSET_MINUTES_MAX:
        raise ValueError("no offset on Earth")
    return timezone(timedelta(minutes=minutes)) if minutes else UTC


# ── dates ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _east_asian(text: str) -> tuple[int, int, int] | None:
    match = _EAST_ASIAN.search(text)
    if match is None:
        return None
    if match["era"]:
        year = ERAS[match["era"]] + (1 if match["in_era"] == "元" else int(match["in_era"]))
    else:
        year = int(match["year"])
    return year, int(match["month"]), int(match["day"] or 1)


def _year_first(text: str) -> tuple[int, int, int] | None:
    """ISO 8601 and what looks like it: `2026`, `2026-05`, `2026/5/4`, `20260504`, and `2026-335`, its 335th day."""
    if ordinal := _ORDINAL.match(text):
        first_day, days = datetime(int(ordinal[1]), 1, 1, tzinfo=UTC), int(ordinal[2])
        start = first_day + timedelta(days=days - 1)
        if start.year != first_day.year:
            raise ValueError("no day of that year")
        return start.year, start.month, start.day
    match = _ISO.match(text)
    if match is None:
        return None
    year, month, day, compact_month, compact_day = match.groups()
    if match.end() < len(text) and month is None and compact_month is None and _WORD.search(text):
        return None  # "2026 May 4"
    month, day = month or compact_month, day or compact_day
    if month and day and int(month) > 12:
        month, day = day, month
    return int(year), int(month or 1), int(day or 1)


def _day_first(text: str) -> tuple[int, int, int] | None:
    """`4.5.2026` is the 4th of May; `5/4/2026` is too, as Americans write, unless only the other way fits."""
    match = _DAY_FIRST.search(text)
    if match is None:
        return None
    first, second, year = int(match[1]), int(match[3]), _full_year(match[4])
    if (match[2] == "/" and first <= 12) or second > 12:
        return year, first, second
    return year, second, first


def _worded(text: str) -> tuple[int, int, int] | None:
    """A month by its name, a day and a year, in any order; weekdays and other words do not count."""
    numbered = _NUMBERED_MONTH.search(text)
    if numbered is not None:
        month: int | None = int(numbered[1])
        text = f"{text[: numbered.start()]} {text[numbered.end() :]}"
    else:
        # Of two, the last: in "mar 12 mai", mar is a Tuesday.
        month = next((MONTHS[word] for word in reversed(_WORD.findall(text)) if word in MONTHS), None)
    if month is None:
        return None
    numbers = _NUMBER.findall(text)
    year = next((number for number in numbers if len(number) == 4), None)
    rest = [number for number in numbers if number is not year and len(number) <= 2]
    if year is None:
        if len(rest) < 2:
            return None
        year = rest.pop() if int(rest[0]) <= 31 else rest.pop(0)
    return _full_year(year), month, int(rest[0]) if rest else 1


def _full_year(digits: str) -> int:
    year = int(digits)
    if len(digits) > 2:
        return year
    return year + (2000 if year < 70 else 1900)
