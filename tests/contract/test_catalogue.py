from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest

from contract.scene import T0, add, after, claim, claim_one, entry, record_of, titles_of, urls_of, visit_all
from junkai.backend.listed import FeedFilter
from junkai.backend.protocol import Store
from junkai.errors import UnknownSourceError
from junkai.model import CrawlState, Hold, Validators

A, B, C = "https://a.test/1", "https://b.test/1", "https://c.test/1"


def listed(store: Store, **which: object) -> list[str]:
    return sorted(row.source.url for row in store.catalogue.feeds(FeedFilter(**which)))  # type: ignore[arg-type]  # one field each


def test_sources_are_listed_by_what_is_asked_for(store: Store) -> None:
    add(store, A, owner="ann", groups=("news", "tech"))
    add(store, B, owner="bob", groups=("news",))
    add(store, C)
    visit_all(store, [each for each in claim(store) if each.host == "b.test"])

    assert [A, B, C] == listed(store)
    assert [A] == listed(store, owner="ann")
    assert [C] == listed(store, owner="")
    assert [A, B] == listed(store, group="news")
    assert [B] == listed(store, state=CrawlState.FETCHED)
    assert [A, C] == listed(store, state=CrawlState.DISCOVERED)
    assert [C] == listed(store, host="c.test")
    assert [A] == listed(store, url="HTTPS://A.test/1#x")
    assert [] == listed(store, url="https://nobody.test/")
    assert [] == listed(store, url="no url")
    assert [B] == listed(store, group="news", owner="bob", host="b.test", state=CrawlState.FETCHED, url=B)
    assert [] == listed(store, group="tech", owner="bob")


def test_a_long_list_is_whole_and_holds_nothing_up(store: Store, other: Store) -> None:
    urls = [f"https://a.test/{number}" for number in range(1_203)]
    add(store, *urls)
    rows = store.catalogue.feeds(FeedFilter())
    first = next(rows)

    add(other, "https://z.test/")

    assert {*urls, "https://z.test/"} >= {row.source.url for row in (first, *rows)} >= set(urls)


def test_a_feeds_title_is_the_subscribers_else_the_documents(store: Store) -> None:
    add(store, A)
    visit_all(store, claim(store), title="The document's")
    of_document = store.catalogue.feed(A).title
    add(store, A, owner="ann", title="Ann's")
    add(store, A, owner="bob", title="Bob's")

    [of_bob] = store.catalogue.feeds(FeedFilter(owner="bob"))
    assert "The document's" == of_document
    assert "Ann's" == store.catalogue.feed(A).title
    assert "Bob's" == of_bob.title


def test_a_feed_says_why_its_host_waits(store: Store) -> None:
    add(store, A)
    visit_all(store, claim(store), hold=Hold(until=after(60), why="Retry-After"))

    row = store.catalogue.feed(A)
    assert (after(60), "Retry-After") == (row.host_not_before, row.host_hold_why)


@pytest.mark.parametrize(
    "ask",
    [
        lambda store: store.catalogue.feed("https://nobody.test/"),
        lambda store: store.catalogue.pause("https://nobody.test/", T0),
        lambda store: store.catalogue.resume("https://nobody.test/", T0),
        lambda store: store.catalogue.remove("https://nobody.test/"),
        lambda store: store.catalogue.refresh("https://nobody.test/", T0),
        lambda store: store.catalogue.pause("no url", T0),
    ],
)
def test_an_unknown_source_is_an_error_that_names_it(store: Store, ask: Callable[[Store], object]) -> None:
    with pytest.raises(UnknownSourceError, match=r"nobody\.test|no url"):
        ask(store)


# ── pause and resume ─────────────────────────────────────────────────────────────────────────────────────────────


def test_a_paused_source_is_never_claimed_until_resumed(store: Store) -> None:
    add(store, A)
    store.catalogue.pause(A, T0)
    add(store, A, now=after(1))
    paused = store.catalogue.feed(A)
    while_paused = urls_of(claim(store, after(10 * 365 * 86_400)))

    store.catalogue.resume(A, after(60))

    assert paused.is_paused
    assert None is paused.source.state.due_at
    assert [] == while_paused
    assert not store.catalogue.feed(A).is_paused
    assert [A] == urls_of(claim(store, after(10 * 366 * 86_400)))


def test_a_source_paused_during_its_visit_stays_paused_and_keeps_the_visit(store: Store, other: Store) -> None:
    add(store, A)
    turn = claim_one(store)
    other.catalogue.pause(A, after(1))

    visit_all(store, [turn], after(2), entries=[entry("one")])

    row = store.catalogue.feed(A)
    assert row.is_paused
    assert None is row.source.state.due_at
    assert ["one"] == titles_of(store)
    assert None is store.frontier.next_ready_at()


def test_a_source_that_was_given_up_is_asked_again_when_resumed(store: Store) -> None:
    add(store, A)
    visit_all(store, claim(store), state=CrawlState.ERROR, due_in_s=None, attempts=4, error="gone (HTTP 410)")

    store.catalogue.resume(A, after(60))

    state = store.catalogue.feed(A).source.state
    assert (CrawlState.FETCH_ERROR, 0, after(60)) == (state.state, state.attempts, state.due_at)
    assert [A] == urls_of(claim(store, after(60)))


# ── refresh ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_refreshed_source_is_due_now_and_its_host_keeps_its_floor(store: Store) -> None:
    add(store, A)
    visit_all(store, claim(store))

    assert 1 == store.catalogue.refresh(A, after(0.5))
    assert after(0.5) == store.catalogue.feed(A).source.state.due_at
    assert [] == claim(store, after(0.9))
    assert [A] == urls_of(claim(store, after(1)))


def test_all_active_sources_are_refreshed_and_no_others(store: Store) -> None:
    urls = [f"https://{name}.test/" for name in "abcde"]
    add(store, *urls)
    by_host = {each.host: each for each in claim(store)}
    visit_all(store, [by_host["a.test"], by_host["b.test"]])
    visit_all(store, [by_host["c.test"]], state=CrawlState.ERROR, due_in_s=None)
    visit_all(store, [by_host["e.test"]], hold=Hold(until=after(600), why="Retry-After"))
    store.catalogue.pause("https://b.test/", T0)

    count = store.catalogue.refresh(None, after(10))

    assert 3 == count
    assert ["https://a.test/"] == urls_of(claim(store, after(10)))
    assert T0 == store.catalogue.feed("https://d.test/").source.state.due_at, "what was due already stays first in line"


def test_a_paused_source_stays_paused_when_refreshed(store: Store) -> None:
    add(store, A)
    store.catalogue.pause(A, T0)

    assert 0 == store.catalogue.refresh(A, T0)
    assert store.catalogue.feed(A).is_paused


@pytest.mark.parametrize("url", [A, None])
def test_an_unconditional_refresh_forgets_the_body_and_duplicates_no_entry(store: Store, url: str | None) -> None:
    add(store, A)
    held = Validators(url=A, etag='"1"')
    visit_all(store, claim(store), entries=[entry("one")], validators=held, body_hash=b"body", known=b"k" * 16)

    store.catalogue.refresh(url, after(60), is_unconditional=True)

    turn = claim_one(store, after(60))
    state = turn.sources[0].state
    assert (None, b"", b"") == (state.validators, state.body_hash, state.known)
    [recorded] = visit_all(store, [turn], after(60), entries=[entry("one")])
    assert (0, 0) == (recorded.entries_new, recorded.entries_updated)
    assert ["one"] == titles_of(store)


# ── remove ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_removed_source_is_forgotten_with_all_that_hangs_on_it(store: Store) -> None:
    add(store, A, B, owner="ann", groups=("news",))
    visit_all(store, claim(store), entries=[entry("one"), entry("two")])

    assert 2 == store.catalogue.remove(A)
    assert [B] == listed(store)
    assert [B] == listed(store, group="news")
    assert [("ann", 1)] == store.catalogue.owners()
    assert 2 == store.statistics.counts(T0).entries


def test_a_removed_source_added_again_starts_anew_behind_the_floor(store: Store) -> None:
    add(store, A)
    visit_all(store, claim(store), entries=[entry("one")])
    store.catalogue.remove(A)

    assert [True] == add(store, A, now=after(0.5))
    assert [] == claim(store, after(0.9))
    [source] = claim_one(store, after(1)).sources
    assert CrawlState.DISCOVERED == source.state.state


def test_a_removed_sources_earlier_url_is_free_again(store: Store) -> None:
    add(store, A)
    visit_all(store, claim(store), new_url=B)
    store.catalogue.remove(B)

    assert [True, True] == add(store, A, B)


def test_owners_and_their_numbers(store: Store) -> None:
    add(store, A, B, owner="ann")
    add(store, A)

    assert [("", 1), ("ann", 2)] == store.catalogue.owners()


def test_what_was_added_while_a_turn_ran_keeps_its_own_moment(store: Store) -> None:
    moments: list[datetime | None] = []
    for number in range(2):
        add(store, f"https://a.test/{number}", now=after(number))
        moments.append(store.catalogue.feed(f"https://a.test/{number}").added_at)
        store.frontier.record([record_of(each) for each in claim(store, after(number))], after(number))

    assert [T0, after(1)] == moments
