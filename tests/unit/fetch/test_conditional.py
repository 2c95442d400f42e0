"""What validators make a request say, and what an answer's fields say of the next one."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from junkai.fetch.conditional import conditional_fields, freshness, http_date, retry_after_s, validators_of
from junkai.fetch.fields import Fields
from junkai.fetch.message import Response
from junkai.model import Validators

NOW = datetime(2026, 12, 1, tzinfo=UTC)
URL = "http://a.example/feed"


def imf(seconds: int) -> str:
    return format_datetime(NOW + timedelta(seconds=seconds), usegmt=True)


def response(*fields: tuple[str, str]) -> Response:
    return Response(url=URL, status=200, fields=Fields(fields), body=b"", bytes_received=0, address="192.0.2.1")


# ── validators ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_both_validators_are_sent_as_they_were_given() -> None:
    odd = Validators(url=URL, etag='W/"caf\xe9', last_modified="Foo, 99 Bar 2026  25:61:00 +0900")

    assert (("If-None-Match", 'W/"caf\xe9'), ("If-Modified-Since", "Foo, 99 Bar 2026  25:61:00 +0900")) == (
        conditional_fields(odd, URL)
    )


@pytest.mark.parametrize(
    ("validators", "names"),
    [
        (None, []),
        (Validators(url=URL), []),
        (Validators(url=URL, etag="", last_modified=""), []),
        (Validators(url=URL, etag='"a"'), ["If-None-Match"]),
        (Validators(url=URL, last_modified="x"), ["If-Modified-Since"]),
        (Validators(url=URL + "/", etag='"a"', last_modified="x"), []),
    ],
)
def test_only_validators_of_this_very_url_are_sent(validators: Validators | None, names: list[str]) -> None:
    assert names == [name for name, _ in conditional_fields(validators, URL)]


def test_an_answers_validators_are_kept_byte_for_byte_and_none_is_made_up() -> None:
    date = ("Date", imf(0))

    assert Validators(url=URL) == validators_of(response(date))
    assert Validators(url=URL, etag='W/"\xe9"', last_modified="yesterday") == validators_of(
        response(("ETag", 'W/"\xe9"'), ("Last-Modified", "yesterday"), date)
    )
    assert Validators(url=URL) == validators_of(response(("ETag", "x" * 5_000), ("Last-Modified", "")))


# ── freshness ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("fields", "fresh_s"),
    [
        ([], None),
        ([("Cache-Control", "max-age=3600")], 3_600),
        ([("Cache-Control", "public, MAX-AGE=3600")], 3_600),
        ([("Cache-Control", 'max-age="3600"')], 3_600),
        ([("Cache-Control", "max-age=3600"), ("Age", "600")], 3_000),
        ([("Cache-Control", "max-age=3600"), ("Age", "abc")], 3_600),
        ([("Cache-Control", "max-age=3600"), ("Age", "3600")], None),
        ([("Cache-Control", "max-age=3600"), ("Expires", imf(60)), ("Date", imf(0))], 3_600),
        ([("Cache-Control", "max-age=nonsense"), ("Expires", imf(60)), ("Date", imf(0))], None),
        ([("Cache-Control", "max-age=-1")], None),
        ([("Cache-Control", "max-age=0")], None),
        ([("Cache-Control", "max-age=")], None),
        ([("Cache-Control", "max-age")], None),
        ([("Cache-Control", "no-cache, max-age=3600")], None),
        ([("Cache-Control", "max-age=3600"), ("Cache-Control", "no-store")], None),
        ([("Cache-Control", 'no-cache="set-cookie", max-age=3600')], 3_600),
        ([("Cache-Control", "s-maxage=3600")], None),
        ([("Cache-Control", "s-maxage=3600"), ("Expires", imf(60)), ("Date", imf(0))], 60),
        ([("Cache-Control", 'x="max-age=1", max-age=3600')], 3_600),
        ([("Cache-Control", 'max-age=abc, ,private="')], None),
        ([("Cache-Control", ', ,private=", max-age=3600')], None),
        ([("Cache-Control", "max-age=60, max-age=3600")], 60),
        ([("Cache-Control", "max-age=99999999999999999999")], 2**31),
        ([("Expires", imf(7_200)), ("Date", imf(0))], 7_200),
        ([("Expires", imf(7_200)), ("Date", imf(3_600))], 3_600),
        ([("Expires", imf(7_200))], 7_200),
        ([("Expires", imf(7_200)), ("Date", "garbage")], 7_200),
        ([("Expires", imf(7_200)), ("Date", imf(0)), ("Age", "200")], 7_000),
        ([("Expires", imf(-60)), ("Date", imf(0))], None),
        ([("Expires", "0")], None),
        ([("Expires", "-1")], None),
    ],
)
def test_the_lifetime_that_is_left(fields: list[tuple[str, str]], fresh_s: float | None) -> None:
    assert fresh_s == freshness(Fields(fields), NOW).fresh_s


def test_an_endless_cache_control_is_read_in_no_time() -> None:
    assert freshness(Fields([("Cache-Control", '"' * 60_000 + "=,\\" * 1_000)]), NOW).fresh_s is None


def test_the_corpus_of_cache_tests_is_agreed_with(corpora: Path) -> None:
    suites = {"cc-freshness", "cc-parse", "age-parse", "expires", "expires-parse"}
    disagreed = []
    for line in (corpora / "http" / "cache-tests.jsonl").read_text(encoding="utf-8").splitlines():
        test = json.loads(line)
        if test["suite"] not in suites or test.get("kind") == "check" or "s-maxage" in test["id"]:
            continue  # a check has no right answer; s-maxage is for shared caches
        fields = [
            (name, imf(value) if isinstance(value, int) and name in ("Date", "Expires") else str(value))
            for name, value, *_ in test["requests"][0].get("response_headers", [])
        ]
        fresh_s = freshness(Fields(fields), NOW).fresh_s
        is_fresh = fresh_s is not None and fresh_s > 5  # the tests pause that long
        if is_fresh != (test["requests"][-1].get("expected_type") == "cached"):
            disagreed.append(test["id"])

    assert [] == disagreed


# ── Retry-After ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120),
        ("0", 0),
        ("1000000000", 10**9),
        ("9" * 30, 2**31),
        (imf(90), 90),
        ("Tuesday, 01-Dec-26 00:01:30 GMT", 90),
        ("Tue Dec  1 00:01:30 2026", 90),
        (imf(0), None),
        (imf(-90), None),
        ("-5", None),
        ("1.5", None),
        ("soon", None),
        ("", None),
        ("٣", None),
    ],
)
def test_how_long_to_wait(value: str, seconds: float | None) -> None:
    assert seconds == retry_after_s(Fields([("Retry-After", value)]), NOW)


def test_without_the_field_there_is_no_wait() -> None:
    assert retry_after_s(Fields(), NOW) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Sun, 06 Nov 1994 08:49:37 GMT", datetime(1994, 11, 6, 8, 49, 37, tzinfo=UTC)),
        ("Mon, 06 nov 1994 08:49:37 gmt", datetime(1994, 11, 6, 8, 49, 37, tzinfo=UTC)),
        ("Sunday, 06-Nov-94 08:49:37 GMT", datetime(1994, 11, 6, 8, 49, 37, tzinfo=UTC)),
        ("Sunday, 06-Nov-76 08:49:37 GMT", datetime(2076, 11, 6, 8, 49, 37, tzinfo=UTC)),
        ("Sunday, 06-Nov-77 08:49:37 GMT", datetime(1977, 11, 6, 8, 49, 37, tzinfo=UTC)),
        ("Sun Nov  6 08:49:37 1994", datetime(1994, 11, 6, 8, 49, 37, tzinfo=UTC)),
        ("Sat, 31 Dec 2016 23:59:60 GMT", datetime(2017, 1, 1, tzinfo=UTC)),
        ("Fri, 31 Dec 9999 23:59:59 GMT", datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)),
        ("Fri, 31 Dec 9999 23:59:60 GMT", None),
        ("Sun, 31 Feb 1994 08:49:37 GMT", None),
        ("Sun, 06 Nov 1994 24:49:37 GMT", None),
        ("Sun, 06 Nov 1994 08:49:61 GMT", None),
        ("Sun, 06 Nov 0000 08:49:37 GMT", None),
        ("Sun, 06 Foo 1994 08:49:37 GMT", None),
        ("Sun, 06 Nov 1994 08:49:37 +0900", None),
        ("Sun, 6 Nov 1994 08:49:37 GMT", None),
        ("1994-11-06T08:49:37Z", None),
    ],
)
def test_http_dates_in_three_forms(text: str, expected: datetime | None) -> None:
    assert expected == http_date(text, NOW)
