"""What every type that flows is made of: frozen fields, and as JSON only those that differ from their defaults."""

from __future__ import annotations

import msgspec


class Struct(msgspec.Struct, frozen=True, omit_defaults=True):
    """The base of all types that flow between stages, processes and stores."""
