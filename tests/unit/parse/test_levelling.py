"""What may go to nh3 as it is, and what is written anew first."""

from __future__ import annotations

import pytest
from selectolax.lexbor import LexborHTMLParser

from junkai.parse.levelling import DEPTH_MAX, is_level, levelled

ARTICLE = "<p>One <a href='/x'><b>two</b></a> <em>three</em><br>four</p><ul><li>five<li>six</ul><!-- more -->" * 200


def test_an_article_is_level_whatever_its_length() -> None:
    assert is_level(ARTICLE)


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 101,
        "</div>" * 500 + "<div>" * 101,
        "<x-y>" * 101,
        "<p>" + "".join(f"<b class={n}>" for n in range(9)) + "</p>",
        "</b>" * 500 + "<p>" + "<B>" * 9 + "</p>",
        "<b><!--</b>--></b>" + "<b><!--</b>-->" * 50,
        "<b title='</b>'>" * 50,
        "<b></b><script></b></script>",
        "<svg><b></svg>",
        "<plaintext>",
        "<?php echo '</b>' ?>",
        "<!DOCTYPE html>",
        "1 < 2 <b>",
        f"<b {'a=1 ' * 3000}>",
        "&" * 3000,
    ],
)
def test_what_nests_deeply_or_could_hide_that_it_does_is_not_level(html: str) -> None:
    assert not is_level(html)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<b>one<i>two</b>three</i>", "<b>one<i>two</i></b>three"),
        ("<p>one<p>two", "<p>one</p><p>two</p>"),
        ("</b>one", "one"),
        ("1 < 2", "1 &lt; 2"),
        ("<ul><li>a<li>b</ul>", "<ul><li>a</li><li>b</li></ul>"),
    ],
)
def test_levelled_markup_closes_in_order(html: str, expected: str) -> None:
    assert levelled(html) == expected


def test_levelling_keeps_the_words_of_an_article() -> None:
    text = levelled(ARTICLE)

    assert text is not None
    assert LexborHTMLParser(text).text() == LexborHTMLParser(ARTICLE).text()


def test_too_deep_is_given_up() -> None:
    assert levelled("<div>" * (DEPTH_MAX + 1)) is None


@pytest.mark.parametrize("unit", ["</i><b title={}><p>x", "</q><div><p>{}", "<font color={}><p>x"])
def test_an_end_tag_excuses_no_depth_of_another_name(unit: str) -> None:
    assert not is_level("".join(unit.format(number) for number in range(200)))
