"""The stateless pipeline of one turn: a Turn in, fetch and parse each of its sources, Visits out. Read it first."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Final

from junkai import url as urls
from junkai.clock import Clock
from junkai.config import Settings
from junkai.errors import FailureKind, NotADocumentError
from junkai.fetch import Exchange, Fetcher, Response
from junkai.fetch.conditional import freshness, retry_after_s, validators_of
from junkai.model import (
    Failed,
    Fetched,
    Gone,
    NotModified,
    Outcome,
    RateLimited,
    Redirected,
    Turn,
    TurnSource,
    Validators,
    Visit,
)
from junkai.parse import PARSER_VERSION, parse_document

_log = logging.getLogger(__name__)

_GONE: Final = frozenset({410, 451})
_FORBIDDEN: Final = frozenset({401, 403, 407})
_RATE_LIMITED: Final = frozenset({429, 503})

#: Seconds to wait before a request to a registrable domain, whose place is taken by asking.
Reserve = Callable[[str], float]


class TurnTime:
    """What may still be asked in a turn: `until` moves out with a renewal, and to the past when the turn must end;
    sources in `unwanted` (by id) are left out."""

    __slots__ = ("until", "unwanted")

    def __init__(self, until: datetime) -> None:
        self.until = until
        self.unwanted: frozenset[int] = frozenset()


class TurnPacing:
    """Spaces the requests of one turn, from the end of one to the start of the next, and stops them at its end."""

    def __init__(self, delay_s: float, time: TurnTime, now: Clock, reserve: Reserve | None) -> None:
        self._delay = timedelta(seconds=delay_s)
        self._time = time
        self._now = now
        self._reserve = reserve
        self._floor_at: datetime | None = None

    async def before_request(self, host: str) -> bool:
        """Wait until the host may be asked; False where no request may start in this turn any more."""
        now = self._now()
        start_at = now if self._floor_at is None else max(now, self._floor_at)
        if self._reserve is not None:
            start_at = max(start_at, now + timedelta(seconds=self._reserve(urls.domain_of(host))))
        if start_at >= self._time.until:
            return False
        if start_at > now:
            await asyncio.sleep((start_at - now).total_seconds())
        # A stopped process, a slow loop or a lost turn may have come between: look again just before sending.
        return self._now() < self._time.until

    def after_request(self) -> None:
        """The request has ended: the delay counts from here."""
        self._floor_at = self._now() + self._delay


async def crawl_turn(
    turn: Turn, time: TurnTime, *, fetcher: Fetcher, settings: Settings, now: Clock, reserve: Reserve | None = None
) -> AsyncGenerator[Visit, None]:
    """Ask each source of the turn, one after another; what is not reached before the turn's end is left out.

    A rate limit ends the turn, since the whole host waits then.
    """
    pacing = TurnPacing(turn.delay_s, time, now, reserve)
    last = len(turn.sources) - 1
    for number, source in enumerate(turn.sources):
        if source.source_id in time.unwanted:
            continue
        exchange = await fetcher.exchange(source, host=turn.host, pacing=pacing, is_last=number == last)
        if exchange is None:
            return
        visit = visit_of(source, exchange, settings)
        yield visit
        if isinstance(visit.outcome, RateLimited):
            return


def visit_of(source: TurnSource, exchange: Exchange, settings: Settings) -> Visit:
    """The visit that an exchange makes."""
    response = exchange.response
    return Visit(
        source_id=source.source_id,
        url=exchange.url,
        started_at=exchange.started_at,
        ended_at=exchange.ended_at,
        outcome=_outcome_or_fault(source, exchange, settings),
        hops=exchange.hops,
        requests=exchange.requests,
        bytes_received=exchange.bytes_received,
        content_type=(response.fields.last("content-type") or "")[:200] if response else "",
    )


def _outcome_or_fault(source: TurnSource, exchange: Exchange, settings: Settings) -> Outcome:
    """A fault of our own costs this attempt, and neither the turn nor the process."""
    try:
        return outcome_of(source, exchange, settings)
    except Exception as error:  # noqa: BLE001  # the boundary around one visit
        _log.exception("cannot read the answer of %s", exchange.url)
        return Failed(kind=FailureKind.INTERNAL, detail=f"{type(error).__name__} while reading the answer")


def outcome_of(source: TurnSource, exchange: Exchange, settings: Settings) -> Outcome:
    """What an exchange means for the source."""
    if exchange.failure is not None:
        failure = exchange.failure
        return Failed(kind=failure.kind, detail=urls.shown(failure.detail), status=exchange.status)
    if exchange.redirected_to is not None:
        return Redirected(to=exchange.redirected_to, status=exchange.status or 0)
    response = exchange.response
    assert response is not None
    status = response.status
    if 200 <= status <= 203:
        return _answered(source, response, exchange.ended_at, settings)
    if status == 304:
        return _not_modified(source, response, exchange.ended_at)
    if status in _GONE:
        return Gone(status=status)
    if status in _RATE_LIMITED:
        return RateLimited(status=status, retry_after_s=retry_after_s(response.fields, exchange.ended_at))
    if status == 404:
        return Failed(kind=FailureKind.NOT_FOUND, status=status)
    if status in _FORBIDDEN:
        return Failed(kind=FailureKind.FORBIDDEN, status=status)
    return Failed(kind=FailureKind.STATUS, status=status)


def _not_modified(source: TurnSource, response: Response, now: datetime) -> Outcome:
    held = source.validators
    if held is None or held.url != response.url:
        return Failed(kind=FailureKind.PROTOCOL, detail="not modified, although nothing was asked about", status=304)
    carried = validators_of(response)
    return NotModified(
        etag=carried.etag, last_modified=carried.last_modified, freshness=freshness(response.fields, now)
    )


def _answered(source: TurnSource, response: Response, now: datetime, settings: Settings) -> Outcome:
    """A complete 200: accepted where it is the last body again or a feed (an error page changes nothing)."""
    if not response.body:
        return Failed(kind=FailureKind.EMPTY, detail="an empty body", status=response.status)
    content_type = response.fields.last("content-type") or ""
    digest = body_hash(response.body, content_type=content_type, url=response.url)
    document = None
    if digest != source.body_hash:
        try:
            document = parse_document(
                response.body,
                url=response.url,
                content_type=content_type,
                known=source.known,
                entries_max=settings.entries_max,
            )
        except NotADocumentError as error:
            return Failed(kind=FailureKind.NOT_A_DOCUMENT, detail=urls.shown(error.detail), status=response.status)
    validators = validators_of(response)
    if document is not None and any(problem.code == "truncated" for problem in document.problems):
        # Its entries count, but a 304 must not hide the rest of them: only when the same body comes again is this all
        # there is (RFC 9112 §8, RFC 9111 §3.3).
        validators = source.validators or Validators(url=response.url)
    return Fetched(
        status=response.status,
        validators=validators,
        body_hash=digest,
        document=document,
        freshness=freshness(response.fields, now),
    )


def body_hash(body: bytes, *, content_type: str, url: str) -> bytes:
    """16 bytes over everything that parsing depends on: equal means that parsing again would find the same."""
    digest = blake2b(body, digest_size=16)
    digest.update(f"\0{content_type}\0{url}\0{PARSER_VERSION}".encode("utf-8", "surrogatepass"))
    return digest.digest()
