from __future__ import annotations

import pytest

from contract.scene import T0, add, after, claim, claim_one, record_of, urls_of, visit_all
from junkai.backend.listed import FeedFilter
from junkai.backend.protocol import NewSource, Store
from junkai.errors import StoreError, UrlError
from junkai.model import CrawlState, SourceKind


def test_a_new_source_is_due_at_once_and_true_is_answered(store: Store) -> None:
    is_new = add(store, "https://a.test/feed", "https://b.test/feed")

    assert [True, True] == is_new
    assert ["https://a.test/feed", "https://b.test/feed"] == sorted(urls_of(claim(store)))


def test_a_url_given_twice_in_one_batch_is_one_source(store: Store) -> None:
    is_new = add(store, "https://a.test/feed", "https://A.test:443/feed#top", "https://a.test/feed")

    assert [True, False, False] == is_new
    assert 1 == store.statistics.counts(T0).sources


def test_a_known_url_is_never_reset_and_gains_the_subscription(store: Store) -> None:
    add(store, "https://a.test/feed")
    visit_all(store, claim(store), why="as decided")
    before = store.catalogue.feed("https://a.test/feed").source.state

    is_new = add(store, "https://a.test/feed", now=after(60), owner="ann", groups=("news",), title="Ann's")

    row = store.catalogue.feed("https://a.test/feed")
    assert [False] == is_new
    assert before == row.source.state
    assert ("", "ann") == row.owners
    assert ("news",) == row.groups
    assert 2 == row.source.subscribers
    assert [] == claim(store, after(60))


def test_adding_again_only_gains_what_was_not_said_before(store: Store) -> None:
    add(store, "https://a.test/feed", title="Mine", site_url="https://a.test/", groups=("news",))

    add(store, "https://a.test/feed", groups=("tech",))

    row = store.catalogue.feed("https://a.test/feed")
    assert "Mine" == row.title
    assert ("news", "tech") == row.groups


def test_the_operators_interval_is_set_by_the_last_word(store: Store) -> None:
    add(store, "https://a.test/feed", explicit_interval_s=600.0)
    add(store, "https://a.test/feed")
    add(store, "https://b.test/feed", explicit_interval_s=600.0)
    add(store, "https://b.test/feed", explicit_interval_s=900.0)

    intervals = [row.source.explicit_interval_s for row in store.catalogue.feeds(FeedFilter())]
    assert [600.0, 900.0] == intervals


def test_the_url_is_kept_as_written(store: Store) -> None:
    add(store, "https://a.test/feed?b=%7e&a=1", kind=SourceKind.SITEMAP)

    row = store.catalogue.feed("https://a.test/feed?b=~&a=1")

    assert "https://a.test/feed?b=%7e&a=1" == row.source.url
    assert SourceKind.SITEMAP == row.source.kind
    assert CrawlState.DISCOVERED == row.source.state.state
    assert T0 == row.added_at


def test_one_bad_source_and_none_is_added(store: Store) -> None:
    with pytest.raises(UrlError):
        add(store, "https://a.test/feed", "gopher://b.test/")
    with pytest.raises(StoreError, match="cannot hold"):
        store.frontier.add([NewSource(url="https://a.test/"), NewSource(url="https://b.test/", title="\ud800")], T0)

    assert 0 == store.statistics.counts(T0).sources
    assert 0 == store.statistics.counts(T0).hosts


def test_adding_to_a_sleeping_host_wakes_it(store: Store) -> None:
    add(store, "https://a.test/1")
    visit_all(store, claim(store))

    add(store, "https://a.test/2", now=after(10))

    assert ["https://a.test/2"] == urls_of(claim(store, after(10)))


def test_a_host_that_is_woken_still_waits_for_its_floor(store: Store) -> None:
    add(store, "https://a.test/1")
    visit_all(store, claim(store))

    add(store, "https://a.test/2", now=after(0.5))

    assert [] == claim(store, after(0.999))
    assert ["https://a.test/2"] == urls_of(claim(store, after(1)))


def test_what_is_added_to_a_host_in_a_turn_is_not_lost_at_its_release(store: Store, other: Store) -> None:
    add(store, "https://a.test/1")
    turn = claim_one(store)

    add(other, "https://a.test/2", now=after(1))
    during = claim(other, after(1))
    store.frontier.record([record_of(turn)], after(2))
    store.frontier.release([turn.ref], after(2))

    assert [] == during
    assert ["https://a.test/2"] == urls_of(claim(store, after(2)))


def test_what_is_added_to_a_host_in_a_turn_is_not_lost_when_the_turn_dies(store: Store) -> None:
    add(store, "https://a.test/1")
    claim_one(store)

    add(store, "https://a.test/2", now=after(1))

    assert [] == claim(store, after(120.9))
    assert ["https://a.test/1", "https://a.test/2"] == urls_of(claim(store, after(121)))


def test_nothing_to_add_is_fine(store: Store) -> None:
    assert [] == store.frontier.add([], T0)


def test_ten_thousand_known_urls_add_nothing(store: Store) -> None:
    sources = [NewSource(url=f"https://a.test/{number}") for number in range(5_000)]

    first = store.frontier.add(sources, T0)
    again = store.frontier.add([*sources, *reversed(sources)], after(1))

    assert [True] * 5_000 == first
    assert [False] * 10_000 == again
    assert 5_000 == store.statistics.counts(T0).sources
