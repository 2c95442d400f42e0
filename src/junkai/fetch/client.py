"""One request in, one response out: the only module that knows libcurl.

libcurl neither follows redirects, decodes bodies, resolves names nor keeps cookies here; it connects to the one address
that it is given. Its sockets are watched as a set of their own, which asyncio sees as one file: that halves the cost of
a request against a watcher per socket.
"""

from __future__ import annotations

import _socket
import asyncio
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import certifi
import pycurl  # type: ignore[import-untyped]  # the wheel has no stubs

from junkai import clock
from junkai import url as urls
from junkai.config import Settings
from junkai.errors import FailureKind, FetchError, SettingsError
from junkai.fetch import curl_errors, fields
from junkai.fetch.body import BodyError, Decoder
from junkai.fetch.fields import Fields
from junkai.fetch.message import Request, Response
from junkai.fetch.rate import DripWatch
from junkai.fetch.watch import READ, WRITE, new_watch

HEADER_BYTES_MAX: Final = 64 << 10
HEADER_LINES_MAX: Final = 200
#: Of a body that nobody reads (any status but 2xx), so much is let in to keep the connection.
UNREAD_BYTES_MAX: Final = 64 << 10
INCOMPLETE_BODY: Final = "incomplete_body"  #: the framing was cut short, but nothing is missing
_IDLE_HANDLES_MAX: Final = 256
_CONNECTION_AGE_S: Final = 60
_NO_FIELDS: Final = Fields()
_ABORT: Final = -1
_NO_SOCKET: Final = -1  # CURL_SOCKET_BAD
_SUPPRESS_CONNECT_HEADERS: Final = 265  # pycurl has no name for it


class ConnectError(FetchError):
    """No connection was made, and nothing was sent"""


class Client:
    """An async context manager over one curl multi handle; bound to the event loop that it is entered in."""

    def __init__(self, settings: Settings) -> None:
        if settings.ca_file and not Path(settings.ca_file).is_file():
            raise SettingsError("ca_file", f"no such file: {urls.shown(settings.ca_file)}")
        self._settings = settings
        self._idle: list[_Transfer] = []
        self._running: dict[pycurl.Curl, _Transfer] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._due_at: float | None = None  #: when libcurl wants to be woken; never before `_timer`
        self._is_kicked = False

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._watch = new_watch()
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._on_socket)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._on_timer)
        self._multi.setopt(pycurl.M_MAXCONNECTS, self._settings.concurrency)
        self._loop.add_reader(self._watch.fileno(), self._on_ready)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._fail_all("the client was closed")
        for transfer in self._idle:
            transfer.curl.close()
        self._idle.clear()
        self._loop.remove_reader(self._watch.fileno())
        self._multi.close()
        if self._timer is not None:
            self._timer.cancel()
        self._watch.close()

    @property
    def running(self) -> int:
        """Transfers under way."""
        return len(self._running)

    async def get(self, request: Request) -> Response:
        """Ask, and read the answer to its end. Raises FetchError; ConnectError where nothing was sent.

        When the task is cancelled, the transfer is dropped at once and its connection closed.
        """
        transfer = self._idle.pop() if self._idle else _Transfer(self._settings)
        curl = transfer.curl
        transfer.prepare(request)
        transfer.waiter = self._loop.create_future()
        self._running[curl] = transfer
        self._multi.add_handle(curl)
        try:
            code, message = await transfer.waiter
            return transfer.conclude(code, message)
        finally:
            if self._running.pop(curl, None) is not None:
                self._multi.remove_handle(curl)
            transfer.forget()
            if len(self._idle) < _IDLE_HANDLES_MAX and not self._multi.closed:
                self._idle.append(transfer)
            else:
                curl.close()

    # ── what libcurl asks of an event loop ───────────────────────────────────────────────────────────────────────

    def _on_socket(self, what: int, fd: int, _multi: object, _assigned: object) -> None:
        if what == pycurl.POLL_REMOVE:
            self._watch.forget(fd)
        else:
            self._watch.watch(fd, (READ if what & pycurl.POLL_IN else 0) | (WRITE if what & pycurl.POLL_OUT else 0))

    def _on_timer(self, timeout_ms: int) -> None:
        """libcurl's one timer, moved with every request; one that moves out is looked at when the old moment comes."""
        if timeout_ms == 0:
            self._due_at = None
            if not self._is_kicked:
                self._is_kicked = True
                self._loop.call_soon(self._on_kick)
            return
        self._due_at = self._loop.time() + timeout_ms / 1000 if timeout_ms > 0 else None
        if self._due_at is not None and (self._timer is None or self._timer.when() > self._due_at):
            self._set_timer(self._due_at)

    def _set_timer(self, at: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(at, self._on_time)

    def _on_kick(self) -> None:
        self._is_kicked = False
        self._act(((pycurl.SOCKET_TIMEOUT, 0),))

    def _on_time(self) -> None:
        self._timer = None
        if self._due_at is None:
            return
        if self._loop.time() < self._due_at:
            self._set_timer(self._due_at)
            return
        self._due_at = None
        self._act(((pycurl.SOCKET_TIMEOUT, 0),))

    def _on_ready(self) -> None:
        self._act(self._watch.ready())

    def _act(self, events: Any) -> None:
        """Let libcurl work on its sockets, then wake those whose transfers are done."""
        if self._multi.closed:
            return
        try:
            for fd, event in events:
                self._multi.socket_action(
                    fd, (pycurl.CSELECT_OUT if event & WRITE else 0) | (pycurl.CSELECT_IN if event & READ else 0)
                )
            _, finished, failed = self._multi.info_read()
        except pycurl.error as error:
            self._fail_all(f"libcurl: {error}")
            return
        for curl in finished:
            self._end(curl, 0, "")
        for curl, code, message in failed:
            self._end(curl, code, message)

    def _end(self, curl: pycurl.Curl, code: int, message: str) -> None:
        transfer = self._running.pop(curl, None)
        self._multi.remove_handle(curl)
        if transfer is not None and not transfer.waiter.done():
            transfer.waiter.set_result((code, message))

    def _fail_all(self, why: str) -> None:
        for curl in list(self._running):
            self._end(curl, pycurl.E_FAILED_INIT, why)


class _Socket(_socket.socket):
    """libcurl takes a duplicate of it and drops it at once; closing it here keeps that quiet."""

    def __del__(self) -> None:
        self.close()


class _Transfer:
    """An easy handle and the answer that is growing in it. Reused; only what differs between requests is set anew."""

    request: Request
    _drip: DripWatch
    waiter: asyncio.Future[tuple[int, str]]

    def __init__(self, settings: Settings) -> None:
        self._rate_min_bytes = settings.rate_min_bytes
        self._is_proxied = bool(settings.proxy)
        self.curl = pycurl.Curl()
        self._set_for_good(settings)
        self.forget()

    def _set_for_good(self, settings: Settings) -> None:
        setopt = self.curl.setopt
        setopt(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
        setopt(pycurl.PROXY, settings.proxy)  # "" also turns off what the environment says
        setopt(pycurl.NOPROXY, "" if settings.proxy else "*")
        setopt(pycurl.NETRC, pycurl.NETRC_IGNORED)
        setopt(pycurl.FOLLOWLOCATION, 0)
        setopt(pycurl.PATH_AS_IS, 1)
        setopt(pycurl.HTTP09_ALLOWED, 0)
        setopt(_SUPPRESS_CONNECT_HEADERS, 1)  # a proxy's answer to CONNECT is not the site's
        setopt(pycurl.HTTP_CONTENT_DECODING, 0)
        setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_2TLS)
        setopt(pycurl.DNS_CACHE_TIMEOUT, 0)  # libcurl walks its cache on every transfer
        setopt(pycurl.MAXAGE_CONN, _CONNECTION_AGE_S)
        setopt(pycurl.NOSIGNAL, 1)
        setopt(pycurl.CAINFO, settings.ca_file or certifi.where())
        setopt(pycurl.HEADERFUNCTION, self._on_header)
        setopt(pycurl.WRITEFUNCTION, self._on_body)
        if not self._is_proxied:
            setopt(pycurl.OPENSOCKETFUNCTION, self._on_connect)

    def prepare(self, request: Request) -> None:
        """Set what this request asks for. Raises FetchError where it cannot be sent as it is."""
        self.request = request
        url = request.url
        lines = [f"{name}: {value}".encode("latin-1") for name, value in request.fields]
        sent = b"".join(lines)
        if b"\n" in sent or b"\r" in sent or b"\0" in sent:
            raise FetchError(url.verbatim, FailureKind.INTERNAL, "a control character in a request field")
        setopt = self.curl.setopt
        setopt(pycurl.URL, url.verbatim)
        setopt(pycurl.HTTPHEADER, lines)
        if not self._is_proxied:
            # libcurl would rewrite %7e in the path to %7E
            setopt(pycurl.REQUEST_TARGET, url.verbatim[len(url.scheme) + 3 + len(url.host) :])
            literal = f"[{request.address}]" if ":" in request.address else request.address
            setopt(pycurl.CONNECT_TO, [f"::{literal}:{url.port}"])
        setopt(pycurl.TIMEOUT_MS, max(1, int(request.deadline_s * 1000)))
        setopt(pycurl.CONNECTTIMEOUT_MS, max(1, int(request.connect_s * 1000)))
        setopt(pycurl.FORBID_REUSE, request.is_last)

    def forget(self) -> None:
        """Let go of the last answer."""
        self._lines: list[bytes] = []
        self._head_bytes = 0
        self._head_lines = 0
        self._status = 0
        self._is_head_done = False
        self._is_status_odd = False
        self._decoder: Decoder | None = None
        self._received = 0
        self._fields = _NO_FIELDS
        self._flags: tuple[str, ...] = ()
        self._failure: BodyError | None = None

    # ── what libcurl calls: must never raise ─────────────────────────────────────────────────────────────────────

    def _on_connect(self, _purpose: int, address: Any) -> _Socket | int:
        """The second line of defence: no socket for any address but the checked one."""
        if address.addr[0] != self.request.address:
            self._failure = BodyError(FailureKind.BLOCKED, f"{address.addr[0]} is not the address that was checked")
            return _NO_SOCKET
        return _Socket(address.family, address.socktype, address.protocol)

    def _on_header(self, line: bytes) -> int | None:
        """One line of a head, status lines and the empty line at its end included."""
        self._head_bytes += len(line)
        self._head_lines += 1
        if self._head_bytes > HEADER_BYTES_MAX or self._head_lines > HEADER_LINES_MAX:
            self._failure = BodyError(FailureKind.TOO_LARGE, "header fields beyond the bounds")
            return _ABORT
        if self._is_head_done:  # a trailer
            return None
        if line == b"\r\n" or line == b"\n":  # noqa: PLR1714  # of all lines the fastest test
            self._status = _status_of(self._lines)
            if self._status >= 200:
                self._is_head_done = True
            elif self._status < 100:  # RFC 9110 §15: three digits, the first of them 1 to 5
                self._is_status_odd = True
                return _ABORT
            else:
                self._lines.clear()  # 1xx: only the final answer's fields count
        else:
            self._lines.append(line)
        return None

    def _on_body(self, data: bytes) -> int | None:
        self._received += len(data)
        if not 200 <= self._status < 300:
            return _ABORT if self._received > UNREAD_BYTES_MAX else None
        try:
            if self._decoder is None:
                self._read_fields()
                # Only a body can drip: a server may think for as long as the deadline lets it.
                self._drip = DripWatch(rate_min_bytes=self._rate_min_bytes, began_at=clock.monotonic())
                self._decoder = Decoder(self._fields.joined("content-encoding") or "", self.request.body_bytes_max)
                self._check_length()
            elif self._drip.is_dripping(len(data), clock.monotonic()):
                self._failure = BodyError(FailureKind.DEADLINE, f"slower than {self._rate_min_bytes} bytes a second")
                return _ABORT
            self._decoder.feed(data)
        except BodyError as error:
            self._failure = error
            return _ABORT
        return None

    def _check_length(self) -> None:
        """End a download that announces more than may be read (a podcast, say) before it costs anything."""
        length = self._fields.get("content-length") or ""
        if length.isdecimal() and len(length) < 20 and int(length) > self.request.body_bytes_max:
            raise BodyError(FailureKind.TOO_LARGE, f"the body is {length} bytes long")

    # ── the end ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _read_fields(self) -> None:
        self._fields, self._flags = fields.parse(self._lines)

    def conclude(self, code: int, message: str) -> Response:
        """The response, or FetchError for what went wrong; `code` and `message` are libcurl's."""
        url = self.request.url.verbatim
        if self._failure is not None:
            raise FetchError(url, self._failure.kind, self._failure.detail)
        if not self._is_head_done:
            if self._is_status_odd:
                raise FetchError(url, FailureKind.PROTOCOL, "a status that HTTP does not have")
            if code == 0:  # libcurl takes the end of the stream for the end of the head
                raise FetchError(url, FailureKind.INCOMPLETE, "the header ends too early")
            if curl_errors.is_connect(code) and self._was_not_sent(code):
                raise ConnectError(url, FailureKind.CONNECT, message)
            raise FetchError(url, curl_errors.kind_of(code, has_head=False), message)
        if self._decoder is None:
            self._read_fields()
        flags = self._flags
        body = b""
        if 200 <= self._status < 300:
            if code != 0:
                if self._decoder is None or not self._decoder.is_whole:
                    raise FetchError(url, curl_errors.kind_of(code, has_head=True), message)
                flags += (INCOMPLETE_BODY,)
            body, flags = self._finished_body(flags)
        return Response(
            url=url,
            status=self._status,
            fields=self._fields,
            body=body,
            bytes_received=self._received,
            address=self.request.address,
            flags=flags,
        )

    def _was_not_sent(self, code: int) -> bool:
        """True where another address may still be tried: not after the whole deadline was spent on this one."""
        is_over = code == pycurl.E_OPERATION_TIMEDOUT and self.request.connect_s >= self.request.deadline_s
        return not is_over and not self.curl.getinfo(pycurl.REQUEST_SIZE)

    def _finished_body(self, flags: tuple[str, ...]) -> tuple[bytes, tuple[str, ...]]:
        if self._decoder is None:
            return b"", flags
        try:
            body = self._decoder.finish()
        except BodyError as error:
            raise FetchError(self.request.url.verbatim, error.kind, error.detail) from error
        return body, flags + self._decoder.flags


def _status_of(lines: list[bytes]) -> int:
    parts = lines[0].split(None, 2) if lines else []
    is_number = len(parts) > 1 and len(parts[1]) == 3 and parts[1].isdigit()
    return int(parts[1]) if is_number and parts[1] < b"600" else 0
