"""Text that tries to steer a terminal, and text that only looks unusual."""

from __future__ import annotations

import json
import unicodedata

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from junkai import terminal

STEERING = {"Cc", "Cs", "Zl", "Zp"}
DIRECTIONS = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("two\nlines\tand\r\ntabs", "two lines and tabs"),
        ("\x1b[31mred\x1b[0m", "�[31mred�[0m"),
        ("\x9b2Jclear", "�2Jclear"),
        ("bell\x07 del\x7f", "bell� del�"),
        ("abc\u202egnp.exe", "abcgnp.exe"),
        ("\u2066isolated\u2069 \u200fmark", "isolated mark"),
        ("half \ud83d of a pair", "half � of a pair"),
        ("line\u2028paragraph\u2029end", "line paragraph end"),
        ("  much   space  ", "much space"),
        ("家族👨‍👩‍👧 and می‌خواهم", "家族👨‍👩‍👧 and می‌خواهم"),
        ("[bold]not markup[/bold]", "[bold]not markup[/bold]"),
    ],
)
def test_text_is_made_safe(text: str, expected: str) -> None:
    actual = terminal.safe(text)

    assert expected == actual


@given(st.text(alphabet=st.characters()))
def test_no_text_keeps_anything_that_steers(text: str) -> None:
    actual = terminal.safe(text)

    assert not [c for c in actual if unicodedata.category(c) in STEERING or c in DIRECTIONS]


@given(st.text(alphabet=st.characters()))
def test_safe_text_stays_as_it_is(text: str) -> None:
    once = terminal.safe(text)

    assert once == terminal.safe(once)


@given(st.text())
def test_safe_json_is_the_same_value(text: str) -> None:
    line = msgspec.json.encode({"title": text})

    actual = terminal.safe_json(line)

    assert {"title": text} == json.loads(actual)


@given(st.text())
def test_safe_json_holds_nothing_that_steers(text: str) -> None:
    actual = terminal.safe_json(msgspec.json.encode(text)).decode()

    assert not [c for c in actual if unicodedata.category(c) in STEERING or c in DIRECTIONS]


def test_safe_json_leaves_other_scripts_readable() -> None:
    actual = terminal.safe_json(msgspec.json.encode("紅葉 é"))

    assert '"紅葉 é"'.encode() == actual


def test_a_character_beyond_the_basic_plane_is_escaped_as_a_pair() -> None:
    actual = terminal.safe_json('"\U000e0041"'.encode())

    assert rb'"\udb40\udc41"' == actual
