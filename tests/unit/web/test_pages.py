"""HTML from view models: all of it escaped, and what it promises to readers of every kind."""

from __future__ import annotations

import re
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from junkai.backend.listed import FailingFeed, HeldHost
from junkai.model import CrawlState
from junkai.web import assets
from junkai.web.overview import overview
from junkai.web.pages import Pages
from scene_of_the_page import NOW, ago, broker, facts, new_entry, no_day, snapshot, the

HOSTILE = "\"'><script>alert(1)</script><img src=x onerror=alert(2)>{{ 7 * 7 }}{% raw %}\u202e"


def html(*, theme: str = "", **different: Any) -> str:
    found = facts(**different)
    told = snapshot(trouble=HOSTILE, brokers=(broker(name=HOSTILE, version=HOSTILE),))
    return Pages(assets.load()).overview(overview(found, told, found.hour, no_day()), theme=theme)


def hostile_page() -> str:
    return html(
        newest=(
            new_entry(HOSTILE, f"https://a.example/{HOSTILE}", language=HOSTILE),
            new_entry(HOSTILE, "javascript:alert(3)"),
        ),
        failing=(
            FailingFeed(
                source_id=1, url=f"https://a.example/{HOSTILE}", title=HOSTILE, state=CrawlState.FETCH_ERROR, error=HOSTILE,
                http_status=None, attempts=2, last_visit_at=ago(5), due_at=NOW,
            ),
        ),
        held=(HeldHost(host=HOSTILE, why=HOSTILE, until=NOW, sources=1),),
        planned=((NOW, 5),),
    )  # fmt: skip


def test_nothing_that_a_feed_says_becomes_markup() -> None:
    page = LexborHTMLParser(hostile_page())

    assert ["/static/"] == [node.attributes["src"][:8] for node in page.css("script")]  # type: ignore[index]  # it has one
    assert [] == page.css("img, iframe, object, embed, base, form, style")
    attributes = {name for node in page.css("*") for name in node.attributes}
    assert set() == {name for name in attributes if name.startswith("on") or name == "style"}
    assert "{{ 7 * 7 }}" in the(page, "#newest").text()


def test_a_link_to_the_outside_is_http_and_tells_nothing() -> None:
    links = [node.attributes for node in LexborHTMLParser(hostile_page()).css("#newest a")]

    assert ["https://a.example/"] == [(link["href"] or "")[:18] for link in links]
    assert {"noopener noreferrer"} == {link["rel"] for link in links}


def test_every_text_of_a_feed_keeps_its_own_direction() -> None:
    page = LexborHTMLParser(hostile_page())

    assert {"auto"} == {node.attributes.get("dir") for node in page.css("#newest .clip")}
    assert "bdi" == the(the(page, "#failing .t1"), "*:not(.t1)").tag


def test_a_page_can_be_read_by_ear_and_by_keyboard() -> None:
    page = LexborHTMLParser(hostile_page())

    assert 1 == len(page.css("h1")) == len(page.css("main")) == len(page.css("nav[aria-label=Main]"))
    assert "#main" == the(page, "a.skip").attributes["href"]
    assert "en" == the(page, "html").attributes["lang"]
    assert all(node.attributes.get("aria-label") for node in page.css("svg[role=img]"))
    assert [] == [node for node in page.css("svg") if not {"role", "aria-hidden"} & set(node.attributes)]
    assert ["answer"] == [node.attributes["id"] for node in page.css("[aria-live]")]
    assert all(
        re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", node.attributes["datetime"] or "") for node in page.css("time")
    )


def test_every_id_is_there_once_and_every_reference_finds_one() -> None:
    page = LexborHTMLParser(hostile_page())
    ids = [node.attributes["id"] for node in page.css("[id]")]

    assert len(ids) == len(set(ids))
    assert {node.attributes["aria-labelledby"] for node in page.css("[aria-labelledby]")} <= set(ids)
    assert {(node.attributes["href"] or "")[1:] for node in page.css("use")} <= set(ids)


def test_what_is_swapped_in_place_has_a_name() -> None:
    live = [node.attributes.get("id") for node in LexborHTMLParser(hostile_page()).css("[data-live]")]

    assert {"live", "answer", "stats", "visits", "due", "failing", "newest", "brokers", "held"} <= set(live)


@pytest.mark.parametrize(("theme", "expected"), [("", None), ("dark", "dark"), ("light", "light")])
def test_a_theme_is_said_on_the_root(theme: str, expected: str | None) -> None:
    page = LexborHTMLParser(html(theme=theme))

    assert expected == the(page, "html").attributes.get("data-theme")


def test_no_link_is_dead() -> None:
    page = LexborHTMLParser(html())
    links = {(node.attributes["href"] or "").partition("?")[0] for node in page.css("a[href]")}

    assert {"/", "/metrics", "#main"} == links


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ("`junkai add` makes it", "<code>junkai add</code> makes it"),
        ("`<b>`", "<code>&lt;b&gt;</code>"),
        ("a ` alone <b>", "a ` alone &lt;b&gt;"),
    ],
)
def test_a_command_in_a_sentence_is_set_as_code_and_nothing_else_becomes_markup(told: str, shown: str) -> None:
    assert shown in Pages(assets.load()).trouble("A title", told, theme="")


def test_a_trouble_is_escaped_too() -> None:
    page = LexborHTMLParser(Pages(assets.load()).trouble("A title", HOSTILE, theme=""))

    assert 1 == len(page.css("script"))
    assert "<script>alert(1)</script>" in the(page, ".note").text()
