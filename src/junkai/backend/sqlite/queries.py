"""A file of named SQL queries in; a dictionary from each one's name to its text out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

_FOLDER: Final = Path(__file__).parent / "sql"
#: `-- name: what it is for`, at the start of a line, begins a query.
_TITLE: Final = re.compile(r"^-- (\w+): .+\n", re.MULTILINE)


def load(topic: str) -> dict[str, str]:
    """The queries of `sql/<topic>.sql`."""
    _, *parts = _TITLE.split((_FOLDER / f"{topic}.sql").read_text(encoding="utf-8"))
    return {name: text.strip().removesuffix(";") for name, text in zip(parts[::2], parts[1::2], strict=True)}
