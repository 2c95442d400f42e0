"""A broker as its manager sees it: what it says, when it is killed, and when its place is filled again."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from junkai.clock import utc_now
from junkai.config import Settings
from junkai.fleet import (
    ROUND_DONE,
    Backlog,
    BrokerMessage,
    End,
    Farewell,
    Heartbeat,
    ManagerMessage,
    Order,
    Phase,
    TellBacklog,
    Work,
)
from junkai.pipe import Pipe
from junkai.supervision.brokers import Place, WatchedBroker

SETTINGS = Settings(pass_seconds_max=100, silence_seconds_max=30)


class Scene:
    """A broker and the process that it stands for: this one, which speaks for it at the other end."""

    def __init__(self, broker: WatchedBroker, end: Pipe[ManagerMessage]) -> None:
        self.broker = broker
        self.end = end
        self.heard = asyncio.Event()

    async def say(self, message: BrokerMessage) -> None:
        before = self.broker.heard_s
        self.end.send(message)
        async with asyncio.timeout(5):
            while self.broker.heard_s == before:  # noqa: ASYNC110  # that it has heard sets no event
                await asyncio.sleep(0)


@asynccontextmanager
async def scene() -> AsyncIterator[Scene]:
    ours, theirs = socket.socketpair()
    broker = WatchedBroker(
        Order(name="broker 1", number=1), os.getpid(), "1.2.3", await Pipe[BrokerMessage].opened(ours, BrokerMessage)
    )
    made = Scene(broker, await Pipe[ManagerMessage].opened(theirs, ManagerMessage))
    listening = asyncio.create_task(broker.listen(made.heard.set))
    try:
        yield made
    finally:
        made.end.close()
        await listening
        broker.close()


def test_a_row_says_what_the_last_heartbeat_said() -> None:
    async def told() -> WatchedBroker:
        async with scene() as made:
            await made.say(Heartbeat(phase=Phase.PASS, shard=7, work=Work(visits=3)))
            await made.say(Heartbeat(phase=Phase.PASS, shard=8, work=Work(visits=5)))
            return made.broker

    row = asyncio.run(told()).row()

    assert ("broker 1", os.getpid(), "1.2.3", 8) == (row.name, row.pid, row.version, row.heartbeat.shard)
    assert (5, 5.0) == (row.heartbeat.work.visits, row.visits_a_minute)
    assert row.is_ending  # it has closed its pipe


def test_visits_of_more_than_a_minute_ago_do_not_count_as_a_minute() -> None:
    async def told() -> tuple[float, float]:
        async with scene() as made:
            await made.say(Heartbeat(phase=Phase.PASS, work=Work(visits=30)))
            await made.say(Heartbeat(phase=Phase.PASS, work=Work(visits=70)))
            now = made.broker.row().visits_a_minute
            made.broker._visits[0] = (made.broker._visits[0][0] - 90, 0)
            made.broker._visits[1] = (made.broker._visits[1][0] - 61, 30)
            return now, made.broker.row().visits_a_minute

    assert (70.0, 40.0) == asyncio.run(told())


def late(broker: WatchedBroker, seconds: float) -> None:
    broker.heard_s -= seconds


@pytest.mark.parametrize(
    ("heartbeat", "silent_s", "why"),
    [
        (Heartbeat(phase=Phase.PASS, pass_s=99), 0, None),
        (Heartbeat(phase=Phase.PASS, pass_s=101), 0, "its pass has been running for 101 s"),
        (Heartbeat(phase=Phase.PASS, pass_s=90), 20, "its pass has been running for 110 s"),
        (Heartbeat(phase=Phase.SLEEPING), 29, None),
        (Heartbeat(phase=Phase.SLEEPING), 31, "it has said nothing for 31 s"),
        (Heartbeat(phase=Phase.SLEEPING, pass_s=500), 0, None),
        (Heartbeat(phase=Phase.STARTING), 31, "it has said nothing for 31 s"),
    ],
)
def test_a_broker_is_killed_for_a_long_pass_or_a_long_silence(
    heartbeat: Heartbeat, silent_s: float, why: str | None
) -> None:
    async def asked() -> str | None:
        async with scene() as made:
            await made.say(heartbeat)
            late(made.broker, silent_s)
            return made.broker.why_kill(SETTINGS)

    assert why == asyncio.run(asked())


def test_silence_does_not_count_while_it_was_the_manager_that_did_not_listen() -> None:
    async def asked() -> list[str | None]:
        async with scene() as made:
            late(made.broker, 500)
            before = made.broker.why_kill(SETTINGS)
            made.broker.excuse()
            return [before, made.broker.why_kill(SETTINGS)]

    assert ["it has said nothing for 500 s", None] == asyncio.run(asked())


def test_a_broker_that_was_told_to_end_is_killed_some_seconds_after_its_time() -> None:
    async def asked() -> list[object]:
        async with scene() as made:
            made.broker.end(10)
            order = await made.end.receive()
            in_time = made.broker.why_kill(SETTINGS)
            assert made.broker.end_by_s is not None
            made.broker.end_by_s -= 15.1
            return [order, in_time, made.broker.why_kill(SETTINGS)]

    assert [End(seconds_max=10), None, "it was to end, and did not"] == asyncio.run(asked())


def test_what_is_due_is_asked_once_for_all_who_want_to_know_at_the_same_time() -> None:
    backlog = Backlog(at=utc_now(), free=4)

    async def asked() -> list[object]:
        async with scene() as made:
            asking = [asyncio.create_task(made.broker.backlog(5)) for _ in range(3)]
            question = await made.end.receive()
            made.end.send(backlog)
            answers = await asyncio.gather(*asking)
            return [question, *answers, await made.broker.backlog(0.01)]

    assert [TellBacklog(), backlog, backlog, backlog, None] == asyncio.run(asked())


@pytest.mark.parametrize(
    ("known", "is_gone"),
    [
        ({}, False),
        ({"is_orphan": True}, False),
        ({"closed_s": 1.0}, False),
        ({"closed_s": 1.0, "is_orphan": True}, True),
        ({"status": -9}, True),
    ],
)
def test_a_broker_is_gone_when_it_was_waited_for_or_nobody_can_and_its_pipe_is_closed(
    known: dict[str, object], is_gone: bool
) -> None:
    async def asked() -> bool:
        async with scene() as made:
            for name, value in known.items():
                setattr(made.broker, name, value)
            return made.broker.is_gone

    assert is_gone == asyncio.run(asked())


# ── its place ────────────────────────────────────────────────────────────────────────────────────────────────────


def ended(place: Place, *, lived_s: float = 1.0, farewell: str | None = None) -> float:
    """How long the place stays empty after a broker that lived so long."""

    async def lived() -> float:
        async with scene() as made:
            place.broker = made.broker
            made.broker.started_s = made.broker.heard_s - lived_s
            made.broker.farewell = Farewell(why=farewell) if farewell else None
            place.empty(made.broker)
            return max(0.0, round(place.not_before_s - made.broker.heard_s))

    return asyncio.run(lived())


def test_a_place_waits_longer_with_each_death_and_forgets_them_after_a_long_life() -> None:
    place = Place(1)

    assert [0, 1, 2, 4, 8] == [ended(place) for _ in range(5)]
    assert [0, 1] == [ended(place, lived_s=61), ended(place)]


def test_a_broker_that_took_its_leave_is_replaced_at_once() -> None:
    place = Place(1)
    waits = [ended(place), ended(place), ended(place, farewell="recycled after 500 passes"), ended(place)]

    assert [0, 1, 0, 0] == waits
    assert not place.is_done


def test_a_place_is_done_when_its_broker_says_that_the_round_is() -> None:
    place = Place(1)

    for farewell in (None, "recycled at 600 MB", "told to"):
        ended(place, farewell=farewell)
        assert not place.is_done
    ended(place, farewell=ROUND_DONE)
    assert place.is_done


def test_brokers_that_never_came_to_work_are_counted() -> None:
    place = Place(1)
    for _ in range(3):
        ended(place)

    assert 3 == place.stillborn


def test_a_broker_that_said_farewell_and_does_not_end_is_killed_after_a_while() -> None:
    async def asked() -> list[str | None]:
        async with scene() as made:
            await made.say(Farewell(why=ROUND_DONE))
            at_once = made.broker.why_kill(SETTINGS)
            assert made.broker.end_by_s is not None
            made.broker.end_by_s -= 6
            return [at_once, made.broker.why_kill(SETTINGS)]

    assert [None, "it was to end, and did not"] == asyncio.run(asked())
