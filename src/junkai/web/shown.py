"""Moments and URLs in; the forms in which a page shows them out. Pure."""

from __future__ import annotations

from datetime import datetime

from junkai import wording
from junkai.immutable import Struct


class Moment(Struct, frozen=True, kw_only=True):
    """A moment as a page shows it: in few words, for machines, and to the second."""

    text: str
    iso: str
    title: str


def moment(at: datetime, text: str) -> Moment:
    """A moment, shown as `text`."""
    return Moment(text=text, iso=f"{at:%Y-%m-%dT%H:%M:%SZ}", title=wording.stamp(at))


def outside(url: str | None) -> str | None:
    """A URL that may stand in a link: of http or https; None for any other (javascript:, data:, …)."""
    return url if url and url[:8].lower().startswith(("http://", "https://")) else None
