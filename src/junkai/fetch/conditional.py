"""Stored validators in, the fields of a conditional request out; an answer's fields in, what they ask of us out. Pure.

Nothing is capped here: how long a wait may be obeyed is `schedule`'s business.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from junkai.fetch.fields import Fields
from junkai.fetch.message import Response
from junkai.model import Freshness, Validators

#: RFC 9111 §1.2.2: a greater number of seconds means this one.
SECONDS_MAX: Final = 2**31
VALIDATOR_CHARS_MAX: Final = 2_048

_DIGITS: Final = re.compile(r"[0-9]{1,40}")
#: One cache directive; a quoted value may hold commas, and may lack its closing quote.
_DIRECTIVE: Final = re.compile(r'\s*([^\s,="]*)\s*(?:=\s*("(?:[^"\\]|\\.)*"?|[^,]*))?[^,]*')
_MONTH_NAMES: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS: Final = {name: number for number, name in enumerate(_MONTH_NAMES, start=1)}
_CLOCK: Final = r"(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)"
_HTTP_DATES: Final = (
    re.compile(rf"[A-Za-z]{{3}}, (?P<day>\d\d) (?P<month>[A-Za-z]{{3}}) (?P<year>\d{{4}}) {_CLOCK} (?i:GMT)"),
    re.compile(rf"[A-Za-z]{{6,9}}, (?P<day>\d\d)-(?P<month>[A-Za-z]{{3}})-(?P<year>\d\d) {_CLOCK} (?i:GMT)"),
    re.compile(rf"[A-Za-z]{{3}} (?P<month>[A-Za-z]{{3}}) (?P<day>[ \d]\d) {_CLOCK} (?P<year>\d{{4}})"),
)


def conditional_fields(validators: Validators | None, url: str) -> tuple[tuple[str, str], ...]:
    """If-None-Match and If-Modified-Since, byte for byte, where the validators belong to this very URL (rules 2–5)."""
    if validators is None or validators.url != url:
        return ()
    fields = []
    if validators.etag:
        fields.append(("If-None-Match", validators.etag))
    if validators.last_modified:
        fields.append(("If-Modified-Since", validators.last_modified))
    return tuple(fields)


def validators_of(response: Response) -> Validators:
    """What this answer carried, for the URL that was asked; nothing is made up, nothing is re-formatted."""
    return Validators(
        url=response.url,
        etag=_validator(response.fields.get("etag")),
        last_modified=_validator(response.fields.get("last-modified")),
    )


def _validator(value: str | None) -> str | None:
    return value if value and len(value) <= VALIDATOR_CHARS_MAX else None


def freshness(fields: Fields, now: datetime) -> Freshness:
    """The freshness lifetime that is left (RFC 9111 §4.2; rule 12). `now` stands in for a missing Date.

    A Cache-Control that speaks of freshness beats Expires even where its value is nonsense; s-maxage is for shared
    caches. No bound where the answer must not be kept, is stale already, or says nothing that can be read.
    """
    directives = _directives(fields.joined("cache-control") or "")
    # With field names, no-cache is about those fields only (RFC 9111 §5.2.2.4).
    if directives.get("no-cache") == "" or "no-store" in directives:
        return _NO_BOUND
    lifetime_s = _seconds(directives["max-age"]) if "max-age" in directives else _until_expires_s(fields, now)
    if lifetime_s is None:
        return _NO_BOUND
    age = (fields.get("age") or "").partition(",")[0]
    left_s = lifetime_s - (_seconds(age.strip()) or 0.0)
    return Freshness(fresh_s=left_s) if left_s > 0 else _NO_BOUND


_NO_BOUND: Final = Freshness()


def _directives(value: str) -> dict[str, str]:
    """Cache directives by lower-case name; of duplicates the first counts (RFC 9111 §4.2.1)."""
    directives: dict[str, str] = {}
    position = 0
    while position < len(value):
        match = _DIRECTIVE.match(value, position)
        if match is None:
            break
        if match[1]:
            directives.setdefault(match[1].lower(), (match[2] or "").strip().strip('"'))
        position = match.end() + 1
    return directives


def _seconds(text: str) -> float | None:
    return float(min(int(text), SECONDS_MAX)) if _DIGITS.fullmatch(text) else None


def _until_expires_s(fields: Fields, now: datetime) -> float | None:
    expires_at = http_date(fields.get("expires") or "", now)
    if expires_at is None:
        return None
    sent_at = http_date(fields.get("date") or "", now) or now
    return min((expires_at - sent_at).total_seconds(), float(SECONDS_MAX))


def retry_after_s(fields: Fields, now: datetime) -> float | None:
    """Seconds to wait (RFC 9110 §10.2.3); None where absent, negative, garbage or past (rule 15)."""
    value = fields.get("retry-after") or ""
    seconds = _seconds(value)
    if seconds is not None:
        return seconds
    until = http_date(value, now)
    if until is None or until <= now:
        return None
    return (until - now).total_seconds()


def http_date(text: str, now: datetime) -> datetime | None:
    """A moment, aware UTC, from any of the three forms of RFC 9110 §5.6.7; None for anything else.

    The weekday is not looked at. A year of two digits that lies more than 50 years after `now` is of the past century.
    """
    for form in _HTTP_DATES:
        match = form.fullmatch(text)
        if match is not None:
            break
    else:
        return None
    month = _MONTHS.get(match["month"].lower())
    if month is None:
        return None
    year = int(match["year"])
    if len(match["year"]) == 2:
        year += now.year - now.year % 100
        if year > now.year + 50:
            year -= 100
    second = int(match["second"])
    if second > 60:  # 60 is a leap second
        return None
    try:
        minute = datetime(year, month, int(match["day"]), int(match["hour"]), int(match["minute"]), tzinfo=UTC)
        return minute + timedelta(seconds=second)
    except (ValueError, OverflowError):
        return None
