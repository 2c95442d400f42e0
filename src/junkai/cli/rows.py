"""Rows of the store in; the objects that `--json` prints of them out. Every key is there every time, empty or not."""

from __future__ import annotations

from datetime import datetime
from typing import Final

import msgspec

from junkai import visitlog, wording
from junkai.backend.listed import FeedRow, HostRow, StoredEntry
from junkai.document import Document, Entry
from junkai.fleet import Snapshot
from junkai.model import Failed, RateLimited, Redirected, Visit
from junkai.parse.sanitize import text_of_entry

Keys = dict[str, object]

#: Bytes that only the crawler and the store have a use for.
_INTERNAL: Final = frozenset({"known", "id_hash", "content_hash"})


def feed_keys(row: FeedRow) -> Keys:
    """A source in `feeds --json`."""
    source = row.source
    state = source.state
    next_visit = wording.next_visit(row)
    return {
        "url": source.url,
        "kind": source.kind,
        "state": state.state,
        "is_paused": row.is_paused,
        "owners": row.owners,
        "groups": row.groups,
        "title": row.title,
        "site_url": state.site_url,
        "http_status": state.http_status,
        "etag": state.validators.etag if state.validators else None,
        "last_modified": state.validators.last_modified if state.validators else None,
        "last_visit_at": state.last_visit_at,
        "next_visit_at": next_visit.at,
        "next_visit_why": next_visit.why,
        "interval_s": state.interval_s,
        "explicit_interval_s": source.explicit_interval_s,
        "failures": state.attempts,
        "error": state.error,
        "entries": row.entries,
        "host": source.host,
        "pending_url": state.pending_url,
        "earlier_urls": row.earlier_urls,
        "added_at": row.added_at,
    }


def feed_page_keys(row: FeedRow, now: datetime) -> Keys:
    """A source in `feed --json`: also how it stands, in words, and its last visits, newest first."""
    visits = [
        {
            "at": brief.at,
            "outcome": brief.result.name.lower(),
            "status": brief.status,
            "ms": brief.elapsed_ms,
            "changes": brief.changes,
        }
        for brief in reversed(visitlog.briefs(row.source.state.recent))
    ]
    return {**feed_keys(row), "standing": wording.standing(row, now).sentence, "visits": visits}


def entry_keys(stored: StoredEntry) -> Keys:
    """An entry in `entries --json`."""
    return {
        "seq": stored.seq,
        "feed_url": stored.feed_url,
        **_entry_facts(stored.entry),
        "first_seen_at": stored.first_seen_at,
        "revision": stored.revision,
    }


def document_keys(document: Document) -> Keys:
    """A document in `parse`."""
    return {**_whole_struct(document), "entries": [_entry_facts(entry) for entry in document.entries]}


def _entry_facts(entry: Entry) -> Keys:
    """An entry's fields, and its text, which is derived from them."""
    return {**_whole_struct(entry), "text": text_of_entry(entry)}


def visit_keys(visit: Visit) -> Keys:
    """A visit in `fetch --json`."""
    outcome = visit.outcome
    return {
        "url": visit.url,
        "started_at": visit.started_at,
        "ended_at": visit.ended_at,
        "outcome": outcome.kind if isinstance(outcome, Failed) else visitlog.result_of(outcome).name.lower(),
        "status": outcome.status,
        "detail": outcome.detail if isinstance(outcome, Failed) else "",
        "redirected_to": outcome.to if isinstance(outcome, Redirected) else None,
        "retry_after_s": outcome.retry_after_s if isinstance(outcome, RateLimited) else None,
        "hops": _whole(visit.hops),
        "requests": visit.requests,
        "bytes": visit.bytes_received,
        "content_type": visit.content_type,
    }


def host_keys(row: HostRow) -> Keys:
    """A host in `hosts --json`."""
    return {
        "host": row.host,
        "domain": row.domain,
        "slots": row.slots,
        "delay_s": row.delay_s,
        "sources": row.sources,
        "due": row.due,
        "ready_at": row.ready_at,
        "not_before": row.not_before,
        "hold_until": row.hold.until if row.hold else None,
        "hold_why": row.hold.why if row.hold else None,
        "lease_until": row.lease_until,
        "turn_owner": row.owner,
        "is_exempt": row.is_exempt,
        "is_blocked": row.is_blocked,
    }


def manager_keys(snapshot: Snapshot) -> Keys:
    """A running system in `status --json`."""
    return _whole_struct(snapshot)


def _whole_struct(value: msgspec.Struct) -> Keys:
    return {name: _whole(getattr(value, name)) for name in value.__struct_fields__ if name not in _INTERNAL}


def _whole(value: object) -> object:
    """Structs as objects with all their keys; their own JSON leaves defaults out."""
    if isinstance(value, msgspec.Struct):
        return _whole_struct(value)
    if isinstance(value, tuple):
        return [_whole(one) for one in value]
    return value
