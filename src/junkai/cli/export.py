"""`junkai export opml`: subscriptions in; an OPML document on standard output out."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from junkai.cli import options

if TYPE_CHECKING:
    from junkai.config import Effective


class Form(StrEnum):
    """What lists of sources can be written as."""

    OPML = "opml"


@options.with_settings
def export(
    effective: Effective,
    *,
    form: Annotated[Form, typer.Argument(metavar="opml", help="The format.")],  # noqa: ARG001  # there is one so far
    owner: options.Owner = None,
    group: options.Group = None,
) -> None:
    """Write the list of sources, for another reader or a backup."""
    from junkai import clock
    from junkai.backend.listed import FeedFilter
    from junkai.cli import stores
    from junkai.parse.opml import OpmlFeed, write_opml

    with stores.opened_to_read(effective.settings) as store:
        feeds = [
            OpmlFeed(url=row.source.url, title=row.title, site_url=row.source.state.site_url, groups=row.groups)
            for row in store.catalogue.feeds(FeedFilter(owner=owner, group=group))
        ]
    sys.stdout.flush()
    sys.stdout.buffer.write(write_opml("Junkai", feeds, clock.utc_now()))
