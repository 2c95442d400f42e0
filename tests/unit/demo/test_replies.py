"""A made-up publisher's server: conditional requests as RFC 9110 has them, and each quirk as it is meant."""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from junkai.demo.feeds import Publisher, Quirk, Validators, publishers
from junkai.demo.replies import FEED_PATH, MOVED_PATH, Desk, Reply

STARTED_AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@dataclass
class Client:
    """Asks one publisher at moments of its own."""

    quirk: Quirk = Quirk.NONE
    validators: Validators = Validators.BOTH
    now: datetime = STARTED_AT
    desk: Desk = field(init=False)
    publisher: Publisher = field(init=False)

    def __post_init__(self) -> None:
        self.publisher = msgspec.structs.replace(
            publishers(1, seed=1)[0], quirk=self.quirk, validators=self.validators, period_seconds=60.0
        )
        self.desk = Desk(self.publisher, STARTED_AT, away="http://127.77.9.9:80")

    def get(self, path: str = FEED_PATH, *, is_away: bool = False, **fields: str) -> Reply:
        """Names of fields as they are, but for the hyphens."""
        lower = {name.replace("_", "-"): value for name, value in fields.items()}
        return self.desk.reply(path, lower, self.now, is_away=is_away)


def test_what_was_given_as_validators_brings_a_304_until_the_next_publication() -> None:
    client = Client()
    given = dict(client.get().fields)
    unchanged = [
        client.get(if_none_match=given["ETag"]),
        client.get(if_none_match='"other", ' + given["ETag"].removeprefix("W/")),
        client.get(if_modified_since=given["Last-Modified"]),
    ]
    client.now = client.publisher.changes_at(STARTED_AT, STARTED_AT) + SECOND
    changed = [client.get(if_none_match=given["ETag"]), client.get(if_modified_since=given["Last-Modified"])]

    assert [304] * 3 == [reply.status for reply in unchanged]
    assert [b""] * 3 == [reply.body for reply in unchanged]
    assert [200] * 2 == [reply.status for reply in changed]


def test_an_etag_that_differs_outweighs_a_date_that_does_not() -> None:
    client = Client()
    given = dict(client.get().fields)

    assert 200 == client.get(if_none_match='"old"', if_modified_since=given["Last-Modified"]).status
    assert 200 == client.get(if_modified_since="yesterday").status


@pytest.mark.parametrize(
    ("validators", "given"),
    [
        (Validators.BOTH, {"ETag", "Last-Modified"}),
        (Validators.ETAG, {"ETag"}),
        (Validators.LAST_MODIFIED, {"Last-Modified"}),
        (Validators.NONE, set()),
    ],
)
def test_only_the_validators_of_that_server_are_given(validators: Validators, given: set[str]) -> None:
    client = Client(validators=validators)

    assert given == {"ETag", "Last-Modified"} & {name for name, _ in client.get().fields}


def test_gzip_comes_only_when_asked_for() -> None:
    client = Client()
    plain, packed = client.get(), client.get(accept_encoding="gzip, br")

    assert plain.body == gzip.decompress(packed.body)
    assert ("Content-Encoding", "gzip") in packed.fields
    assert "Content-Encoding" not in dict(plain.fields)


@pytest.mark.parametrize(
    ("quirk", "status"),
    [(Quirk.GONE, 410), (Quirk.MISSING, 404), (Quirk.UNAVAILABLE, 503), (Quirk.LIMITED, 429), (Quirk.HTML, 200)],
)
def test_a_refusal_has_its_status_and_no_feed(quirk: Quirk, status: int) -> None:
    reply = Client(quirk=quirk).get()

    assert status == reply.status
    assert b"<rss" not in reply.body
    assert b"<feed" not in reply.body


def test_who_waits_out_a_429_is_served_and_who_does_not_is_told_again() -> None:
    client = Client(quirk=Quirk.LIMITED)
    told = []
    for seconds in (0, 10, 30, 31):
        client.now = STARTED_AT + seconds * SECOND
        reply = client.get()
        told.append((reply.status, dict(reply.fields).get("Retry-After")))

    assert [(429, "30"), (429, "20"), (200, None), (429, "30")] == told


@pytest.mark.parametrize(
    ("quirk", "status", "location", "is_away"),
    [
        (Quirk.MOVED_HERE, 301, MOVED_PATH, False),
        (Quirk.MOVED_AWAY, 301, "http://127.77.9.9:80" + FEED_PATH, True),
        (Quirk.AWAY_FOR_NOW, 302, "http://127.77.9.9:80" + FEED_PATH, True),
    ],
)
def test_a_feed_that_moved_is_found_where_it_says(quirk: Quirk, status: int, location: str, *, is_away: bool) -> None:
    client = Client(quirk=quirk)
    reply = client.get()
    path = "/" + location.removeprefix("http://").split("/", 1)[1]

    assert (status, location) == (reply.status, dict(reply.fields)["Location"])
    assert 200 == client.get(path, is_away=is_away).status


def test_bad_deliveries_are_what_they_are_called() -> None:
    huge, drip, empty, slow = (Client(quirk=quirk).get() for quirk in (Quirk.HUGE, Quirk.DRIP, Quirk.EMPTY, Quirk.SLOW))
    truncated = Client(quirk=Quirk.TRUNCATED).get()

    assert len(huge.body) * huge.repeats > 10 << 20
    assert 1.0 == drip.drip_seconds
    assert (200, b"") == (empty.status, empty.body)
    assert 2 <= slow.delay_seconds < 6
    assert truncated.length_claimed is not None
    assert len(truncated.body) < truncated.length_claimed


def test_the_front_page_names_the_feed_and_nothing_else_is_there() -> None:
    client = Client()

    assert f'href="{FEED_PATH}"'.encode() in client.get("/").body
    assert 404 == client.get("/robots.txt").status
