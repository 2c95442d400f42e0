"""Sources of a turn in; what came of asking them over HTTP, politely and safely, out."""

from __future__ import annotations

from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

from junkai.clock import Clock
from junkai.config import Settings
from junkai.fetch.client import Client
from junkai.fetch.dns import Resolver
from junkai.fetch.exchange import Exchange, Exchanger, Pacing
from junkai.fetch.fields import Fields
from junkai.fetch.guard import Guard
from junkai.fetch.identity import Identity
from junkai.fetch.message import Response
from junkai.fetch.slots import AddressSlots
from junkai.model import TurnSource

__all__ = ["Exchange", "Fetcher", "Fields", "Guard", "Pacing", "Resolver", "Response"]


class Fetcher:
    """Client, resolver and guard tied together: an async context manager, for one event loop."""

    def __init__(self, settings: Settings, *, now: Clock, resolver: Resolver | None = None) -> None:
        """`now` is the wall clock, aware UTC. Raises SettingsError for settings that cannot be used."""
        self._client = Client(settings)
        self._resolver = resolver or Resolver(settings)
        guard = Guard(settings)
        self._exchanger = Exchanger(
            client=self._client,
            resolver=self._resolver,
            guard=guard,
            slots=AddressSlots(guard, in_flight_max=settings.address_in_flight_max),
            identity=Identity(settings),
            settings=settings,
            now=now,
        )
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self._resolver)
        await self._stack.enter_async_context(self._client)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def exchange(self, source: TurnSource, *, host: str, pacing: Pacing, is_last: bool) -> Exchange | None:
        """Ask one source within a turn at `host`; see Exchanger.exchange."""
        return await self._exchanger.exchange(source, host=host, pacing=pacing, is_last=is_last)
