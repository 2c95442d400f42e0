"""What the doctor finds on healthy and on sick machines."""

from __future__ import annotations

import os
import resource
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from junkai import doctor
from junkai.backend import open_store
from junkai.backend.protocol import NewSource
from junkai.config import Settings

NOW = datetime(2026, 11, 27, 13, 48, tzinfo=UTC)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(store=f"sqlite:///{tmp_path}/a.db", nameservers=("127.0.0.1",))


@pytest.fixture
def store_file(settings: Settings) -> Path:
    with closing(open_store(settings.store)) as store:
        store.frontier.add([NewSource(url="https://a.example/feed")], NOW)
    return Path(settings.store.removeprefix("sqlite:///"))


@pytest.fixture
def name_server() -> Iterator[int]:
    """The port of a name server that knows no name (RFC 1035 §4.1.1: RCODE 3)."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))

        def answer() -> None:
            while True:
                query, asker = server.recvfrom(512)
                if not query:
                    return
                server.sendto(query[:2] + b"\x81\x83" + query[4:], asker)

        thread = threading.Thread(target=answer)
        thread.start()
        yield server.getsockname()[1]
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
            end.sendto(b"", server.getsockname())
        thread.join()


def test_a_store_that_is_not_made_yet_is_no_trouble(settings: Settings) -> None:
    actual = doctor.check_store(settings, NOW)

    assert ("ok", True) == (actual.level, "not made yet" in actual.finding)


@pytest.mark.usefixtures("store_file")
def test_a_store_says_what_it_holds(settings: Settings) -> None:
    actual = doctor.check_store(settings, NOW)

    assert ("ok", f"{settings.store}: 1 source, 0 entries") == (actual.level, actual.finding)


def test_a_store_in_no_folder_fails(tmp_path: Path) -> None:
    actual = doctor.check_store(Settings(store=f"sqlite:///{tmp_path}/nowhere/a.db"), NOW)

    assert ("failed", True) == (actual.level, actual.finding.endswith(f"no folder {tmp_path}/nowhere"))


def test_a_file_that_is_no_store_fails(settings: Settings) -> None:
    Path(settings.store.removeprefix("sqlite:///")).write_bytes(b"not a database" * 100)

    actual = doctor.check_store(settings, NOW)

    assert ("failed", True) == (actual.level, "a.db" in actual.finding)


def test_the_disk_is_the_one_under_the_store(settings: Settings) -> None:
    actual = doctor.check_disk(settings)

    assert "free where the store is" in actual.finding


def test_a_folder_that_is_not_there_has_no_disk() -> None:
    actual = doctor.check_disk(Settings(store="sqlite:////nowhere/at/all/a.db"))

    assert actual.level == "failed"


def test_a_clock_before_junkai_was_made_fails(settings: Settings) -> None:
    actual = doctor.check_clock(settings, datetime(1970, 1, 2, tzinfo=UTC))

    assert ("failed", "it says 1970-01-02, which has passed") == (actual.level, actual.finding)


def test_a_clock_behind_the_stores_last_writing_fails(settings: Settings, store_file: Path) -> None:
    later = (NOW + timedelta(hours=2)).timestamp()
    os.utime(store_file, (later, later))

    actual = doctor.check_clock(settings, NOW)

    assert ("failed", "the store was last written 2 h ahead of now: the clock has gone back") == (
        actual.level,
        actual.finding,
    )


def test_a_clock_that_goes_on_is_fine(settings: Settings, store_file: Path) -> None:
    earlier = (NOW - timedelta(hours=2)).timestamp()
    os.utime(store_file, (earlier, earlier))

    actual = doctor.check_clock(settings, NOW)

    assert ("ok", "2026-11-27 13:48:00 UTC") == (actual.level, actual.finding)


def test_more_hosts_at_once_than_files_is_a_warning_with_both_numbers() -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    few = doctor.check_open_files(Settings(concurrency=1))
    many = doctor.check_open_files(Settings(concurrency=4096))

    assert few.level == "ok"
    assert ("ok" if hard == resource.RLIM_INFINITY or hard >= 4096 * 2 + 64 else "warning") == many.level


def test_the_bundled_certificates_are_found() -> None:
    actual = doctor.check_ca_file(Settings())

    assert ("ok", True) == (actual.level, "certificates in" in actual.finding)


def test_a_ca_file_that_is_not_there_fails() -> None:
    actual = doctor.check_ca_file(Settings(ca_file="/nowhere/ca.pem"))

    assert ("failed", "/nowhere/ca.pem: No such file or directory") == (actual.level, actual.finding)


def test_a_ca_file_without_certificates_fails(tmp_path: Path) -> None:
    empty = tmp_path / "ca.pem"
    empty.write_text("nothing")

    actual = doctor.check_ca_file(Settings(ca_file=str(empty)))

    assert ("failed", True) == (actual.level, actual.remedy != "")


def test_a_name_server_that_knows_no_name_answers_all_the_same(settings: Settings, name_server: int) -> None:
    actual = doctor.check_dns(settings, port=name_server)

    assert ("ok", "127.0.0.1 answered, with no address for junkai.example") == (actual.level, actual.finding)


def test_no_name_server_is_a_warning_with_what_to_do(settings: Settings) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]

    actual = doctor.check_dns(settings, port=port)

    assert ("warning", True) == (actual.level, "nameservers" in actual.remedy)


def test_a_proxy_resolves_names_itself() -> None:
    actual = doctor.check_dns(Settings(proxy="http://127.0.0.1:3128"))

    assert ("ok", "names are resolved by the proxy") == (actual.level, actual.finding)


def test_every_check_is_made(settings: Settings) -> None:
    actual = [check.name for check in doctor.examine(settings, NOW)]

    assert ["store", "disk", "clock", "open files", "CA file", "DNS"] == actual
