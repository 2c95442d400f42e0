from __future__ import annotations

from contract.scene import T0, add, after, claim_one, urls_of, visit_all
from junkai.backend.protocol import NewSource, Store


def test_a_host_of_many_feeds_hands_out_the_few_that_are_due(store: Store) -> None:
    store.frontier.add([NewSource(url=f"https://blogs.test/{number}") for number in range(600)], T0)
    visit_all(store, [claim_one(store, sources_per_host_max=1_000)])
    for number in range(10):
        store.catalogue.refresh(f"https://blogs.test/{number}", after(60))

    turn = claim_one(store, after(60))

    assert {f"https://blogs.test/{number}" for number in range(10)} == set(urls_of([turn]))


def test_sources_come_back_to_their_own_hosts_from_one_that_all_of_them_moved_through(store: Store) -> None:
    urls = [f"https://h{number}.test/" for number in range(6)]
    add(store, *urls)
    for number in range(6):
        visit_all(store, [claim_one(store, hosts_max=1)], due_in_s=0, pending_url=f"https://hub.test/{number}")

    there = claim_one(store, after(1))
    visit_all(store, [there], after(1), due_in_s=60)

    assert "hub.test" == there.host
    assert sorted(urls) == sorted(urls_of([there]))
    assert [f"h{number}.test" for number in range(6)] == [store.catalogue.feed(url).source.host for url in urls]
    assert sorted(urls) == sorted(url for _ in range(6) for url in urls_of([claim_one(store, after(61), hosts_max=1)]))
