"""Settings in; the listening sockets of a system out, on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from typing import Final

from junkai.clock import monotonic
from junkai.config import Settings
from junkai.errors import UsageError
from junkai.immutable import Struct

_LOOPBACK: Final = "127.0.0.1"
_BACKLOG: Final = 128
#: A web process whose manager was killed holds its port for a moment longer.
_PATIENCE_SECONDS: Final = 3.0
_PAUSE_SECONDS: Final = 0.1


class Ports(Struct, frozen=True, kw_only=True):
    """The listening sockets of a system."""

    status: socket.socket
    status_number: int  #: of the status line protocol
    web: socket.socket | None = None
    page: str = ""  #: the web page's address; "": none is shown


@contextlib.asynccontextmanager
async def listening(settings: Settings, *, has_web: bool, takes_any: bool = False) -> AsyncIterator[Ports]:
    """The ports that the settings name, on loopback; with `takes_any`, others where those are in use.

    Raises UsageError, naming the setting, where one is in use.
    """
    with contextlib.ExitStack() as sockets:
        status = await _listener("status_port", settings.status_port, takes_any=takes_any)
        sockets.enter_context(status)
        number = status.getsockname()[1]
        if not has_web:
            yield Ports(status=status, status_number=number)
            return
        web = await _listener("web_port", settings.web_port, takes_any=takes_any)
        sockets.enter_context(web)
        page = f"http://{_LOOPBACK}:{web.getsockname()[1]}/"
        yield Ports(status=status, status_number=number, web=web, page=page)


async def _listener(setting: str, port: int, *, takes_any: bool) -> socket.socket:
    until_s = monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            return socket.create_server((_LOOPBACK, port), backlog=_BACKLOG)
        except OSError as error:
            if takes_any and port:
                port = 0
            elif monotonic() >= until_s:
                cause = f"{_LOOPBACK}:{port} cannot be listened on: {error.strerror}"
                raise UsageError(setting, f"{cause}; --set {setting}=0 takes any free one") from None
        await asyncio.sleep(_PAUSE_SECONDS)
