"""The types of the pipeline: frozen, and the same after a way through JSON or MessagePack."""

from __future__ import annotations

import inspect
from datetime import UTC, datetime
from typing import Any, Final

import msgspec
import pytest

from junkai import model
from junkai.document import Category, Document, Enclosure, Entry, IdSource, Person, Problem
from junkai.errors import FailureKind
from junkai.model import (
    Claim,
    CrawlState,
    Decision,
    Failed,
    FeedHints,
    Fetched,
    Freshness,
    Gone,
    Hold,
    Hop,
    Move,
    NotModified,
    Outcome,
    RateLimited,
    Record,
    Redirected,
    Rhythm,
    Source,
    SourceKind,
    SourceState,
    Turn,
    TurnRef,
    TurnSource,
    Validators,
    Visit,
)

NOW: Final = datetime(2026, 3, 1, 12, 30, 0, 123_456, tzinfo=UTC)
URL: Final = "https://a.example/feed"
REF: Final = TurnRef(host_id=1, turn_no=2**40)
#: A header is bytes; latin-1 keeps each of them.
VALIDATORS: Final = Validators(url=URL, etag='W/"\xe9\xff"', last_modified="Sun, 01 Mar 2026 12:30:00 GMT")
HOP: Final = Hop(url=URL, status=308, to="https://b.example/")
ENTRY: Final = Entry(
    id="tag:a.example,2026:1",
    id_source=IdSource.COMPOSITE,
    url=f"{URL}/1",
    title="東京 😀",
    authors=(Person(name="A", email="a@a.example", uri=URL),),
    published_at=NOW,
    content_html="<p>x</p>",
    categories=(Category(term="t", scheme="s", label="l"),),
    enclosures=(Enclosure(url=URL, type="audio/mpeg", length=0, duration_s=1.5),),
    id_hash=bytes(range(16)),
    content_hash=b"\xff" * 8,
)
DOCUMENT: Final = Document(
    format="atom",
    hub_urls=(URL,),
    updated_at=NOW,
    skip_hours=(0, 23),
    entries=(ENTRY,),
    problems=(Problem(code="bare_ampersand", message="m", line=3),),
    entry_count=1,
    posted_at=(NOW,),
    known=b"\0" * 16,
)
OUTCOMES: Final[list[Outcome]] = [
    Fetched(
        status=200, validators=VALIDATORS, body_hash=b"\0\xff", document=DOCUMENT, freshness=Freshness(fresh_s=0.5)
    ),
    Fetched(status=200, validators=VALIDATORS, body_hash=b"", document=None),
    NotModified(etag='"x"'),
    Redirected(to=URL, status=307),
    Gone(status=410),
    RateLimited(status=503, retry_after_s=120.0),
    RateLimited(status=429),
    Failed(kind=FailureKind.TLS, detail="expired", status=None),
]
VISITS: Final = [
    Visit(source_id=7, url=URL, started_at=NOW, ended_at=NOW, outcome=outcome, hops=(HOP,)) for outcome in OUTCOMES
]
STATE: Final = SourceState(
    state=CrawlState.FETCH_ERROR,
    due_at=NOW,
    attempts=3,
    validators=VALIDATORS,
    body_hash=b"\x80",
    rhythm=Rhythm(gap_s=3_600.0, newest_at=NOW),
    hints=FeedHints(skip_days=(6,)),
    move=Move(to=URL, seen=2, first_seen_at=NOW),
    pending_hops=(HOP,),
)
SOURCE: Final = Source(source_id=7, url=URL, host="a.example", kind=SourceKind.SITEMAP, state=STATE)
TURN: Final = Turn(
    ref=REF, host="a.example", turn_until=NOW, delay_s=1.0, sources=(TurnSource(source_id=7, url=URL, hops=(HOP,)),)
)
CLAIM: Final = Claim(
    ref=REF, host="a.example", slot=1, domain="a.example", lease_until=NOW, delay_s=0.0, sources=(SOURCE,)
)
DECISION: Final = Decision(state=STATE, hold=Hold(until=NOW, why="429"), new_url=URL)
VALUES: Final = [*VISITS, TURN, CLAIM, DECISION, Record(ref=REF, visit=VISITS[0], decision=DECISION, floor_at=NOW)]
NAMES: Final = [f"{type(value).__name__}-{number}" for number, value in enumerate(VALUES)]
STRUCTS: Final = [
    struct for _, struct in inspect.getmembers(model, inspect.isclass) if issubclass(struct, msgspec.Struct)
]


@pytest.mark.parametrize("value", VALUES, ids=NAMES)
def test_a_value_is_the_same_after_json(value: msgspec.Struct) -> None:
    assert value == msgspec.json.decode(msgspec.json.encode(value), type=type(value))


@pytest.mark.parametrize("value", VALUES, ids=NAMES)
def test_a_value_is_the_same_after_messagepack(value: msgspec.Struct) -> None:
    assert value == msgspec.msgpack.decode(msgspec.msgpack.encode(value), type=type(value))


@pytest.mark.parametrize("outcome", OUTCOMES, ids=lambda outcome: type(outcome).__name__)
def test_an_outcome_comes_back_as_its_own_kind(outcome: Outcome) -> None:
    assert type(outcome) is type(msgspec.json.decode(msgspec.json.encode(outcome), type=Outcome))


@pytest.mark.parametrize("value", [VISITS[0], TURN, CLAIM], ids=lambda value: type(value).__name__)
def test_a_field_of_a_later_version_is_passed_over(value: msgspec.Struct) -> None:
    fields: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(value))
    later = msgspec.json.encode({**fields, "a_later_field": {"x": [1]}})

    assert value == msgspec.json.decode(later, type=type(value))


def test_a_default_is_not_written() -> None:
    assert b'{"source_id":7,"url":"https://a.example/feed"}' == msgspec.json.encode(TurnSource(source_id=7, url=URL))


@pytest.mark.parametrize("struct", STRUCTS, ids=lambda struct: struct.__name__)
def test_every_type_is_frozen(struct: type[msgspec.Struct]) -> None:
    assert struct.__struct_config__.frozen
    assert struct.__struct_config__.omit_defaults


@pytest.mark.parametrize(
    ("status", "is_permanent"), [(301, True), (308, True), (302, False), (303, False), (307, False)]
)
def test_a_permanent_redirect_is_301_or_308(status: int, is_permanent: bool) -> None:
    assert is_permanent is Hop(url=URL, status=status, to=URL).is_permanent
