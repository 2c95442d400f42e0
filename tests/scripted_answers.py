"""A script in, the bytes of HTTP/1.1 answers out: what a scripted site says."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from asked_log import Asked
from junkai.clock import monotonic

Fields = tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One scripted response. Content-Length is added unless given, or the answer is chunked or close-delimited."""

    status: int = 200
    fields: Fields = ()
    body: bytes = b""
    delay_s: float = 0.0  #: before the first byte
    piece_bytes: int = 0  #: send the body in pieces of this size; 0: in one
    piece_pause_s: float = 0.0  #: between two pieces: a drip
    is_chunked: bool = False  #: Transfer-Encoding: chunked, a chunk per piece
    is_close_delimited: bool = False  #: no Content-Length; the end of the connection ends the body
    cut_after_bytes: int | None = None  #: drop the connection after this many bytes of the body
    close_after: bool = False  #: close the connection after a whole answer
    raw: bytes | None = None  #: send exactly these bytes instead, then close


Simple = bytes | str | Answer
Script = Simple | list[Simple] | Callable[[Asked], Simple]

_REASONS: Final = {status.value: status.phrase for status in HTTPStatus}

NOT_FOUND: Final = Answer(status=404, body=b"nothing here")
NOT_ALLOWED: Final = Answer(status=405, body=b"GET only", close_after=True)


def answering(script: Script, fields: Fields) -> Callable[[Asked], Answer]:
    """The script as a function of what was asked."""
    if isinstance(script, Answer):
        return lambda _asked: script
    if isinstance(script, bytes | str):
        return _document(script.encode() if isinstance(script, str) else script, fields)
    if isinstance(script, list):
        return _in_turn([answering(step, fields) for step in script])
    return lambda asked: answering(script(asked), fields)(asked)


def _in_turn(steps: list[Callable[[Asked], Answer]]) -> Callable[[Asked], Answer]:
    def step(asked: Asked) -> Answer:
        current = steps.pop(0) if len(steps) > 1 else steps[0]
        return current(asked)

    return step


def _document(body: bytes, fields: Fields) -> Callable[[Asked], Answer]:
    """200 with an ETag, or 304 when If-None-Match names it (RFC 9110 §13.1.2)."""
    etag = f'"{hashlib.sha256(body).hexdigest()[:20]}"'
    whole = Answer(fields=(*fields, ("ETag", etag)), body=body)
    unchanged = Answer(status=304, fields=(("ETag", etag),))
    return lambda asked: unchanged if etag in asked.fields.get("if-none-match", "") else whole


def asked_from(head: bytes, host: str) -> Asked | None:
    """The request, or None when it is not HTTP."""
    started_at = monotonic()
    request, *lines = head.decode("latin-1").split("\r\n")
    words = request.split(" ")
    if len(words) != 3:
        return None
    fields: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        name, value = name.lower(), value.strip()
        fields[name] = f"{fields[name]}, {value}" if name in fields else value
    return Asked(host=host, method=words[0], path=words[1], fields=fields, started_at=started_at)


def ends_connection(asked: Asked, answer: Answer) -> bool:
    """The connection is of no use after this answer, or the client wants no other."""
    return (
        answer.close_after
        or answer.is_close_delimited
        or answer.cut_after_bytes is not None
        or answer.raw is not None
        or asked.fields.get("connection", "").lower() == "close"
    )


def head_of(answer: Answer, *, is_last: bool) -> bytes:
    """Status line and header fields."""
    lines = [
        f"HTTP/1.1 {answer.status} {_REASONS.get(answer.status, 'Unheard Of')}",
        *(f"{name}: {value}" for name, value in answer.fields),
    ]
    given = {name.lower() for name, _ in answer.fields}
    if answer.is_chunked:
        lines.append("Transfer-Encoding: chunked")
    elif not answer.is_close_delimited and answer.status not in (204, 304) and "content-length" not in given:
        lines.append(f"Content-Length: {len(answer.body)}")
    if is_last and "connection" not in given:
        lines.append("Connection: close")
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def pieces_of(answer: Answer) -> Iterator[bytes]:
    """The body as it goes on the wire, cut short where the script says so."""
    size = answer.piece_bytes or len(answer.body) or 1
    whole = answer.cut_after_bytes is None
    body = answer.body[: answer.cut_after_bytes]
    for start in range(0, len(body), size):
        piece = body[start : start + size]
        yield b"%x\r\n%b\r\n" % (len(piece), piece) if answer.is_chunked else piece
    if answer.is_chunked and whole:
        yield b"0\r\n\r\n"
