"""An IP address in; the wait until fewer than so many requests run at it, out."""

from __future__ import annotations

import asyncio

from junkai.fetch.guard import Guard


class AddressSlots:
    """Requests at once per IP address, over all turns of this process. Only addresses in use are kept."""

    def __init__(self, guard: Guard, *, in_flight_max: int) -> None:
        self._guard = guard
        self._in_flight_max = in_flight_max
        self._addresses: dict[str, tuple[asyncio.Semaphore, int]] = {}  #: with how many hold or want a slot

    def is_capped(self, address: str) -> bool:
        """False for the networks that the operator allows, and for "" (a proxy's business): they need no slot."""
        return bool(address) and not self._guard.is_allowed_network(address)

    @property
    def is_idle(self) -> bool:
        """True where nobody holds or wants a slot."""
        return not self._addresses

    async def take(self, address: str) -> None:
        """Wait for a slot; every `take` that returns needs one `give`."""
        semaphore, users = self._addresses.get(address) or (asyncio.Semaphore(self._in_flight_max), 0)
        self._addresses[address] = (semaphore, users + 1)
        try:
            await semaphore.acquire()
        except asyncio.CancelledError:
            self._leave(address)
            raise

    def give(self, address: str) -> None:
        """Free the slot."""
        self._addresses[address][0].release()
        self._leave(address)

    def _leave(self, address: str) -> None:
        semaphore, users = self._addresses[address]
        if users == 1:
            del self._addresses[address]
        else:
            self._addresses[address] = (semaphore, users - 1)
