"""Compressed bytes in; decompressed bytes, in pieces of bounded size, out: gzip, zlib, raw deflate, br and zstd."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Final, Protocol

import brotli  # type: ignore[import-untyped]  # the wheel has no stubs
import zstandard

CHECKSUM: Final = "coding_checksum"  #: the data came to its proper end, but its checksum is wrong or cut off
TRAILING: Final = "coding_trailing_bytes"  #: something follows the compressed data

PIECE_BYTES: Final = 64 << 10
#: gzip members or zstd frames in one body: block-wise compressors write some 160 into 10 MiB, bombs a million.
PARTS_MAX: Final = 1_000
#: One zstd block of 4 bytes can become 128 KiB, and the library has no limit on output: small bites bound it (8 MiB).
_ZSTD_BITE_BYTES: Final = 256
#: RFC 9659: what a decoder of the content coding must support, and need not exceed.
_ZSTD_WINDOW_BYTES: Final = 8 << 20
_GZIP_HEADER_BYTES_MAX: Final = 64 << 10
_GZIP_MAGIC: Final = b"\x1f\x8b\x08"
_ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"


class Coding(Protocol):
    """One layer of compression, decoded piece by piece."""

    @property
    def flags(self) -> set[str]:
        """What had to be put up with so far."""

    @property
    def is_finished(self) -> bool:
        """True once the data's own end mark has been met."""

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """What `data` decodes to, PIECE_BYTES or a little more at a time. Raises ValueError for broken data."""


class Inflate:
    """DEFLATE (RFC 1951), bare or in a zlib (RFC 1950) or gzip (RFC 1952) wrapper; gzip may have several members.

    The wrapper is read here rather than by zlib: a wrong or missing checksum behind data that has come to its proper
    end is flagged, not refused. Broken servers send such for years, and every browser shows the page.
    """

    def __init__(self, wrapper: str) -> None:
        self._flags: set[str] = set()
        self._wrapper = wrapper
        self._trailer_bytes = {"gzip": 8, "zlib": 4, "raw": 0}[wrapper]
        self._state = "data" if wrapper == "raw" else "header"
        self._pending = b""  #: of a header or trailer that is not complete yet
        self._members = 0
        self._begin_member()

    @classmethod
    def gzip(cls) -> Inflate:
        """For data that starts with a gzip header."""
        return cls("gzip")

    @classmethod
    def zlib(cls) -> Inflate:
        """For data that starts with a zlib header."""
        return cls("zlib")

    @classmethod
    def raw(cls) -> Inflate:
        """For bare deflate data."""
        return cls("raw")

    @property
    def flags(self) -> set[str]:
        """See Coding; a checksum that has not come yet counts as cut off."""
        is_cut = self._state == "trailer" and len(self._pending) < self._trailer_bytes
        return self._flags | {CHECKSUM} if is_cut else self._flags

    @property
    def is_finished(self) -> bool:
        """True once a member has come to its end and no further one has begun."""
        return self._state in ("trailer", "after")

    def _begin_member(self) -> None:
        self._members = _one_more(self._members)
        self._inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        self._check = 1 if self._wrapper == "zlib" else 0

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """See Coding."""
        has_more = False  # output that zlib still holds although it has taken all input
        while data or has_more:
            if self._state == "header":
                data = self._read_header(self._pending + data)
            elif self._state == "data":
                piece = self._inflate(data)
                has_more = len(piece) == PIECE_BYTES and not self._inflater.eof
                data = self._inflater.unconsumed_tail
                if self._inflater.eof:
                    data, self._state = self._inflater.unused_data, "trailer"
                if piece:
                    yield piece
            elif self._state == "trailer":
                data = self._read_trailer(self._pending + data)
            else:
                data = self._read_after(self._pending + data)

    def _inflate(self, data: bytes) -> bytes:
        try:
            piece = self._inflater.decompress(data, PIECE_BYTES)
        except zlib.error as error:
            raise ValueError(str(error)) from None
        self._check = (zlib.adler32 if self._wrapper == "zlib" else zlib.crc32)(piece, self._check)
        return piece

    def _read_header(self, data: bytes) -> bytes:
        size = 2 if self._wrapper == "zlib" else _gzip_header_size(data)
        if size is None or size > len(data):
            if len(data) > _GZIP_HEADER_BYTES_MAX:
                raise ValueError("gzip header too long")
            self._pending = data
            return b""
        if self._wrapper == "zlib" and data[1] & 0x20:
            raise ValueError("zlib with a preset dictionary")
        self._pending, self._state = b"", "data"
        return data[size:]

    def _read_trailer(self, data: bytes) -> bytes:
        if len(data) < self._trailer_bytes:
            self._pending = data
            return b""
        claimed = int.from_bytes(data[:4], "little" if self._wrapper == "gzip" else "big")
        if self._trailer_bytes and claimed != self._check:
            self._flags.add(CHECKSUM)
        self._pending, self._state = b"", "after"
        return data[self._trailer_bytes :]

    def _read_after(self, data: bytes) -> bytes:
        """Another gzip member, or bytes of no meaning: dropped."""
        if self._wrapper == "gzip" and data.startswith(_GZIP_MAGIC):
            self._pending, self._state = b"", "header"
            self._begin_member()
            return data
        if self._wrapper == "gzip" and _GZIP_MAGIC.startswith(data):
            self._pending = data
            return b""
        if data.strip(b"\0"):  # gzip pads with zeros (RFC 1952 allows tools to ignore them)
            self._flags.add(TRAILING)
        self._pending = b""
        return b""


def _one_more(parts: int) -> int:
    if parts == PARTS_MAX:
        raise ValueError(f"more than {PARTS_MAX} members or frames")
    return parts + 1


def _gzip_header_size(data: bytes) -> int | None:
    """Bytes of the gzip header that `data` starts with (RFC 1952 §2.3); None where more is needed to tell."""
    if len(data) < 10:
        return None
    flags, size = data[3], 10
    if flags & 0x04:  # FEXTRA
        if len(data) < 12:
            return None
        size = 12 + int.from_bytes(data[10:12], "little")
    for flag in (0x08, 0x10):  # FNAME, FCOMMENT
        if flags & flag:
            end = data.find(b"\0", size)
            if end < 0:
                return None
            size = end + 1
    return size + 2 if flags & 0x02 else size  # FHCRC


class Brotli:
    """Brotli (RFC 7932)."""

    def __init__(self) -> None:
        self._flags: set[str] = set()
        self._decompressor = brotli.Decompressor()

    @property
    def flags(self) -> set[str]:
        """See Coding."""
        return self._flags

    @property
    def is_finished(self) -> bool:
        """True after the last meta-block."""
        return bool(self._decompressor.is_finished())

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """See Coding."""
        if self._decompressor.is_finished():
            self._flags.add(TRAILING)
            return
        try:
            piece = self._decompressor.process(data, output_buffer_limit=PIECE_BYTES)
            while piece or not self._decompressor.can_accept_more_data():
                yield piece
                if self._decompressor.is_finished():
                    return
                piece = self._decompressor.process(b"", output_buffer_limit=PIECE_BYTES)
        except brotli.error as error:
            raise ValueError(str(error) or "brotli") from None


class Zstd:
    """Zstandard (RFC 8878), one frame or several, windows as RFC 9659 allows."""

    def __init__(self) -> None:
        self._flags: set[str] = set()
        self._pending = b""  #: what may be the start of a further frame's magic number
        self._frames = 0
        self._begin_frame()

    @property
    def flags(self) -> set[str]:
        """See Coding."""
        return self._flags

    @property
    def is_finished(self) -> bool:
        """True after the last block of a frame, while no further frame has begun."""
        return self._frame.eof

    def _begin_frame(self) -> None:
        self._frames = _one_more(self._frames)
        self._frame = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW_BYTES).decompressobj()

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """See Coding."""
        view = memoryview(data)
        for start in range(0, len(view), _ZSTD_BITE_BYTES):
            bite = bytes(view[start : start + _ZSTD_BITE_BYTES])
            while bite:
                if self._frame.eof:
                    bite, self._pending = self._pending + bite, b""
                    if len(bite) < len(_ZSTD_MAGIC) and _ZSTD_MAGIC.startswith(bite):
                        self._pending = bite
                        break
                    if not bite.startswith(_ZSTD_MAGIC):
                        self._flags.add(TRAILING)
                        return
                    self._begin_frame()
                try:
                    piece = self._frame.decompress(bite)
                except zstandard.ZstdError as error:
                    raise ValueError(str(error)) from None
                if piece:
                    yield piece
                bite = self._frame.unused_data if self._frame.eof else b""
