"""The command line in; an exit code out: 0 fine, 1 the work failed, 2 wrong use, 130 interrupted."""

from __future__ import annotations

import io
import os
import sys
from typing import NoReturn

from junkai.errors import JunkaiError, UsageError


def main() -> NoReturn:
    """Run the command in `sys.argv` and end the process with its exit code."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command; its exit code. A known trouble is one line on standard error, never a traceback."""
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115, PTH123  # closed by whoever started us: to nobody
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115, PTH123  # the same
    from junkai.cli import output

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a narrow locale shows ? and goes on
    try:
        return _dispatch(arguments)
    except KeyboardInterrupt:
        return 130
    except JunkaiError as error:
        sys.stdout.flush()
        output.write_error(f"junkai: {error}")
        return 2 if isinstance(error, UsageError) else 1


def _dispatch(arguments: list[str]) -> int:
    from junkai.cli.program import program

    try:
        program(arguments, prog_name="junkai")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


if __name__ == "__main__":
    main()
