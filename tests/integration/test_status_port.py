"""The status port over loopback: commands, bounds, and what is no manager at the other end."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from datetime import timedelta

import msgspec
import pytest

from answering import AT, Answering, broker, snapshot
from junkai.clock import monotonic
from junkai.fleet import LINE_BYTES_MAX, Backlog, Phase, Snapshot
from junkai.status_port import COMMAND_BYTES_MAX, CONNECTIONS_MAX, ask

TOLD = snapshot(broker(1, phase=Phase.PASS), broker(2))


@pytest.fixture
def port() -> Iterator[int]:
    backlog = Backlog(
        at=AT,
        free=3,
        turn=1_201,
        held=17,
        oldest_free_at=AT - timedelta(seconds=12),
        oldest_due_at=AT - timedelta(hours=1),
    )
    with Answering(TOLD, backlog) as answering:
        yield answering.port


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), 10)


def said(port: int, question: bytes) -> str:
    """All that is answered until the port closes the connection, or everything is said."""
    with connected(port) as connection:
        connection.sendall(question)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65_536), b"")).decode()


# ── what can be asked ────────────────────────────────────────────────────────────────────────────────────────────


def test_status_begins_with_a_sentence_and_ends_with_an_empty_line(port: int) -> None:
    lines = said(port, b"status\n").split("\n")

    assert "Running: 2 brokers, 1,204 visits a minute." == lines[0]
    assert "Brokers      2 of 2" == lines[1]
    assert ["", ""] == lines[-2:]


def test_brokers_are_a_table_with_a_line_each(port: int) -> None:
    head, first, second, *rest = said(port, b"BROKERS\n").split("\n")

    assert head.split() == ["Broker", "Pid", "Does", "In", "turn", "Visits", "Memory", "Version", "Started"]
    assert "broker 1  4001  Pass of 0 s                 17 hosts  602 a minute  58 MB   1.2      2 h ago" == first
    assert second.startswith("broker 2  4002  Sleeping: nothing is ready  17 hosts")
    assert ["", ""] == rest


def test_what_is_due_is_told_by_what_it_waits_for(port: int) -> None:
    assert (
        "1,204 feeds are due.\n"
        "Wait for a broker           3, one for 12 s\n"
        "Wait for their host's turn  1,201\n"
        "Longest wait of these       1 h\n"
        "On held hosts, not counted  17\n"
        "\n"
    ) == said(port, b"Feeds  Due\n")


def test_without_a_broker_what_is_due_is_not_known() -> None:
    with Answering(snapshot()) as answering:
        answer = said(answering.port, b"feeds due\n")
        brokers = said(answering.port, b"brokers\n")

    assert answer.startswith("What is due is not known: no broker answers.")
    assert "No broker runs.\n\n" == brokers


def test_json_is_the_whole_snapshot_on_one_line(port: int) -> None:
    line, *rest = said(port, b"json\n").split("\n")

    assert TOLD == msgspec.json.decode(line, type=Snapshot)
    assert ["", ""] == rest


def test_lines_end_as_those_of_the_question_do(port: int) -> None:
    answer = said(port, b"help\r\nhelp\n")

    telnet, _, script = answer.partition("\r\n\r\n")
    assert telnet.replace("\r\n", "\n") + "\n\n" == script
    assert "\r" not in script


def test_an_unknown_word_is_named_and_steers_no_terminal(port: int) -> None:
    assert "Unknown: wha\N{REPLACEMENT CHARACTER}[31mt; `help` lists what can be asked.\n\n" == said(
        port, b"wha\x1b[31mt\n"
    )


def test_quit_ends_the_connection_before_what_comes_after(port: int) -> None:
    assert "" == said(port, b"quit\r\njson\n")


def test_many_questions_are_answered_in_order_and_the_last_needs_no_end(port: int) -> None:
    answers = said(port, b"help\n\n\njson\nstatus").split("\n\n")

    assert ["status ", '{"at":"', "Running"] == [answer[:7] for answer in answers[:3]]
    assert [""] == answers[3:]


# ── who is kept out, and the bounds ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "request_line",
    [
        b"GET / HTTP/1.1",
        b"POST /json HTTP/1.1",
        b"status / HTTP/1.1",
        b"get /",
        b"PRI * HTTP/2.0",
        b"OPTIONS * HTTP/1.0",
    ],
)
def test_a_browser_learns_nothing_whatever_its_page_writes(port: int, request_line: bytes) -> None:
    answer = said(port, request_line + b"\r\nHost: a.example\r\n\r\njson\r\nstatus\r\n")

    head, _, body = answer.partition("\r\n\r\n")
    assert head.startswith("HTTP/1.1 400 ")
    assert "This is Junkai's status port, for telnet; `status` there tells the page's address.\n" == body


def test_a_line_has_a_bound_and_what_follows_is_not_obeyed(port: int) -> None:
    fits = said(port, b"x" * COMMAND_BYTES_MAX + b"\n")
    too_long = said(port, b"x" * (COMMAND_BYTES_MAX + 1) + b"\njson\n")

    assert fits.startswith("Unknown: xxx")
    assert "A line has at most 1,000 bytes.\n\n" == too_long


def test_one_connection_too_many_is_told_so_and_a_place_becomes_free_again(port: int) -> None:
    held = [connected(port) for _ in range(CONNECTIONS_MAX)]
    for connection in held:
        connection.sendall(b"help\n")
        assert connection.recv(10)
    with connected(port) as one_more:
        refused = one_more.recv(1_000)
        is_closed = one_more.recv(1) == b""
    for connection in held:
        connection.sendall(b"quit\n")
        while connection.recv(1_000):
            pass
        connection.close()
    until = monotonic() + 10
    while (again := ask(port)) is None and monotonic() < until:
        pass

    assert b"The status port is full: 32 connections are open.\r\n\r\n" == refused
    assert is_closed
    assert TOLD == again


def read_to_the_end(connection: socket.socket) -> None:
    """Until the other side has closed; a reset is as good."""
    connection.settimeout(10)
    with contextlib.suppress(ConnectionResetError):
        while connection.recv(65_536):
            pass


def test_who_says_nothing_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("junkai.status_port.IDLE_SECONDS_MAX", 0.05)
    with Answering(TOLD) as answering, connected(answering.port) as connection:
        read_to_the_end(connection)

        assert TOLD == ask(answering.port)


def test_who_reads_nothing_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("junkai.status_port.WRITE_SECONDS_MAX", 0.05)
    with Answering(snapshot(*[broker(1)] * 2_000)) as answering, connected(answering.port) as connection:
        connection.settimeout(0.5)
        with contextlib.suppress(OSError):  # full, or reset already
            for _ in range(1_000):
                connection.sendall(b"json\n" * 1_000)
        read_to_the_end(connection)

        assert ask(answering.port) is not None


def test_closing_ends_the_connections_that_are_open() -> None:
    with Answering(TOLD) as answering:
        connection = connected(answering.port)
        connection.sendall(b"help\n")
        connection.recv(10)
    with connection:
        read_to_the_end(connection)

    assert ask(answering.port) is None


# ── asking ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_manager_that_answers_is_heard(port: int) -> None:
    assert TOLD == ask(port)


def test_nobody_there_is_no_snapshot() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        free = listener.getsockname()[1]

    assert ask(free) is None
    assert ask(0) is None


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"{}\n",
        b"[1]\n\n",
        b"\xff\xfe\n",
        b'{"at":"2026',
        b'{"page":"\xff"}\n',
        b'{"more":' + b"[" * 200_000 + b"\n",
        b"x" * (LINE_BYTES_MAX + 1),
    ],
    ids=["nothing", "http", "empty", "list", "bytes", "half", "no text", "deep", "endless"],
)
def test_what_is_no_manager_is_no_snapshot(answer: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def reply() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(100)
                connection.sendall(answer)

        replying = threading.Thread(target=reply)
        replying.start()
        heard = ask(listener.getsockname()[1], timeout_s=5)
        replying.join(10)

    assert heard is None


def test_a_manager_that_hangs_is_waited_for_no_longer_than_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:  # the system accepts, and nobody answers
        began = monotonic()
        heard = ask(listener.getsockname()[1], timeout_s=0.2)
        waited = monotonic() - began

    assert heard is None
    assert 0.2 <= waited < 2


def test_a_manager_that_drips_is_waited_for_no_longer_either() -> None:
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def drip() -> None:
            connection, _ = listener.accept()
            with connection, contextlib.suppress(OSError):
                while not stop.is_set():
                    connection.sendall(b" ")
                    stop.wait(0.01)

        dripping = threading.Thread(target=drip)
        dripping.start()
        began = monotonic()
        heard = ask(listener.getsockname()[1], timeout_s=0.2)
        waited = monotonic() - began
        stop.set()
        dripping.join(10)

    assert heard is None
    assert 0.2 <= waited < 2
