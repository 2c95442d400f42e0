"""Feeds that are not well-formed, and what is got out of them."""

from __future__ import annotations

import pytest

from junkai.document import Document
from junkai.errors import NotADocumentError
from junkai.parse import parse_document

ITEM = "<item><title>{}</title><link>https://a.example/1</link></item>"


def rss(inner: str, *, attributes: str = ' version="2.0"') -> str:
    return f"<rss{attributes}><channel><title>Feed</title>{inner}</channel></rss>"


def parsed(text: str) -> Document:
    return parse_document(text.encode("utf-8", "surrogatepass"), url="https://a.example/feed.xml")


def titles_and_codes(text: str) -> tuple[list[str], list[str]]:
    document = parsed(text)
    return [entry.title for entry in document.entries], [problem.code for problem in document.problems]


@pytest.mark.parametrize(
    ("title", "expected", "code"),
    [
        ("fish & chips", "fish & chips", "bare_ampersand"),
        ("a &unknown; b", "a &unknown; b", "unknown_entity"),
        ("caf&eacute; &hellip; &nbsp;x", "café … x", "html_entity"),
        ("1 < 2", "1 < 2", "bare_less_than"),
        ("I <3 it", "I <3 it", "bare_less_than"),
        ("a\x08b\x0c\x1ec", "abc", "control_character"),
        ("a&#8;b&#x1F;c", "abc", "control_character"),
        ("a&#xD800;b&#xFFFF;c", "abc", "control_character"),
        ("<b>bold</i>", "bold", "mismatched_tag"),
        ("a<br>b", "a b", "mismatched_tag"),
        ("<foo:b>x</foo:b>", "x", "undeclared_prefix"),
        ("<![CDATA[x]]> ]]> y", "x ]]> y", "stray_section_end"),
        ('<a href=x title="y>z">t</a>', "t", "bad_attribute"),
    ],
)
def test_one_fault_costs_no_entry(title: str, expected: str, code: str) -> None:
    titles, codes = titles_and_codes(rss(ITEM.format(title) + ITEM.format("next")))

    assert [expected, "next"] == titles
    assert code == codes[0]


def test_a_problem_says_the_line() -> None:
    document = parsed("\n\n" + rss("\n\n" + ITEM.format("a & b")))

    assert [5] == [problem.line for problem in document.problems]


@pytest.mark.parametrize(
    "junk", ["junk ", "<br />\n<b>Warning</b>: x\n", "<!DOCTYPE html>", "<!DOCTYPE a><!DOCTYPE b>"]
)
def test_junk_before_the_root_is_left_out(junk: str) -> None:
    assert ["x"] == titles_and_codes(junk + rss(ITEM.format("x")))[0]


def test_junk_after_the_root_is_left_out() -> None:
    assert (["x"], ["junk_after_root"]) == titles_and_codes(rss(ITEM.format("x")) + "<script>1 < 2</script>")


def test_a_truncated_feed_keeps_what_came() -> None:
    text = rss(ITEM.format("one") + ITEM.format("two"))

    assert (["one", "two"], ["truncated"]) == titles_and_codes(text[: text.index("two") + 3])


def test_a_section_that_never_ends_ends_with_the_document() -> None:
    assert ["half a"] == titles_and_codes("<rss><channel><item><title><![CDATA[half a")[0]


def test_an_item_that_is_never_closed_does_not_swallow_the_next() -> None:
    text = rss("<item><title>one</title><item><title>two</title></item>")

    assert ["one", "two"] == titles_and_codes(text)[0]


def test_unclosed_markup_in_a_description_stays_in_its_item() -> None:
    text = rss("<item><description><p>one<p>two</description><title>t</title></item>" + ITEM.format("next"))

    assert ["t", "next"] == titles_and_codes(text)[0]


def test_a_usual_prefix_means_its_namespace_even_undeclared() -> None:
    document = parsed(rss("<item><dc:creator>Ann</dc:creator><content:encoded>text</content:encoded></item>"))

    assert ("Ann", "text") == (document.entries[0].authors[0].name, document.entries[0].content_html)
    assert {"undeclared_prefix"} == {problem.code for problem in document.problems}


def test_harmless_entities_of_the_internal_subset_are_put_in() -> None:
    text = '<!DOCTYPE rss [<!ENTITY who "Ann">]>' + rss(ITEM.format("&who;"))

    assert (["Ann"], ["doctype_dropped", "html_entity"]) == titles_and_codes(text)


def test_entities_that_multiply_are_never_expanded() -> None:
    bomb = '<!DOCTYPE rss [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]>'

    assert ["&c;"] == titles_and_codes(bomb + rss(ITEM.format("&c;")))[0]


def test_no_file_is_ever_read() -> None:
    external = '<!DOCTYPE rss [<!ENTITY f SYSTEM "file:///etc/hostname">]>'

    assert ["&f;"] == titles_and_codes(external + rss(ITEM.format("&f;")))[0]


def test_a_web_page_is_no_document() -> None:
    for page in ("<!DOCTYPE html><html><body><p>hi & <rss></body></html>", "<html><head/><body/></html>"):
        with pytest.raises(NotADocumentError, match="a web page"):
            parsed(page)


@pytest.mark.parametrize(
    "text", ["", "   ", "hello", "<p>a</p><p>b</p>", "<a/>", "{}", "[1]", '{"a": 1}', "{", "\0\0", "<"]
)
def test_what_is_no_feed_is_no_document(text: str) -> None:
    with pytest.raises(NotADocumentError):
        parsed(text)
