"""What goes to the client and what comes back from it: Request and Response."""

from __future__ import annotations

from junkai.fetch.fields import Fields
from junkai.immutable import Struct
from junkai.url import Url


class Request(Struct, frozen=True, kw_only=True):
    """One GET, to one address that the guard has checked."""

    url: Url
    fields: tuple[tuple[str, str], ...]  #: all that are sent besides Host; latin-1
    address: str  #: without brackets; "" where a proxy resolves the name
    deadline_s: float  #: seconds from now to the end of the body
    connect_s: float  #: seconds from now to a connection, TLS included
    body_bytes_max: int  #: decoded
    is_last: bool = False  #: close the connection afterwards: nothing else will be asked of this host


class Response(Struct, frozen=True, kw_only=True):
    """The final answer to one request. Only 2xx bodies are kept."""

    url: str
    status: int
    fields: Fields
    body: bytes  #: decoded
    bytes_received: int  #: of the body, on the wire
    address: str
    flags: tuple[str, ...] = ()  #: what had to be put up with, in stable words
