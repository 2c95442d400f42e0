"""The sockets that a system listens on: all on loopback, and a clear word where one is taken."""

from __future__ import annotations

import asyncio
import socket

import pytest
from msgspec.structs import replace

from junkai.config import Settings
from junkai.errors import UsageError
from junkai.supervision import ports
from junkai.supervision.ports import listening

ANY = Settings(status_port=0, web_port=0)


async def addresses(settings: Settings, *, has_web: bool, takes_any: bool = False) -> tuple[str, int, str]:
    async with listening(settings, has_web=has_web, takes_any=takes_any) as opened:
        return opened.status.getsockname()[0], opened.status_number, opened.page


def test_both_ports_are_on_loopback() -> None:
    address, number, page = asyncio.run(addresses(ANY, has_web=True))

    assert "127.0.0.1" == address
    assert number > 0
    assert page.startswith("http://127.0.0.1:")


def test_without_a_web_process_there_is_no_page() -> None:
    assert asyncio.run(addresses(ANY, has_web=False))[2] == ""


@pytest.mark.parametrize("setting", ["status_port", "web_port"])
def test_a_port_in_use_is_named_with_its_setting(setting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "_PATIENCE_SECONDS", 0.0)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError) as refused:
            asyncio.run(addresses(replace(ANY, **{setting: port}), has_web=True))

    assert str(refused.value).startswith(f"{setting}: 127.0.0.1:{port} cannot be listened on: ")


def test_a_port_that_comes_free_in_time_is_taken() -> None:
    async def freed_while_asked_for() -> int:
        taken = socket.create_server(("127.0.0.1", 0))
        port = int(taken.getsockname()[1])
        asyncio.get_running_loop().call_later(0.15, taken.close)
        return port - (await addresses(replace(ANY, status_port=port), has_web=False))[1]

    assert 0 == asyncio.run(freed_while_asked_for())


def test_a_demo_takes_another_port_where_its_own_is_in_use() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        number = asyncio.run(addresses(replace(ANY, status_port=port), has_web=False, takes_any=True))[1]

    assert number not in (0, port)
