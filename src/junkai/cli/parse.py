"""`junkai parse FILE…`: bodies in; a document per line as JSON out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from junkai.cli import options, output
from junkai.cli.files import read
from junkai.errors import JunkaiError

if TYPE_CHECKING:
    from junkai.config import Effective


@options.with_settings
def parse(
    effective: Effective,
    *,
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Feed files; - is standard input.")],
    url: Annotated[
        str, typer.Option("--url", metavar="U", help="The URL it came from; relative URLs start there.")
    ] = "",
    content_type: Annotated[
        str, typer.Option("--content-type", metavar="T", help="The Content-Type it came with.")
    ] = "",
) -> None:
    """Parse feed files; one document per line, as JSON. Asks nobody."""
    from junkai.cli import rows
    from junkai.parse import parse_document

    settings = effective.settings
    is_failed = False
    for file in files:
        try:
            document = parse_document(
                read(file, settings.body_bytes_max),
                url=url,
                content_type=content_type,
                entries_max=settings.entries_max,
            )
        except JunkaiError as error:
            is_failed = True
            output.write_error(f"junkai: {file}: {error.detail or error.__doc__}")
        else:
            output.write_json(rows.document_keys(document))
    if is_failed:
        raise typer.Exit(1)
