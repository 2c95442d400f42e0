"""`junkai hosts` and `junkai host HOST`: hosts, and the operator's word on one, in; how they stand and why out."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from junkai.cli import options, output
from junkai.cli.output import Cell, Column
from junkai.errors import UrlError, UsageError

if TYPE_CHECKING:
    from junkai.backend.listed import HostRow
    from junkai.config import Effective


@options.with_settings
def hosts(effective: Effective, *, limit: options.Limit = None, is_json: options.AsJson = False) -> None:
    """List hosts: sources, delay, holds, and when each is asked next."""
    from junkai import clock, wording
    from junkai.cli import rows, stores

    now = clock.utc_now()

    def fields(row: HostRow) -> tuple[str, ...]:
        word, sentence = wording.host_standing(row, now)
        return (row.host, word.lower(), str(row.sources), str(row.due), f"{row.delay_s:g}", str(row.slots), sentence)

    def cells(row: HostRow) -> tuple[Cell, ...]:
        word, sentence = wording.host_standing(row, now)
        return (
            Cell(row.host, row.domain if row.domain != row.host else "", "bold"),
            Cell(word, sentence, output.STATE_STYLES.get(word, "")),
            Cell(wording.count(row.sources), f"{wording.count(row.due)} due"),
            Cell(f"{row.delay_s:g} s", f"{row.slots} slots" if row.slots > 1 else ""),
        )

    with stores.opened_to_read(effective.settings) as store:
        output.write_list(
            store.hosts.listed(now),
            is_json=is_json,
            view=rows.host_keys,
            fields=fields,
            columns=(
                Column("Host", ratio=4),
                Column("State", ratio=5),
                Column("Sources", is_right=True, is_whole=True),
                Column("Delay", is_right=True, is_whole=True),
            ),
            cells=cells,
            empty="No hosts yet.",
            limit=limit,
        )


@options.with_settings
def host(
    effective: Effective,
    *,
    name: Annotated[str, typer.Argument(metavar="HOST", help="A host, as in blog.example or blog.example:8080.")],
    delay: Annotated[
        str | None, typer.Option("--delay", metavar="S", help="Seconds between two requests to it.")
    ] = None,
    slots: Annotated[
        int | None, typer.Option("--slots", metavar="N", min=1, max=64, help="Requests at a time.")
    ] = None,
    hold: Annotated[
        str | None, typer.Option("--hold", metavar="SPAN|off", help="Do not ask it for 2h, say; off lifts a hold.")
    ] = None,
    is_exempt: Annotated[
        bool | None, typer.Option("--exempt/--no-exempt", help="Answers of 429 and 503 do not hold it.")
    ] = None,
    is_blocked: Annotated[bool | None, typer.Option("--block/--unblock", help="Never ask it.")] = None,
    is_explained: Annotated[bool, typer.Option("--explain", help="Say why it is or is not asked now.")] = False,
    is_json: options.AsJson = False,
) -> None:
    """Show one host, or change how it is asked."""
    from junkai import clock, timespan, wording
    from junkai.cli import rows, stores

    now = clock.utc_now()
    key = _key(name)
    delay_s = timespan.seconds(delay) if delay is not None else None
    hold_until = _hold_until(hold, now)
    is_change = any(value is not None for value in (delay_s, slots, hold_until, is_exempt, is_blocked))
    with (stores.opened if is_change else stores.opened_to_read)(effective.settings) as store:
        row = (
            store.hosts.change(
                key,
                now,
                delay_s=delay_s,
                slots=slots,
                hold_until=hold_until,
                is_exempt=is_exempt,
                is_blocked=is_blocked,
            )
            if is_change
            else store.hosts.find(key, now)
        )
    if row is None:
        raise UsageError(key, "no such host in the store; `junkai hosts` lists them")
    if is_json:
        explained: rows.Keys = {"explanation": wording.host_explanation(row, now)} if is_explained else {}
        output.write_json({**rows.host_keys(row), **explained})
        return
    output.write_heading(row.host)
    if is_explained:
        for line in wording.host_explanation(row, now):
            output.write_line(line)
        return
    output.write_facts(_facts(row, now))


def _facts(row: HostRow, now: datetime) -> Iterator[tuple[str, str]]:
    from junkai import wording

    yield "State", " · ".join(wording.host_standing(row, now))
    yield "Sources", f"{wording.count(row.sources)}, {wording.count(row.due)} due"
    yield "Delay", f"{row.delay_s:g} s between two requests"
    yield "Slots", f"{row.slots} at a time" if row.slots > 1 else "1 request at a time"
    yield "Floor", f"no request before {wording.clock(row.not_before, now)}" if row.not_before else ""
    yield "Exempt", "429 and 503 do not hold it" if row.is_exempt else ""
    yield "Domain", row.domain


def _key(name: str) -> str:
    from junkai import url

    try:
        if "*" in name or ("/" in name and "://" not in name):
            raise UsageError(
                url.shown(name), "not one host; the setting `block` takes domains (*.example.org) and networks"
            )
        return url.parse(name if "://" in name else f"http://{name}").host
    except UrlError:
        raise UsageError(url.shown(name), "not a host; write it like blog.example or blog.example:8080") from None


def _hold_until(hold: str | None, now: datetime) -> datetime | None:
    """The moment that a hold ends; one that has passed lifts it."""
    from junkai import timespan

    if hold is None:
        return None
    return now if hold == "off" else now + timedelta(seconds=timespan.seconds(hold))
