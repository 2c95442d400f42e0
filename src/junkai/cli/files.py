"""A file's name, or `-` for standard input, in; its bytes, under a bound, out."""

from __future__ import annotations

import sys
from pathlib import Path

from junkai.errors import UsageError


def read(file: str, bytes_max: int) -> bytes:
    """The whole of it. Raises UsageError where it cannot be read or has more than `bytes_max`."""
    try:
        if file == "-":
            body = sys.stdin.buffer.read(bytes_max + 1)
        else:
            with Path(file).open("rb") as opened:
                body = opened.read(bytes_max + 1)
    except OSError as error:
        raise UsageError(file, f"cannot be read: {error.strerror}") from error
    if len(body) > bytes_max:
        raise UsageError(file, f"larger than {bytes_max:,} bytes")
    return body
