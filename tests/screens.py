"""Nothing in; a terminal of a known width in place of standard output, and what was written to it, out."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock


class _Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


@contextmanager
def screen(*, columns: int = 60) -> Iterator[io.BytesIO]:
    """Standard output is a terminal with colours within the block; its bytes come back."""
    raw = io.BytesIO()
    stream = _Terminal(raw, encoding="utf-8", write_through=True)
    environ = {"COLUMNS": str(columns), "LINES": "24", "TERM": "xterm-256color"}
    with mock.patch.object(sys, "stdout", stream), mock.patch.dict(os.environ, environ):
        yield raw
    stream.detach()
