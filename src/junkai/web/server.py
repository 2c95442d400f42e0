"""Settings and a listening socket in; the page, served on it until SIGTERM or SIGINT, out."""

from __future__ import annotations

import signal
import socket
import sys
from typing import Final

import uvicorn

from junkai import clock, logs
from junkai.config import Settings
from junkai.status_port import ask
from junkai.web.guard import Application
from junkai.web.site import application

_ASK_SECONDS: Final = 2.0
_CONNECTIONS_MAX: Final = 100
_HEADER_BYTES_MAX: Final = 16_384
_KEEP_ALIVE_SECONDS: Final = 15
_GRACE_SECONDS: Final = 2


def serve(settings: Settings, listener: socket.socket, *, status_port: int) -> None:
    """Serve until told to end; answers under way are finished, for two seconds at most. Blocks."""
    logs.write_troubles(is_json=logs.is_json(settings, is_terminal=sys.stderr.isatty()))
    # The server takes these over while it runs and raises them once more at its end, when they have done their work.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    app = application(settings.store, lambda: ask(status_port, timeout_s=_ASK_SECONDS), clock.utc_now)
    uvicorn.Server(config(app)).run(sockets=[listener])


def config(app: Application) -> uvicorn.Config:
    """How the server runs: one process, every bound set, nothing in it that a page on loopback does not need."""
    return uvicorn.Config(
        app,
        loop="asyncio",
        http="h11",
        ws="none",
        lifespan="on",
        interface="asgi3",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=_CONNECTIONS_MAX,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        h11_max_incomplete_event_size=_HEADER_BYTES_MAX,
    )
