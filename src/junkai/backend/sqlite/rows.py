"""Rows of the source table in, `model.Source` out; a `SourceState` in, the values of its columns out. The hot path."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

import msgspec

from junkai import url as urls
from junkai.backend.sqlite.connection import Row
from junkai.clock import from_ms, to_ms
from junkai.document import Entry
from junkai.immutable import Struct
from junkai.model import CrawlState, FeedHints, Hop, Move, Rhythm, Source, SourceKind, SourceState, Validators


class _Rest(Struct, kw_only=True, frozen=True):
    """The part of a SourceState that no query asks for. Fields are only ever added."""

    rhythm: Rhythm = Rhythm()
    hints: FeedHints = FeedHints()
    move: Move | None = None
    pending_hops: tuple[Hop, ...] = ()
    unconditional_at: datetime | None = None
    parser_version: int = 0
    title: str = ""
    site_url: str | None = None
    recent: bytes = b""


_STATES: Final = {state.value: state for state in CrawlState}
_KINDS: Final = {kind.value: kind for kind in SourceKind}
_encode: Final = msgspec.msgpack.Encoder().encode
_decode_rest: Final = msgspec.msgpack.Decoder(_Rest).decode
_decode_entry: Final = msgspec.msgpack.Decoder(Entry).decode


def to_ms_up(moment: datetime) -> int:
    """Milliseconds, rounded up: a floor must not fall before its moment."""
    return -(-(moment - from_ms(0)) // _MILLISECOND)


_MILLISECOND: Final = from_ms(1) - from_ms(0)


def moment(milliseconds: int | None) -> datetime | None:
    """A column that may be NULL."""
    return None if milliseconds is None else from_ms(milliseconds)


#: What `source_of` reads, of `source`, in its order.
SOURCE_COLUMNS: Final = """source.source_id, source.url, source.kind, source.downloader, source.explicit_interval_s,
  source.state, source.due_at, source.why, source.attempts, source.error, source.http_status, source.interval_s,
  source.etag, source.last_modified, source.validators_url, source.body_hash, source.known, source.pending_url,
  source.last_visit_at, source.rest,
  (SELECT count(*) FROM subscription WHERE subscription.source_id = source.source_id)"""
SOURCE_WIDTH: Final = 21
DUE_AT: Final = 6


def source_of(row: Row, host: str, *, is_exempt: bool) -> Source:
    """The source of a row that begins with SOURCE_COLUMNS, and which is asked at `host` next."""
    (
        source_id, url, kind, downloader, explicit_interval_s, state, due_at, why, attempts, error, http_status,
        interval_s, etag, last_modified, validators_url, body_hash, known, pending_url, last_visit_at, rest,
        subscribers,
    ) = row[:SOURCE_WIDTH]  # fmt: skip
    more = _decode_rest(rest)
    return Source(
        source_id=source_id,
        url=url,
        host=host if pending_url is None else urls.parse(url).host,
        kind=_KINDS[kind],
        downloader=downloader,
        explicit_interval_s=explicit_interval_s,
        subscribers=subscribers,
        is_exempt=is_exempt,
        state=SourceState(
            state=_STATES[state],
            due_at=moment(due_at),
            why=why,
            attempts=attempts,
            error=error,
            http_status=http_status,
            interval_s=interval_s,
            validators=None
            if validators_url is None
            else Validators(url=validators_url, etag=etag, last_modified=last_modified),
            body_hash=body_hash,
            known=known,
            rhythm=more.rhythm,
            hints=more.hints,
            move=more.move,
            pending_url=pending_url,
            pending_hops=more.pending_hops,
            last_visit_at=moment(last_visit_at),
            unconditional_at=more.unconditional_at,
            parser_version=more.parser_version,
            title=more.title,
            site_url=more.site_url,
            recent=more.recent,
        ),
    )


def state_values(state: SourceState) -> tuple[Any, ...]:
    """The values of `save_state` in sql/record.sql, in its order, without the source's id."""
    validators = state.validators
    return (
        state.state.value,
        None if state.due_at is None else to_ms(state.due_at),
        state.why,
        state.attempts,
        state.error,
        state.http_status,
        state.interval_s,
        validators and validators.etag,
        validators and validators.last_modified,
        validators and validators.url,
        state.body_hash,
        state.known,
        state.pending_url,
        None if state.last_visit_at is None else to_ms(state.last_visit_at),
        _encode(
            _Rest(
                rhythm=state.rhythm,
                hints=state.hints,
                move=state.move,
                pending_hops=state.pending_hops,
                unconditional_at=state.unconditional_at,
                parser_version=state.parser_version,
                title=state.title,
                site_url=state.site_url,
                recent=state.recent,
            )
        ),
    )


def title_and_recent(rest: bytes) -> tuple[str, bytes]:
    """Of a source's `rest`: the document's title, and the last visits."""
    more = _decode_rest(rest)
    return more.title, more.recent


def entry_values(seq: int, source_id: int, seen_at_ms: int, entry: Entry) -> tuple[Any, ...]:
    """The values of `add_entry` and `revise_entry` in sql/record.sql, by number: by name they took a third longer."""
    return (
        seq,
        source_id,
        entry.id_hash,
        entry.content_hash,
        seen_at_ms,
        None if entry.published_at is None else to_ms(entry.published_at),
        None if entry.updated_at is None else to_ms(entry.updated_at),
        _encode(entry),
    )


def entry_of(content: bytes) -> Entry:
    """The entry that `entry_values` packed."""
    return _decode_entry(content)
