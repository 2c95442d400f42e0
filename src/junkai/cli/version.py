"""`junkai version`: nothing in; the version out."""

from __future__ import annotations

import junkai
from junkai.cli import output


def version() -> None:
    """Say which version this is."""
    output.write_line(f"junkai {junkai.__version__}")
