"""URLs as the standard's own tests have them, and the law of the keys that are made of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from junkai.errors import UrlError
from junkai.url import (
    SHARDS,
    URL_BYTES_MAX,
    canonical,
    domain_of,
    is_ip_literal,
    join,
    parse,
    shard_of,
    shown,
    url_key,
    without_credentials,
)

#: The standard refuses these labels, which are no punycode. Our parser lets them pass; no name server knows them.
LENIENT: Final = {"http://a.b.c.XN--pokxncvks", "http://a.b.c.Xn--pokxncvks", "https://xn--/"}


def words(text: str) -> list[str]:
    return text.split()


def wpt_cases(corpora: Path) -> list[dict[str, Any]]:
    cases = json.loads((corpora / "urls" / "urltestdata.json").read_text(encoding="ascii"))
    return [case for case in cases if isinstance(case, dict)]


# ── parsing ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_web_url_of_the_standards_tests_is_parsed_as_expected(corpora: Path) -> None:
    expected = {}
    parsed = {}
    for case in wpt_cases(corpora):
        if case.get("protocol") in ("http:", "https:") and not case["username"] and not case["password"]:
            key = (case["input"], case["base"])
            expected[key] = case["href"].partition("#")[0]
            parsed[key] = parse(*key).href

    assert len(expected) > 100
    assert expected == parsed


def test_everything_else_of_the_standards_tests_is_refused(corpora: Path) -> None:
    accepted = set()
    for case in wpt_cases(corpora):
        if case.get("failure") or case["protocol"] not in ("http:", "https:") or case["username"] or case["password"]:
            try:
                parse(case["input"], case["base"])
            except UrlError:
                continue
            accepted.add(case["input"])

    assert accepted == LENIENT


def test_the_keys_of_the_standards_tests_obey_their_law(corpora: Path) -> None:
    for case in wpt_cases(corpora):
        if case.get("protocol") in ("http:", "https:") and not case["username"] and not case["password"]:
            url = parse(case["input"], case["base"])

            assert url.verbatim == parse(url.verbatim).verbatim
            assert url.href == parse(url.verbatim).href
            assert canonical(url.href) == canonical(canonical(url.href))


@pytest.mark.parametrize(
    ("text", "verbatim"),
    [
        ("https://a.example", "https://a.example/"),
        ("HTTPS://A.Example:443/Path?Q#f", "https://a.example/Path?Q"),
        (" https://a.example/x\n", "https://a.example/x"),
        # scrapy#1941, browsertrix-crawler#982: a query is opaque
        ("https://a.example/index.php?/a/b", "https://a.example/index.php?/a/b"),
        ("https://a.example/?b=2&a=1&&c", "https://a.example/?b=2&a=1&&c"),
        ("https://a.example?x", "https://a.example/?x"),
        ("https://a.example/%7euser/%2F?q=%e3%81%82", "https://a.example/%7euser/%2F?q=%e3%81%82"),
        ("https://a.example/a/../b/./c", "https://a.example/a/../b/./c"),
        ("https://bücher.example/ü", "https://xn--bcher-kva.example/%C3%BC"),
        ("https:///a.example/x", "https://a.example/x"),
        ("https:\\\\a.example\\x", "https://a.example/x"),
        ("http://2130706433/x", "http://127.0.0.1/x"),
        # crawler-commons#587
        ("http://[::1]/", "http://[::1]/"),
        ("http://[0:0::1]:8080/x", "http://[::1]:8080/x"),
    ],
)
def test_what_is_fetched_is_what_was_written(text: str, verbatim: str) -> None:
    assert verbatim == parse(text).verbatim


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("http://A.example/", "a.example", 80),
        ("https://a.example/", "a.example", 443),
        ("http://a.example:80/", "a.example", 80),
        ("https://a.example:80/", "a.example:80", 80),
        ("http://a.example:443/", "a.example:443", 443),
        ("http://[::1]:8080/", "[::1]:8080", 8080),
        ("http://[::1]/", "[::1]", 80),
        ("http://127.1/", "127.0.0.1", 80),
        ("http://東京.example/", "xn--1lqs71d.example", 80),
        ("http://a.example./", "a.example.", 80),
    ],
)
def test_a_host_key_is_the_host_and_the_port_unless_it_is_usual(text: str, host: str, port: int) -> None:
    url = parse(text)

    assert (host, port) == (url.host, url.port)
    assert host == parse(url.href).host == parse(url.verbatim).host


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a URL; did you mean https://"),
        ("a.example/feed", "not a URL; did you mean https://a.example/feed ?"),
        ("/feed", "not a URL"),
        ("http://", "Not a URL that Junkai can visit"),
        ("http://[bad", "Not a URL that Junkai can visit"),
        ("http://a b.example/", "Not a URL that Junkai can visit"),
        ("http://a.example:99999/", "Not a URL that Junkai can visit"),
        ("ftp://a.example/", "scheme ftp: is refused"),
        ("javascript:alert(1)", "scheme javascript: is refused"),
        ("file:///etc/passwd", "scheme file: is refused"),
        ("exec:~/fetch.py", "scheme exec: is refused"),
        ("http://a.example/" + "x" * URL_BYTES_MAX, f"longer than {URL_BYTES_MAX} characters"),
        ("http://a.example/" + "é" * 3_000, f"longer than {URL_BYTES_MAX} characters"),
    ],
)
def test_what_cannot_be_visited_is_refused_with_a_reason(text: str, message: str) -> None:
    with pytest.raises(UrlError) as caught:
        parse(text)

    assert message in str(caught.value)


def test_credentials_are_refused_and_never_shown() -> None:
    with pytest.raises(UrlError, match="do not belong in the URL") as caught:
        parse("https://user:secret@a.example/feed")

    assert "secret" not in str(caught.value)
    assert "https://a.example/x@y" == without_credentials("https://u:p@a.example/x@y")


def test_a_reference_is_resolved_against_its_base() -> None:
    assert "https://a.example/c?d" == parse("../c?d", "https://a.example/a/b").href
    assert "https://b.example/p" == parse("///b.example/p", "https://a.example/a/b").href  # scrapy#4032


def test_joining_gives_any_scheme_and_none_for_what_is_no_url() -> None:
    base = "https://a.example/x/"

    assert ["https://a.example/x/y", "mailto:me@a.example", None, None] == [
        join(base, "y"),
        join(base, "mailto:me@a.example"),
        join(base, "http://[bad"),
        join("nonsense", "y"),
    ]


# ── keys ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("HTTP://A.example:80", "http://a.example/"),
        ("http://a.example/%7euser", "http://a.example/~user"),
        ("http://a.example/%e3%81%82", "http://a.example/あ"),
        ("http://a.example/#one", "http://a.example/#two"),
        ("http://a.example/a/../b", "http://a.example/b"),
        ("http://a.example/%41?%42=%2d", "http://a.example/A?B=-"),
    ],
)
def test_two_spellings_of_a_url_have_one_key(one: str, other: str) -> None:
    assert canonical(one) == canonical(other)
    assert url_key(one) == url_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://a.example/%23x", "http://a.example/#x"),  # w3lib#91
        ("http://a.example/a%2Fb", "http://a.example/a/b"),
        ("http://a.example/?a=%26", "http://a.example/?a=&"),
        ("http://a.example/?k=%252fx", "http://a.example/?k=%2fx"),  # browsertrix-crawler#983
        ("http://a.example/?a&b", "http://a.example/?b&a"),
        ("http://a.example/?a", "http://a.example/?a="),
        ("http://a.example/x", "http://a.example/x/"),
        ("http://a.example/x", "http://a.example/X"),
        ("http://a.example/x", "http://a.example/x?"),
        ("http://a.example/", "https://a.example/"),
        ("http://a.example/", "http://www.a.example/"),
    ],
)
def test_two_urls_have_two_keys(one: str, other: str) -> None:
    assert canonical(one) != canonical(other)
    assert url_key(one) != url_key(other)


def test_a_key_belongs_to_its_crawl_and_is_16_bytes() -> None:
    # Stores hold these bytes: they may never change.
    assert bytes.fromhex("9ae9d3a5c58f67ef3e7e6a0f584b208f") == url_key("http://a.example/")
    assert url_key("http://a.example/", crawl=1) != url_key("http://a.example/", crawl=2)


PIECES: Final = st.lists(
    st.sampled_from(
        words("/ . .. % %2 %25 %2f %2F %23 %7e %41 %252f %E3 é 東 ? # & = + @ : ; \\ | \" ' < > [ ] { } ` ^ ~ a Z 0")
    )
    | st.text(max_size=3),
    max_size=12,
).map("".join)
ORIGINS: Final = st.sampled_from(
    words(
        "http://a.example HTTPS://A.Example:443 http://[::1]:8080 http://0x7f.1 https://bücher.example:81 http:///a.example"
        " http:a.example https:\\\\a.example"
    )
)
URLS: Final = st.builds(lambda origin, rest: f"{origin}/{rest}", ORIGINS, PIECES)


@given(URLS)
def test_canonicalising_is_idempotent_and_keeps_the_host(text: str) -> None:
    once = canonical(text)

    assert once == canonical(once)
    assert parse(text).host == parse(once).host
    assert canonical(parse(text).verbatim) == once


@given(URLS)
def test_the_verbatim_form_is_a_fixed_point_and_means_the_same(text: str) -> None:
    url = parse(text)
    again = parse(url.verbatim)

    assert url.verbatim == again.verbatim
    assert url.href == again.href
    assert url.verbatim.isascii()
    assert url.verbatim.isprintable()
    assert " " not in url.verbatim


@given(URLS)
def test_a_host_key_is_made_of_its_parts(text: str) -> None:
    url = parse(text)
    usual = {"http": 80, "https": 443}[url.scheme]

    assert url.host == (url.hostname if url.port == usual else f"{url.hostname}:{url.port}")
    assert url.hostname == url.hostname.lower()
    assert 0 <= shard_of(url.host) < SHARDS


@given(st.text(max_size=80))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    message = ""
    try:
        parse(text)
    except UrlError as error:
        message = str(error)

    assert message.isprintable()


# ── domains ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_registrable_domain_is_that_of_the_public_suffix_list(corpora: Path) -> None:
    expected = {}
    found = {}
    for line in (corpora / "urls" / "public_suffix_tests.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        # uk.com is in the private section: a shop that sells names, and no registry.
        if case["input"] is not None and not case["input"].endswith("uk.com"):
            try:
                host = parse(f"http://{case['input']}/").host
            except UrlError:
                continue
            expected[host] = parse(f"http://{case['registrable']}/").host if case["registrable"] else host
            found[host] = domain_of(host)

    assert len(expected) > 30
    assert expected == found


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("feeds.bbc.co.uk", "bbc.co.uk"),
        ("one.github.io", "github.io"),  # the private section is left alone: one operator, one politeness
        ("b.example.uk.com", "uk.com"),
        ("b.a.example:8080", "a.example"),  # a top level that the list does not know is taken for a suffix
        ("www.a.com:8080", "a.com"),
        ("www.a.com.", "a.com"),
        ("localhost", "localhost"),
        ("localhost:8080", "localhost:8080"),
        ("co.uk", "co.uk"),
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.1:8080", "127.0.0.1:8080"),
        ("[::1]", "[::1]"),
        ("[::1]:8080", "[::1]:8080"),
        ("xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"),
    ],
)
def test_a_host_key_has_a_domain(host: str, domain: str) -> None:
    assert domain == domain_of(host)


def test_an_ip_literal_is_told_from_a_name() -> None:
    assert [True, True, False, False] == [
        is_ip_literal(name) for name in ("127.0.0.1", "[::1]", "a.example", "1.example")
    ]


def test_a_host_stays_in_its_shard() -> None:
    # A frontier that is on disk holds these numbers: they may never change.
    assert [42, 35, 10] == [shard_of(host) for host in ("a.example", "b.example", "[::1]:8080")]


def test_a_text_is_shown_on_one_short_line() -> None:
    assert "a\N{REPLACEMENT CHARACTER}b" == shown("a\nb")
    assert "x" * 200 == shown("x" * 200)
    assert "x" * 199 + "…" == shown("x" * 201)
