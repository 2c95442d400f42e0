"""One source of a turn in; its requests, redirects at the same host included, done; an Exchange out.

A redirect to any other host ends the exchange: this turn holds no right to ask there.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final, Protocol

from junkai import clock
from junkai import url as urls
from junkai.clock import Clock
from junkai.config import Settings
from junkai.errors import BlockedError, FailureKind, FetchError, UrlError
from junkai.fetch.client import Client, ConnectError
from junkai.fetch.conditional import conditional_fields
from junkai.fetch.dns import Resolver
from junkai.fetch.guard import Guard, explained, literal_of
from junkai.fetch.identity import Identity
from junkai.fetch.message import Request, Response
from junkai.fetch.slots import AddressSlots
from junkai.immutable import Struct
from junkai.model import Hop, TurnSource
from junkai.url import Url

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_DIRECT: Final = ("",)  #: the one "address" where a proxy resolves names


class Pacing(Protocol):
    """The right to ask, as the turn holds it."""

    async def before_request(self, host: str) -> bool:
        """Wait until the host key may be asked; False where the turn is over and no request may start."""

    def after_request(self) -> None:
        """The request has ended."""


class Exchange(Struct, frozen=True, kw_only=True):
    """What came of asking one source: a response, a redirect to elsewhere, or a failure; never two of them."""

    url: str  #: of the last request
    started_at: datetime
    ended_at: datetime  #: of the last request
    hops: tuple[Hop, ...] = ()  #: requests answered by a redirect, those of earlier turns first
    response: Response | None = None
    redirected_to: str | None = None  #: to be asked in a turn at its own host, or in this host's next turn
    failure: FetchError | None = None
    status: int | None = None  #: of the last answer, where there was one
    requests: int = 0
    bytes_received: int = 0  #: of all bodies, on the wire


class Exchanger:
    """Carries out exchanges; holds nothing of any one of them."""

    def __init__(
        self,
        *,
        client: Client,
        resolver: Resolver,
        guard: Guard,
        slots: AddressSlots,
        identity: Identity,
        settings: Settings,
        now: Clock,
    ) -> None:
        self._client = client
        self._resolver = resolver
        self._guard = guard
        self._slots = slots
        self._identity = identity
        self._settings = settings
        self._now = now

    async def exchange(self, source: TurnSource, *, host: str, pacing: Pacing, is_last: bool) -> Exchange | None:
        """Ask `source` within a turn at `host`. None: the turn was over before anything was sent.

        Never raises FetchError: what fails is in the Exchange. The deadline counts over all hops, DNS included, waits
        for the right to ask left out.
        """
        chain = _Chain(source, is_last=is_last, deadline_s=self._settings.fetch_deadline_seconds, now=self._now)
        try:
            url = urls.parse(source.url)
            while True:
                response = await self._ask(url, chain, pacing)
                if response is None:  # the turn is over: a hop that could not be made any more waits for the next one
                    return chain.away(url) if chain.requests else None
                if response.status not in _REDIRECTS:
                    return chain.answered(response)
                target = self._target(url, response, chain)
                if target.host != host:
                    return chain.away(target)
                url = target
        except FetchError as failure:
            return chain.failed(failure)
        except BlockedError as error:
            return chain.failed(FetchError(error.subject, FailureKind.BLOCKED, error.detail))
        except UrlError as error:  # only the source's own URL: a store never holds such a one
            return chain.failed(FetchError(error.subject, FailureKind.INTERNAL, str(error)))

    async def _ask(self, url: Url, chain: _Chain, pacing: Pacing) -> Response | None:
        """One request, to the first of the host's addresses that takes it. None: the turn is over."""
        self._guard.check_url(url)
        addresses = await self._addresses(url, chain)
        is_allowed = False
        try:
            for index, address in enumerate(addresses):
                is_capped = self._slots.is_capped(address)
                if is_capped:
                    await self._slots.take(address)
                try:
                    if not is_allowed and not await pacing.before_request(url.host):
                        return None
                    is_allowed = True
                    return await self._send(url, address, len(addresses) - index, chain)
                except ConnectError:
                    if index == len(addresses) - 1 or chain.left_s <= 0:
                        raise
                finally:
                    if is_capped:
                        self._slots.give(address)
        finally:
            if is_allowed:
                chain.ended_at = self._now()
                pacing.after_request()
        raise AssertionError("a host has at least one address")

    async def _addresses(self, url: Url, chain: _Chain) -> tuple[str, ...]:
        """The host's addresses that the guard lets through. Raises FetchError where there are none."""
        if self._settings.proxy:
            return _DIRECT
        literal = literal_of(url.hostname)
        if literal is not None:  # check_url has passed it
            return (literal,)
        began = clock.monotonic()
        found = await self._resolver.resolve(url.hostname, chain.left_s)
        chain.left_s -= clock.monotonic() - began
        checked = self._guard.checked(found)
        if not checked:
            why = explained(self._guard.why_not(found[0]) or "")
            raise FetchError(url.verbatim, FailureKind.BLOCKED, f"{url.hostname} is at {found[0]}: {why}")
        return checked

    async def _send(self, url: Url, address: str, attempts_left: int, chain: _Chain) -> Response:
        """One attempt; each address gets its share of the time that is left to connect."""
        if chain.left_s <= 0:
            raise FetchError(url.verbatim, FailureKind.DEADLINE, "no time is left for this request")
        source = chain.source
        began = clock.monotonic()
        chain.start(url, self._now)
        try:
            return await self._client.get(
                Request(
                    url=url,
                    fields=self._identity.fields(source.kind, source.subscribers)
                    + conditional_fields(source.validators, url.verbatim),
                    address=address,
                    deadline_s=chain.left_s,
                    connect_s=chain.left_s / attempts_left,
                    body_bytes_max=self._settings.body_bytes_max,
                    is_last=chain.is_last,
                )
            )
        finally:
            chain.left_s -= clock.monotonic() - began

    def _target(self, url: Url, response: Response, chain: _Chain) -> Url:
        """Where a redirect leads; notes the hop. Raises FetchError (REDIRECTS) or BlockedError where it must not be
        followed."""
        chain.received(response)
        location = response.fields.get("location")
        if not location:
            raise _refused(url, "a redirect without a Location")
        try:
            target = urls.parse(_as_text(location), base=url.href)
        except UrlError as error:
            raise _refused(url, f"a redirect to what cannot be visited: {error.detail or error}") from None
        chain.hops.append(Hop(url=url.verbatim, status=response.status, to=target.verbatim))
        # Without cookies the same request gets the same answer: meeting a URL again is a loop.
        if any(hop.url == target.verbatim for hop in chain.hops):
            raise _refused(url, f"a redirect loop at {urls.shown(target.verbatim)}")
        if len(chain.hops) > self._settings.redirects_max:
            raise _refused(url, f"more than {self._settings.redirects_max} redirects")
        if url.scheme == "https" and target.scheme == "http" and not self._settings.allow_downgrade:
            raise _refused(url, f"a redirect from https to {urls.shown(target.verbatim)}")
        self._guard.check_url(target)
        return target


class _Chain:
    """The requests of one exchange as they happen."""

    __slots__ = (
        "_bytes_received",
        "_status",
        "_url",
        "ended_at",
        "hops",
        "is_last",
        "left_s",
        "requests",
        "source",
        "started_at",
    )

    def __init__(self, source: TurnSource, *, is_last: bool, deadline_s: float, now: Clock) -> None:
        self.source = source
        self.is_last = is_last
        self.left_s = deadline_s
        self.hops = list(source.hops)
        self.requests = 0
        self.started_at = self.ended_at = now()
        self._url = source.url
        self._status: int | None = None
        self._bytes_received = 0

    def start(self, url: Url, now: Clock) -> None:
        """A request is about to be sent."""
        if not self.requests:
            self.started_at = now()
        self.requests += 1
        self._url = url.verbatim
        self._status = None

    def received(self, response: Response) -> None:
        """A request has been answered."""
        self._status = response.status
        self._bytes_received += response.bytes_received

    def answered(self, response: Response) -> Exchange:
        self.received(response)
        return self._end(response=response)

    def away(self, target: Url) -> Exchange:
        return self._end(redirected_to=target.verbatim)

    def failed(self, failure: FetchError) -> Exchange:
        return self._end(failure=failure)

    def _end(
        self,
        *,
        response: Response | None = None,
        redirected_to: str | None = None,
        failure: FetchError | None = None,
    ) -> Exchange:
        return Exchange(
            url=self._url,
            started_at=self.started_at,
            ended_at=self.ended_at,
            hops=tuple(self.hops),
            response=response,
            redirected_to=redirected_to,
            failure=failure,
            status=self._status,
            requests=self.requests,
            bytes_received=self._bytes_received,
        )


def _refused(url: Url, why: str) -> FetchError:
    return FetchError(url.verbatim, FailureKind.REDIRECTS, why)


def _as_text(location: str) -> str:
    """A Location as browsers read it: UTF-8 where it is that."""
    try:
        return location.encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        return location
