"""Every command by its name: the one list of what `junkai` can do, in the order of its help."""

from __future__ import annotations

import errno
import functools
import sys
from collections.abc import Callable
from typing import Any, Final

import typer

from junkai.cli import (
    check,
    config,
    crawl,
    demo,
    doctor,
    entries,
    export,
    feed,
    feeds,
    fetch,
    hosts,
    intake,
    output,
    parse,
    plugin,
    run,
    sources,
    status,
    version,
)

program = typer.Typer(
    name="junkai",
    help="Keeps up with feeds, politely: add some, crawl them, read what they published.",
    epilog="Settings come from junkai.toml, JUNKAI_* and --set; `junkai config` shows them all.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich" if sys.stdout.isatty() else None,
    context_settings={"help_option_names": ["--help", "-h"]},
)

_PANELS: Final[dict[str, dict[str, Callable[..., None]]]] = {
    "Sources": {
        "add": intake.add,
        "import": intake.import_opml,
        "export": export.export,
        "feeds": feeds.feeds,
        "feed": feed.feed,
        "entries": entries.entries,
        "pause": sources.pause,
        "resume": sources.resume,
        "refresh": sources.refresh,
        "remove": sources.remove,
    },
    "Crawling": {
        "run": run.run,
        "crawl": crawl.crawl,
        "status": status.status,
        "check": check.check,
        "hosts": hosts.hosts,
        "host": hosts.host,
        "fetch": fetch.fetch,
        "parse": parse.parse,
    },
    "This installation": {
        "config": config.config,
        "doctor": doctor.doctor,
        "demo": demo.demo,
        "version": version.version,
    },
}
#: A monitoring plugin ends with its own exit codes, whatever happens.
_CLASSES: Final = {"check": plugin.Plugin}


def _while_read(command: Callable[..., None]) -> Callable[..., None]:
    """The command, ended quietly and well when the reader of its output, such as `head`, has had enough."""

    @functools.wraps(command)
    def wrapped(**arguments: Any) -> None:
        try:
            command(**arguments)
            sys.stdout.flush()
        except BrokenPipeError:
            output.discard_output()
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EIO, errno.EBADF):
                raise
            output.discard_output()
            output.write_error(f"junkai: standard output: cannot be written: {error.strerror}")
            raise typer.Exit(1) from None

    return wrapped


for _panel, _commands in _PANELS.items():
    for _name, _command in _commands.items():
        program.command(_name, cls=_CLASSES.get(_name), rich_help_panel=_panel)(_while_read(_command))
