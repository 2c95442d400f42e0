"""The command line in; an exit code out: 0 fine, 1 the work failed, 2 wrong use, 130 interrupted."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from typing import Final, NoReturn

from junkai.errors import JunkaiError, UsageError

_LAST_ANSWERS_SECONDS: Final = 5.0


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
    match arguments:
        case ["_manager", *words]:  # parts of a running system, each a process without the others' libraries
            from junkai.cli import system

            return system.main(words)
        case ["_preload", *words]:
            from junkai import preload

            return preload.main(words)
        case ["_web", *words]:
            return _show_page(words)
    from junkai.cli.program import program

    try:
        program(arguments, prog_name="junkai")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def _show_page(words: list[str]) -> int:
    """The web process: until it is told to end, or its manager has."""
    from junkai.launch import inherited
    from junkai.web import server

    launch, listener = inherited(words)
    threading.Thread(target=_end_with_manager, daemon=True).start()
    server.serve(launch.settings(), listener, status_port=int(words[2]))
    return 0


def _end_with_manager() -> None:
    """Wait for the end of standard input, which the manager holds: then this process ends too, its answers first."""
    os.read(0, 1)
    os.kill(os.getpid(), signal.SIGTERM)
    threading.Event().wait(_LAST_ANSWERS_SECONDS)
    os._exit(1)


if __name__ == "__main__":
    main()
