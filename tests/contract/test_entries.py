from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing

import pytest

from contract.scene import T0, add, after, claim, entry, record_of, visit_all
from junkai.backend.listed import EntryFilter
from junkai.backend.protocol import Recorded, Store
from junkai.document import Category, Enclosure, Entry, Person
from junkai.errors import UnknownSourceError
from junkai.model import Record

A, B = "https://a.test/1", "https://b.test/1"


def titles(store: Store, **which: object) -> list[str]:
    return [stored.entry.title for stored in store.entries.recent(EntryFilter(**which))]  # type: ignore[arg-type]  # one field each


def publish(store: Store, now_s: float, **by_host: list[Entry]) -> None:
    """Each host's source publishes; all are due every minute."""
    turns = [each for each in claim(store, after(now_s)) if each.sources]
    records = [record_of(each, now=after(now_s), due_in_s=60, entries=by_host.get(each.host[0], [])) for each in turns]
    store.frontier.record(records, after(now_s))
    store.frontier.release([each.ref for each in turns], after(now_s))


def test_an_entry_comes_back_as_it_was_given(store: Store) -> None:
    given = entry(
        "one",
        "<p>text — 巡回</p>",
        url="https://a.test/one",
        authors=(Person(name="Ann", email="ann@a.test", uri="https://a.test/ann"),),
        published_at=after(-3600.5),
        updated_at=after(-60),
        summary_html="<p>short</p>",
        categories=(Category(term="t", scheme="s", label="l"),),
        enclosures=(Enclosure(url="https://a.test/a.mp3", type="audio/mpeg", length=5, duration_s=1.5),),
        image_url="https://a.test/i.png",
        comments_url="https://a.test/c",
        language="ja",
    )
    add(store, A)
    visit_all(store, claim(store), entries=[given])

    [stored] = store.entries.recent(EntryFilter())

    assert given == stored.entry
    assert (A, T0, 1) == (stored.feed_url, stored.first_seen_at, stored.revision)


def test_recent_entries_come_newest_first_by_what_is_asked_for(store: Store) -> None:
    add(store, A, owner="ann", groups=("news",))
    add(store, B, owner="bob")
    publish(store, 0, a=[entry("a1")], b=[entry("b1")])
    publish(store, 60, a=[entry("a2"), entry("a1", "edited")], b=[entry("b2")])

    assert {"a2", "b2"} == set(titles(store)[:2])
    assert {"a1", "b1"} == set(titles(store)[2:])
    assert ["a2", "a1"] == titles(store, feed_url=A)
    assert ["a2", "a1"] == titles(store, owner="ann")
    assert ["a2", "a1"] == titles(store, group="news")
    assert ["b2"] == titles(store, feed_url=B, since=after(60))
    assert ["a2"] == titles(store, feed_url=A, limit=1)
    assert [] == titles(store, owner="nobody")
    assert [] == titles(store, limit=0)


def test_an_unknown_feed_is_an_error_before_any_entry_is_read(store: Store) -> None:
    with pytest.raises(UnknownSourceError, match=r"nobody\.test"):
        store.entries.recent(EntryFilter(feed_url="https://nobody.test/"))


def test_a_long_list_is_whole_and_in_order(store: Store) -> None:
    add(store, A)
    visit_all(store, claim(store), entries=[entry(str(number)) for number in range(705)])

    found = [stored.seq for stored in store.entries.recent(EntryFilter())]

    assert 705 == len(set(found))
    assert sorted(found, reverse=True) == found
    assert 404 == len(titles(store, limit=404))


def test_a_cursor_sees_each_new_and_each_updated_entry_once(store: Store) -> None:
    add(store, A)
    publish(store, 0, a=[entry("one"), entry("two")])
    first = store.entries.after(0, 10)
    publish(store, 60, a=[entry("one"), entry("two", "edited"), entry("three")])

    second = store.entries.after(first[-1].seq, 10)

    assert ["one", "two"] == [stored.entry.title for stored in first]
    assert [("two", 2), ("three", 1)] == [(stored.entry.title, stored.revision) for stored in second]
    assert ["two"] == [stored.entry.title for stored in store.entries.after(first[-1].seq, 1)]
    assert [] == store.entries.after(second[-1].seq, 10)


def test_a_cursor_meets_no_number_twice_even_when_the_last_entries_were_removed(store: Store) -> None:
    add(store, A, B)
    publish(store, 0, a=[entry("gone")])
    [last] = store.entries.after(0, 10)
    store.catalogue.remove(A)

    publish(store, 60, b=[entry("new")])

    assert ["new"] == [stored.entry.title for stored in store.entries.after(last.seq, 10)]


def test_a_cursor_misses_nothing_while_writers_wait_for_each_other(
    store: Store, other: Store, opened: Callable[..., Store]
) -> None:
    """One writer's commit is delayed (a big batch), another wants in, and a reader pages all the while."""
    add(store, *(f"https://{name}.test/" for name in "abcdefgh"))
    turns = {each.host[0]: each for each in claim(store)}
    slow = [record_of(turns["a"], entries=[entry(f"slow {number}", "x" * 2_000) for number in range(4_000)])]
    quick = [record_of(turns[name], entries=[entry(name)]) for name in "bcdefgh"]
    has_begun = threading.Event()
    recorded: list[Recorded] = []

    def write(handle: Store, batches: list[list[Record]]) -> None:
        has_begun.wait(10)
        for batch in batches:
            recorded.extend(handle.frontier.record(batch, T0))

    writers = [
        threading.Thread(target=write, args=(other, [slow])),
        threading.Thread(target=write, args=(store, [[each] for each in quick])),
    ]
    with closing(opened()) as reader:
        for writer in writers:
            writer.start()
        has_begun.set()
        seen: list[str] = []
        cursor = 0
        is_last_page = False
        while not is_last_page:
            is_last_page = not any(writer.is_alive() for writer in writers)
            while page := reader.entries.after(cursor, 500):
                seen += [stored.entry.title for stored in page]
                cursor = page[-1].seq

    assert 4_007 == sum(each.entries_new for each in recorded)
    assert 4_007 == len(seen)
    assert 4_007 == len(set(seen))
