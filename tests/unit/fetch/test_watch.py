"""Both ways to watch sockets say the same."""

from __future__ import annotations

import select
import socket
from collections.abc import Callable, Iterator

import pytest

from junkai.fetch.watch import READ, WRITE, EpollWatch, SelectorWatch, SocketWatch, new_watch

KINDS: list[Callable[[], SocketWatch]] = [SelectorWatch, *([EpollWatch] if hasattr(select, "epoll") else [])]


@pytest.fixture(params=KINDS)
def watch(request: pytest.FixtureRequest) -> Iterator[SocketWatch]:
    made: SocketWatch = request.param()
    yield made
    made.close()


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    one, other = socket.socketpair()
    with one, other:
        yield one, other


def test_a_socket_is_ready_for_what_it_is_watched_for(
    watch: SocketWatch, pair: tuple[socket.socket, socket.socket]
) -> None:
    one, other = pair
    watch.watch(one.fileno(), READ)
    before = watch.ready()
    other.send(b"x")
    readable = watch.ready()
    watch.watch(one.fileno(), READ | WRITE)
    both = watch.ready()
    watch.forget(one.fileno())

    assert before == []
    assert readable == [(one.fileno(), READ)]
    assert both == [(one.fileno(), READ | WRITE)]
    assert watch.ready() == []


def test_the_set_is_one_file_that_is_readable_while_a_socket_is_ready(
    watch: SocketWatch, pair: tuple[socket.socket, socket.socket]
) -> None:
    one, other = pair
    watch.watch(one.fileno(), READ)
    before = select.select([watch.fileno()], [], [], 0)[0]
    other.close()

    assert before == []
    assert select.select([watch.fileno()], [], [], 1)[0] == [watch.fileno()]


def test_a_socket_that_was_closed_is_forgotten_and_its_number_can_come_again(watch: SocketWatch) -> None:
    one, other = socket.socketpair()
    watch.watch(one.fileno(), READ)
    number = one.fileno()
    one.close()
    other.close()
    watch.forget(number)
    again, other = socket.socketpair()
    with again, other:
        watch.watch(again.fileno(), WRITE)

        assert watch.ready() == [(again.fileno(), WRITE)]


def test_this_system_has_one() -> None:
    made = new_watch()
    made.close()

    assert isinstance(made, EpollWatch | SelectorWatch)
