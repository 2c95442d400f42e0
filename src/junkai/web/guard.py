"""Any request on the listener in; those that this machine itself makes, answered with the safety headers, out.

The page has no password, so that whoever reaches it may read it: a browser must not be tricked into it by a foreign
name that points here (DNS rebinding), and a proxy must not hand it to others. Plain ASGI, nothing of a framework.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, Final

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
Fields = Iterable[tuple[bytes, bytes]]

METHODS: Final = ("GET", "HEAD")
TARGET_BYTES_MAX: Final = 2_048
#: What a proxy leaves in a request (RFC 7239; RFC 9110 §7.6.3; the X- forms of old).
_PROXY_FIELDS: Final = frozenset({b"forwarded", b"via", b"x-real-ip", b"x-client-ip", b"true-client-ip"})
_PROXY_PREFIXES: Final = (b"x-forwarded", b"x-original-", b"cf-")
_HOST: Final = re.compile(r"(localhost|\[[0-9a-f:]+\]|[0-9.]+)(:[0-9]{1,5})?", re.ASCII | re.IGNORECASE)

SAFETY_FIELDS: Final = (
    (
        b"content-security-policy",
        (
            b"default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; "
            b"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
        ),
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-embedder-policy", b"require-corp"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


class Refusal(Exception):  # noqa: N818  # an answer, not a fault
    """A request that is not answered: the status, and why in a sentence."""

    def __init__(self, status: int, why: str, fields: tuple[tuple[bytes, bytes], ...] = ()) -> None:
        super().__init__(why)
        self.status = status
        self.why = why
        self.fields = fields


def check(method: str, target: bytes, fields: Fields) -> None:
    """Raises Refusal unless the request is one that the page answers. Field names are in lower case."""
    received = list(fields)
    for name, _ in received:
        if name in _PROXY_FIELDS or name.startswith(_PROXY_PREFIXES):
            raise Refusal(
                403,
                "This page has no password, so it answers nobody who comes through a proxy: "
                f"the request has the field {name.decode('ascii', 'replace')}.",
            )
    hosts = [value.decode("latin-1").strip() for name, value in received if name == b"host"]
    if len(hosts) != 1 or not is_loopback(hosts[0]):
        raise Refusal(421, "This page answers only under the names of this machine: localhost, 127.0.0.1 or [::1].")
    if method not in METHODS:
        raise Refusal(405, "This page can only be read: GET or HEAD.", ((b"allow", b"GET, HEAD"),))
    if len(target) > TARGET_BYTES_MAX:
        raise Refusal(414, f"No address here is longer than {TARGET_BYTES_MAX:,} bytes.")


def is_loopback(host: str) -> bool:
    """Whether a Host field names this machine: localhost, 127.0.0.0/8 or [::1], with any port or none."""
    found = _HOST.fullmatch(host)
    if found is None:
        return False
    name = found[1].lower()
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False


class Guard:
    """An ASGI application before another: refuses what `check` refuses, and puts SAFETY_FIELDS on every answer."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request; lifespan events pass as they are, and WebSockets are refused."""
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        try:
            check(scope["method"], scope["raw_path"] + scope["query_string"], scope["headers"])
        except Refusal as refusal:
            await _answer(send, refusal)
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *SAFETY_FIELDS]
            await send(message)

        # HEAD is GET to the routes; the server leaves the body out (RFC 9110 §9.3.2).
        await self._application({**scope, "method": "GET"}, receive, send_safely)


async def _answer(send: Send, refusal: Refusal) -> None:
    body = f"{refusal.why}\n".encode()
    fields = (
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    )
    start = {"type": "http.response.start", "status": refusal.status}
    await send({**start, "headers": [*fields, *refusal.fields, *SAFETY_FIELDS]})
    await send({"type": "http.response.body", "body": body})
