"""Requests at once per address."""

from __future__ import annotations

import asyncio

from junkai.config import Settings
from junkai.fetch.guard import Guard
from junkai.fetch.slots import AddressSlots


def test_no_more_than_so_many_hold_a_slot_at_one_address_and_none_is_left_behind() -> None:
    async def job() -> tuple[int, bool]:
        slots = AddressSlots(Guard(Settings()), in_flight_max=2)
        holding = most = 0

        async def hold() -> None:
            nonlocal holding, most
            await slots.take("8.8.8.8")
            holding += 1
            most = max(most, holding)
            await asyncio.sleep(0)
            holding -= 1
            slots.give("8.8.8.8")

        await asyncio.gather(*(hold() for _ in range(7)))
        return most, slots.is_idle

    assert (2, True) == asyncio.run(job())


def test_addresses_do_not_share_and_exempt_ones_have_no_cap() -> None:
    async def job() -> list[bool]:
        slots = AddressSlots(Guard(Settings(allow_networks=("127.0.0.0/8",))), in_flight_max=1)
        async with asyncio.timeout(5):
            for address in ("8.8.8.8", "8.8.4.4"):
                await slots.take(address)
        return [slots.is_capped(address) for address in ("8.8.8.8", "127.0.0.1", "")]

    assert [True, False, False] == asyncio.run(job())


def test_who_gives_up_waiting_leaves_nothing_behind() -> None:
    async def job() -> bool:
        slots = AddressSlots(Guard(Settings()), in_flight_max=1)
        await slots.take("8.8.8.8")
        waiting = asyncio.create_task(slots.take("8.8.8.8"))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        slots.give("8.8.8.8")
        return slots.is_idle

    assert asyncio.run(job())
