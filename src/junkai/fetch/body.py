"""Body bytes as they come off the wire, and their Content-Encoding, in; the decoded body, never over its cap, out.

The coding is told by magic bytes where it has them (gzip, zlib, zstd) and else by the header (br, raw deflate), because
servers send gzip unlabelled and plain text labelled gzip. At most LAYERS_MAX codings lie on top of each other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from junkai.errors import FailureKind
from junkai.fetch.codings import Brotli, Coding, Inflate, Zstd

#: What a request may list: exactly what is decoded here (RFC 9110 §12.5.3).
ACCEPT_ENCODING: Final = "gzip, deflate, br, zstd"
LAYERS_MAX: Final = 2
#: Compressed bytes may exceed the cap on decoded ones by this much: framing, trailing garbage.
_SLACK_BYTES: Final = 64 << 10
_MAGIC_BYTES: Final = 4
_SECOND_OF_ZLIB: Final = b"\x01\x5e\x9c\xda"
_IDENTITY: Final = frozenset({"", "identity", "none", "utf-8"})

UNLABELLED: Final = "coding_unlabelled"  #: compressed, and no Content-Encoding said so
MISLABELLED: Final = "coding_mislabelled"  #: Content-Encoding named a coding that the bytes are not in


class BodyError(Exception):
    """The body cannot be had: `kind` says how."""

    def __init__(self, kind: FailureKind, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail


class Decoder:
    """Decodes one body piece by piece. All calls raise BodyError: TOO_LARGE, PROTOCOL or INCOMPLETE."""

    def __init__(self, content_encoding: str, body_bytes_max: int) -> None:
        labels = [label.strip().lower() for label in content_encoding.split(",")]
        self._labels = [label for label in labels if label not in _IDENTITY]
        self._body_bytes_max = body_bytes_max
        self._received = 0
        self._size = 0
        self._pieces: list[bytes] = []
        self._layers: list[Coding] = []
        self._outputs: list[int] = []  #: bytes that came out of each
        self._flags: list[str] = []
        self._head: bytes | None = b""  #: the start of the innermost layer's input, until its coding is known

    def feed(self, data: bytes) -> None:
        """Take the next bytes off the wire."""
        self._received += len(data)
        if self._received > self._body_bytes_max + _SLACK_BYTES:
            raise self._too_large()
        if self._layers:
            self._decode(0, data)
        else:
            self._sniff(data)

    def finish(self) -> bytes:
        """The whole decoded body; raises INCOMPLETE where a compressed stream has not come to its end."""
        self._settle()
        if not self.is_whole and self._layers:
            raise BodyError(FailureKind.INCOMPLETE, "the compressed body ends too early")
        return b"".join(self._pieces)

    @property
    def is_whole(self) -> bool:
        """True where the coding itself has marked the end: nothing is missing, whatever the framing says."""
        return bool(self._layers) and all(layer.is_finished for layer in self._layers)

    @property
    def flags(self) -> tuple[str, ...]:
        """What had to be put up with, in stable words."""
        return tuple(dict.fromkeys([*self._flags, *(flag for layer in self._layers for flag in layer.flags)]))

    def _settle(self) -> None:
        """Decide on what came of a head that never grew to full size."""
        while self._head:
            head, self._head = self._head, None
            self._begin_layer(head)

    def _sniff(self, data: bytes) -> None:
        if self._head is None:
            self._keep(data)
            return
        self._head += data
        if len(self._head) >= _MAGIC_BYTES:
            head, self._head = self._head, None
            self._begin_layer(head)

    def _begin_layer(self, head: bytes) -> None:
        """Choose the coding of the innermost layer by its first bytes, then decode them."""
        label = self._labels.pop() if self._labels else ""
        coding = _by_magic(head, label)
        if coding is not None:
            if not label:
                self._flags.append(UNLABELLED)
        elif label in ("br", "deflate"):
            coding = _by_trial(Brotli if label == "br" else _raw_deflate, head)
        if coding is None:
            if label:
                self._flags.append(MISLABELLED)
            self._keep(head)
            return
        if len(self._layers) == LAYERS_MAX:
            raise BodyError(FailureKind.PROTOCOL, f"more than {LAYERS_MAX} codings on top of each other")
        self._layers.append(coding)
        self._outputs.append(0)
        self._head = b""
        self._decode(len(self._layers) - 1, head)

    def _decode(self, depth: int, data: bytes) -> None:
        """Run `data` through the layers from `depth` on; output is taken in small pieces, so that no bomb goes off."""
        try:
            for piece in self._layers[depth].pieces(data):
                # What an inner layer drops as trailing never reaches the body, and costs as much as if it did.
                self._outputs[depth] += len(piece)
                if self._outputs[depth] > self._body_bytes_max + _SLACK_BYTES:
                    raise self._too_large()
                if depth + 1 < len(self._layers):
                    self._decode(depth + 1, piece)
                else:
                    self._sniff(piece)
        except ValueError as error:
            raise BodyError(FailureKind.PROTOCOL, f"broken coding: {error}") from error

    def _keep(self, data: bytes) -> None:
        self._size += len(data)
        if self._size > self._body_bytes_max:
            raise self._too_large()
        self._pieces.append(data)

    def _too_large(self) -> BodyError:
        return BodyError(FailureKind.TOO_LARGE, f"the body is larger than {self._body_bytes_max} bytes")


def _by_magic(head: bytes, label: str) -> Coding | None:
    if head.startswith(b"\x1f\x8b\x08"):
        return Inflate.gzip()
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return Zstd()
    if label == "br":
        return None
    # Two bytes are a weak mark: unless the label says deflate, only the four headers that compressors write, and what
    # follows must go on well.
    is_zlib = len(head) > 1 and head[0] & 0x8F == 0x08 and (head[0] << 8 | head[1]) % 31 == 0 and not head[1] & 0x20
    if is_zlib and label == "deflate":
        return Inflate.zlib()
    if is_zlib and len(head) >= _MAGIC_BYTES and head[0] == 0x78 and head[1] in _SECOND_OF_ZLIB:
        return _by_trial(Inflate.zlib, head)
    return None


def _raw_deflate() -> Coding:
    return Inflate.raw()


def _by_trial(make: Callable[[], Coding], head: bytes) -> Coding | None:
    """A coding without magic bytes, unless it stumbles over the very first piece: then the label lies."""
    trial = make()
    try:
        for _ in trial.pieces(head):
            break
    except ValueError:
        return None
    return make()
