"""Subscription lists as people have them: what is read, what is refused, and what comes back after writing."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from junkai.errors import OpmlError
from junkai.parse import opml
from junkai.parse.opml import OpmlFeed, OpmlList, read_opml, write_opml

CREATED_AT: Final = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
FEED: Final = '<outline type="rss" text="A" xmlUrl="https://a.example/feed"/>'


def opml_of(body: str) -> bytes:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<opml version="2.0">\n<body>\n{body}\n</body>\n</opml>\n'.encode()


def only(body: bytes) -> OpmlFeed:
    (feed,) = read_opml(body).feeds
    return feed


def codes(read: OpmlList) -> list[tuple[str, int | None]]:
    return [(problem.code, problem.line) for problem in read.problems]


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_feed_has_its_address_its_names_and_its_line() -> None:
    outline = '<outline type="rss" text="Text"\n title="Title" xmlUrl=" https://a.example/feed " htmlUrl="https://a.example/"/>'

    assert OpmlFeed(url="https://a.example/feed", title="Text", site_url="https://a.example/", line=4) == only(
        opml_of(outline)
    )


def test_a_title_stands_in_for_a_missing_text() -> None:
    assert "T & <b>" == only(opml_of('<outline title=" T &amp;\n&lt;b> " xmlUrl="https://a.example/"/>')).title


def test_the_list_has_the_title_of_its_head() -> None:
    body = b"<opml><head><title> My\n &#108;ist </title><ownerName>x</ownerName></head><body/></opml>"

    assert "My list" == read_opml(body).title
    assert () == read_opml(body).feeds


@pytest.mark.parametrize(
    "outline",
    [
        '<outline xmlurl="https://a.example/feed"/>',
        '<OUTLINE XMLURL="https://a.example/feed"/>',
        '<outline type="rss" url="https://a.example/feed"/>',
        '<outline type="link" xmlUrl="https://a.example/feed"/>',
    ],
)
def test_an_address_is_found_however_it_is_spelled(outline: str) -> None:
    assert "https://a.example/feed" == only(opml_of(outline)).url


@pytest.mark.parametrize("outline", ['<outline type="link" url="https://a.example/"/>', '<outline text="note"/>'])
def test_what_is_no_feed_is_passed_over(outline: str) -> None:
    read = read_opml(opml_of(outline + FEED))

    assert ["https://a.example/feed"] == [feed.url for feed in read.feeds]
    assert () == read.problems


def test_a_feed_without_address_is_a_problem_with_its_line() -> None:
    read = read_opml(opml_of(f'{FEED}\n<outline type="rss" text="Lost" xmlUrl=" "/>'))

    assert 1 == len(read.feeds)
    assert [("feed_without_url", 5)] == codes(read)


@pytest.mark.parametrize(
    "url", ["|~/fetch.py", "exec:~/fetch.py", "filter:~/x.pl:https://a.example/", "not a URL", "/rel"]
)
def test_an_address_that_nobody_can_visit_is_kept_for_the_caller_to_refuse(url: str) -> None:
    assert url == only(opml_of(f'<outline xmlUrl="{url}"/>')).url


def test_a_feed_that_is_named_twice_is_there_twice() -> None:
    assert [4, 5] == [feed.line for feed in read_opml(opml_of(f"{FEED}\n{FEED}")).feeds]


@pytest.mark.parametrize(
    "body",
    [
        f"<opml>{FEED}</opml>",
        f"<opml><body>{FEED}</body></opml>",
        f"<OPML><Body>{FEED}</Body></OPML>",
        f"<outlineDocument><head/><body>{FEED}</body></outlineDocument>",
        f"<body>{FEED}</body>",
        FEED,
        f'<opml xmlns="urn:x" xmlns:y="urn:y">{FEED}</opml>',
        f'<!DOCTYPE opml SYSTEM "https://a.example/opml.dtd"><opml>{FEED}</opml>',
        f"<!-- <opml> --><opml>{FEED}</opml><!-- end -->",
    ],
)
def test_a_file_without_head_version_or_body_is_read(body: str) -> None:
    assert "https://a.example/feed" == only(body.encode()).url


def test_folders_are_groups_by_their_path() -> None:
    body = f'<outline text="Outer"><outline title=" In ner "><outline>{FEED}</outline></outline>{FEED}</outline>{FEED}'

    assert [("Outer/In ner",), ("Outer",), ()] == [feed.groups for feed in read_opml(opml_of(body)).feeds]


def test_categories_are_groups_beside_the_folder() -> None:
    feed = '<outline xmlUrl="https://a.example/" category="/Tech/ Linux ,news,,/Outer/,/Tech/Linux"/>'

    assert ("Outer", "Tech/Linux", "news") == only(opml_of(f'<outline text="Outer">{feed}</outline>')).groups


def test_a_feed_with_feeds_inside_is_a_folder_too() -> None:
    body = f'<outline text="Planet" xmlUrl="https://p.example/">{FEED}</outline>'

    assert [(), ("Planet",)] == [feed.groups for feed in read_opml(opml_of(body)).feeds]


# ── encodings ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("declared", "codec"),
    [
        ("utf-8", "utf-8"),
        ("UTF-8", "utf-8-sig"),
        ("utf-16", "utf-16"),
        ("utf-16", "utf-16-be"),
        ("utf-16", "utf-8"),
        ("Shift_JIS", "cp932"),
        ("x-sjis", "cp932"),
        ("euc-jp", "euc-jp"),
        ("gb2312", "gb18030"),
        ("base64", "utf-8"),
        ("no-such", "utf-8"),
    ],
)
def test_a_file_is_read_in_the_encoding_that_it_is_in(declared: str, codec: str) -> None:
    text = f'<?xml version="1.0" encoding="{declared}"?><opml><outline text="東京" xmlUrl="https://a.example/"/></opml>'

    read = read_opml(text.encode(codec))

    assert ["東京"] == [feed.title for feed in read.feeds]


def test_latin_1_is_read_as_browsers_do() -> None:
    body = b'<?xml version="1.0" encoding="ISO-8859-1"?><opml><outline text="\x93caf\xe9\x94" xmlUrl="https://a.example/"/></opml>'

    assert "“café”" == only(body).title


def test_a_stray_byte_is_replaced_and_told() -> None:
    read = read_opml(opml_of(FEED).replace(b"A", b"A\xff"))

    assert ["A\N{REPLACEMENT CHARACTER}"] == [feed.title for feed in read.feeds]
    assert [("bad_bytes", 4)] == codes(read)


# ── repair ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("body", "title", "problem"),
    [
        (opml_of(FEED.replace("A", "R&D")), "R&D", ("bare_ampersand", 4)),
        (opml_of(FEED.replace("/feed", "/feed?a=1&lt=2&copy=3")), "A", ("bare_ampersand", 4)),
        (opml_of(FEED.replace("A", "A&nbsp;caf&eacute;")), "A café", ("html_entity", 4)),
        (opml_of(FEED.replace("A", "&#1;A&#X42;&#xFFFF;")), "AB", ("html_entity", 4)),
        (opml_of(FEED.replace("A", "A\x0b\x00B")), "AB", ("control_character", 4)),
        (opml_of(FEED.replace("A", "1 < 2")), "1 < 2", ("bare_less_than", 4)),
        (b"Warning: x\n\n" + opml_of(FEED), "A", ("junk_before_root", 1)),
        (b"<br />\n<b>Notice</b>: x\n" + opml_of(FEED), "A", ("junk_before_root", 1)),
        (opml_of(FEED) + b"<script>x</script>", "A", ("junk_after_root", 7)),
    ],
)
def test_a_slip_that_loses_nothing_is_repaired_and_told(body: bytes, title: str, problem: tuple[str, int]) -> None:
    read = read_opml(body)

    assert [title] == [feed.title for feed in read.feeds]
    assert [problem] == codes(read)


def test_white_space_before_the_declaration_is_nothing_to_tell_and_keeps_the_lines() -> None:
    read = read_opml(b"\n\n" + opml_of(FEED))

    assert [6] == [feed.line for feed in read.feeds]
    assert () == read.problems


def test_a_repaired_file_keeps_its_lines() -> None:
    read = read_opml(b"junk\n\n" + opml_of(f'<outline text="a & b">\n{FEED}\n</outline>'))

    assert [7] == [feed.line for feed in read.feeds]
    assert [("junk_before_root", 1), ("bare_ampersand", 6)] == codes(read)


# ── refusal ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (b"", "the file is empty"),
        (b" \n ", "the file is empty"),
        (b"\xef\xbb\xbf", "the file is empty"),
        (b"https://a.example/feed\nhttps://b.example/feed", "line 1: "),
        (b"<!doctype html><html><head><title>Login</title>", "a web page, not an OPML file"),
        (b"<html><body></body></html>", "line 1: the root element is <html>, not <opml>"),
        (b"<rss><channel/></rss>", "line 1: the root element is <rss>, not <opml>"),
        (opml_of(f"{FEED}\n<outline text='x'>\n{FEED}"), "line 7: mismatched tag"),
        (opml_of(f"{FEED}</outline>"), "line 4: mismatched tag"),
        (opml_of('<outline xmlUrl="https://a.example/" xmlUrl="https://b.example/"/>'), "line 4: duplicate attribute"),
        (opml_of(FEED) + opml_of(FEED), "line 7: "),
        (b'<!DOCTYPE opml [<!ENTITY a "aa">]><opml><outline text="&a;"/></opml>', "line 1: declares the entity “a”"),
        (b'<!DOCTYPE opml [<!ENTITY % a SYSTEM "file:///x">]><opml/>', "line 1: declares the entity “a”"),
        (b"<opml>" + b"<outline>" * 200, "line 1: nested deeper than 100 elements"),
    ],
)
def test_what_cannot_be_read_whole_is_refused_with_its_line(body: bytes, detail: str) -> None:
    with pytest.raises(OpmlError) as caught:
        read_opml(body, "mine.opml")

    assert str(caught.value).startswith(f"mine.opml: {detail}")


def test_a_file_that_is_cut_off_anywhere_is_refused() -> None:
    whole = opml_of(f'<outline text="R&amp;D">\n{FEED}\n</outline>').rstrip()

    for length in range(1, len(whole)):
        with pytest.raises(OpmlError):
            read_opml(whole[:length])


def test_a_cut_off_file_says_so_and_where() -> None:
    with pytest.raises(
        OpmlError, match="line 6: the file ends before its last element is closed; it may have been cut"
    ):
        read_opml(opml_of(f"{FEED}\n")[:-10])


def test_the_size_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opml, "BODY_BYTES_MAX", 100)
    with pytest.raises(OpmlError, match="at most 100 are read"):
        read_opml(b" " * 101)


def test_the_outlines_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opml, "OUTLINES_MAX", 3)

    assert 3 == len(read_opml(opml_of(FEED * 3)).feeds)
    with pytest.raises(OpmlError, match="line 4: more than 3 outlines"):
        read_opml(opml_of(FEED * 4))


def test_the_problems_are_bounded() -> None:
    read = read_opml(opml_of('<outline type="rss"/>\n' * (opml.PROBLEMS_MAX + 10)))

    assert opml.PROBLEMS_MAX == len(read.problems)


@given(st.binary(max_size=200) | st.text("<>&;#/!?'\"= outlinexmpb\n\0", max_size=80).map(opml_of))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    with suppress(OpmlError):
        read_opml(body)


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_list_is_written_as_opml_2_with_groups_as_folders() -> None:
    feeds = [
        OpmlFeed(url="https://a.example/?x=1&y=2", title='A "quoted" <title>', site_url="https://a.example/"),
        OpmlFeed(url="https://b.example/", title="B", groups=("Outer/Inner", "other", "deep/er")),
        OpmlFeed(url="https://c.example/", groups=("Outer",)),
    ]
    expected = """<?xml version="1.0" encoding="UTF-8"?>
<opml version="2.0">
  <head>
    <title>Mine &amp; yours</title>
    <dateCreated>Sun, 01 Mar 2026 12:30:00 GMT</dateCreated>
  </head>
  <body>
    <outline text="Outer" title="Outer">
      <outline text="Inner" title="Inner">
        <outline type="rss" text="B" title="B" xmlUrl="https://b.example/" category="/other,/deep/er"/>
      </outline>
      <outline type="rss" text="https://c.example/" title="https://c.example/" xmlUrl="https://c.example/"/>
    </outline>
    <outline type="rss" text="A &quot;quoted&quot; &lt;title&gt;" title="A &quot;quoted&quot; &lt;title&gt;" \
xmlUrl="https://a.example/?x=1&amp;y=2" htmlUrl="https://a.example/"/>
  </body>
</opml>
"""

    assert expected == write_opml("Mine & yours", feeds, CREATED_AT).decode()


def test_groups_with_commas_are_folders_and_none_is_lost() -> None:
    written = write_opml("", [OpmlFeed(url="https://a.example/", groups=("x", "a, b", "c,d", "y"))], CREATED_AT)

    assert [("a, b", "x", "y"), ("c,d", "x", "y")] == [feed.groups for feed in read_opml(written).feeds]


def test_characters_that_xml_forbids_are_not_written() -> None:
    feed = OpmlFeed(url="https://a.example/\x00", title="a\x0b\ufffe\ud800b", groups=("\x1f", "g\x01"))

    assert ("https://a.example/", "ab", ("g",)) == (
        (read := only(write_opml("\x02", [feed], CREATED_AT))).url,
        read.title,
        read.groups,
    )


#: Names as the reader hands them out: white space folded, not empty.
NAMES: Final = (
    st.text("aé東&<>\"',;/ \n]", min_size=1, max_size=8).map(lambda text: " ".join(text.split())).filter(bool)
)
GROUPS: Final = st.lists(
    st.text("aé東&<>\"' ;", min_size=1, max_size=5).map(str.strip).filter(bool), min_size=1, max_size=3
).map(lambda names: " ".join("/".join(names).split()))
FEEDS: Final = st.builds(
    OpmlFeed,
    url=NAMES.map(lambda name: f"https://{name}"),
    title=NAMES,
    site_url=st.none() | NAMES,
    groups=st.lists(GROUPS, max_size=3, unique=True).map(tuple),
)


@given(NAMES, st.lists(FEEDS, max_size=8))
def test_what_is_written_is_read_again(title: str, feeds: list[OpmlFeed]) -> None:
    read = read_opml(write_opml(title, feeds, CREATED_AT))

    def facts(feed: OpmlFeed) -> tuple[str, str, str, tuple[str, ...]]:
        return feed.url, feed.title, feed.site_url or "", feed.groups

    assert title == read.title
    assert sorted(map(facts, feeds)) == sorted(map(facts, read.feeds))
    assert () == read.problems


def test_a_feed_on_a_late_line_has_that_line() -> None:
    # libxml2 counts to 65,535
    assert 70_004 == only(opml_of("\n" * 70_000 + FEED)).line


# ── what is out there ────────────────────────────────────────────────────────────────────────────────────────────

#: File → feeds, and the groups that occur. Counted by eye.
CORPUS: Final[dict[str, tuple[int, set[str]]]] = {
    "commafeed/opml_noversion.xml": (1, {"out1"}),
    "commafeed/opml_v1.0.xml": (1, {"out1"}),
    "feedvalidator/clean/category.opml": (0, set()),
    "feedvalidator/clean/outlineDocument.opml": (0, set()),
    "feedvalidator/clean/playlist.opml": (0, set()),
    "feedvalidator/clean/presentation.opml": (0, set()),
    "feedvalidator/clean/simpleScript.opml": (0, set()),
    "feedvalidator/clean/specification.opml": (0, set()),
    "feedvalidator/clean/states.opml": (0, set()),
    "feedvalidator/clean/subscriptionList.opml": (13, set()),
    "feedvalidator/errors/badlyFormedDateModified.opml": (0, set()),
    "feedvalidator/errors/badlyFormedEmail.opml": (0, set()),
    "feedvalidator/errors/missingOutline.opml": (0, set()),
    "feedvalidator/errors/missingTextAttributes.opml": (0, set()),
    "feedvalidator/errors/missingTitleAttribute.opml": (1, set()),
    "feedvalidator/errors/outlinesInWrongPlaces.opml": (0, set()),
    "feedvalidator/errors/subscriptionListErrors1.opml": (4, set()),
    "feedvalidator/errors/subscriptionListErrors2.opml": (4, set()),
    "feedvalidator/errors/subscriptionListErrors3.opml": (4, set()),
    "feedvalidator/errors/subscriptionListErrors4.opml": (4, set()),
    "feedvalidator/errors/unknownOutlineType.opml": (0, set()),
    "netnewswire/Subs.opml": (207, {"Macintosh", "Programming", "Weblogs", "Writers"}),
    "netnewswire/SubsNoTitleAttributes.opml": (207, {"Macintosh", "Programming", "Weblogs", "Writers"}),
    "newsboat/body-element-missing.opml": (0, set()),
    "newsboat/category.opml": (1, {"tag one", "tag_two", "tag/three"}),
    "newsboat/example.opml": (7, {"Blogs", "Blogs/friends", "eloquent"}),
    "newsboat/filtered.opml": (2, {"misc"}),
    "newsboat/piped.opml": (2, {"tagged"}),
    "rome/opml_1.0_links.xml": (0, set()),
    "rome/opml_2.0.xml": (11, {"Subscriptions", "Subscriptions/nerdy", "foo", "bar", "baz"}),
}


def test_every_list_that_is_out_there_is_read(corpora: Path) -> None:
    found = {}
    for path in sorted((corpora / "opml").rglob("*ml")):
        if path.suffix in (".opml", ".xml") and path.name != "twittergram.xml":
            read = read_opml(path.read_bytes())
            groups = {group for feed in read.feeds for group in feed.groups}
            found[path.relative_to(corpora / "opml").as_posix()] = (len(read.feeds), groups)

    assert found == CORPUS


def test_a_feed_with_opml_elements_in_it_is_no_list(corpora: Path) -> None:
    with pytest.raises(OpmlError, match="line 10: the root element is <rss>, not <opml>"):
        read_opml((corpora / "opml/feedvalidator/rss/twittergram.xml").read_bytes())


def test_a_list_that_is_out_there_comes_back_after_writing(corpora: Path) -> None:
    read = read_opml((corpora / "opml/netnewswire/Subs.opml").read_bytes())

    again = read_opml(write_opml(read.title, read.feeds, CREATED_AT))

    assert {(feed.url, feed.title, feed.groups) for feed in read.feeds} == {
        (feed.url, feed.title, feed.groups) for feed in again.feeds
    }
    assert "Subs" == again.title
