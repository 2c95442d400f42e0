"""How this system was started in; its settings, and further processes of the same program with the same words, out."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from junkai import config
from junkai.config import Settings
from junkai.immutable import Struct

#: The words by which the program plays its inner parts; `__main__` knows them, the help does not.
MANAGER: Final = "_manager"
PRELOAD: Final = "_preload"
WEB: Final = "_web"


class Launch(Struct, frozen=True, kw_only=True):
    """What the program was called, and told about its settings, by whoever started the system."""

    program: tuple[str, ...]  #: what to execute, its links not followed: after a switch they lead to the new version
    command_line: Mapping[str, str] = msgspec.field(default_factory=dict)  #: by setting
    config_file: str | None = None
    is_alone: bool = False  #: the environment's settings do not count

    def settings(self) -> Settings:
        """The settings as they are now, all layers read again. Raises SettingsError."""
        return config.load(
            command_line=self.command_line,
            config_file=Path(self.config_file) if self.config_file else None,
            environ={} if self.is_alone else None,
        ).settings

    def with_setting(self, name: str, value: str) -> Launch:
        """The same with one more word on the command line."""
        return replace(self, command_line={**self.command_line, name: value})

    def start(self, part: str, end: socket.socket, *words: str) -> subprocess.Popen[bytes]:
        """The program playing `part`: it inherits `end`, and its standard input ends when this process does.

        In a session of its own: what a terminal sends to its foreground (Ctrl-C) is for the manager alone.
        Raises OSError where the program is not there any more.
        """
        command = [*self.program, part, str(end.fileno()), msgspec.json.encode(self).decode(), *words]
        return subprocess.Popen(  # noqa: S603  # this very program
            command, stdin=subprocess.PIPE, pass_fds=(end.fileno(),), start_new_session=True
        )


class System(Struct, frozen=True, kw_only=True):
    """What is to be run, and how it is shown."""

    launch: Launch
    is_once: bool = False  #: one round, and the end
    is_all: bool = False  #: every active source is due
    is_quiet: bool = False  #: the summary as JSON, and no more
    has_web: bool = True
    takes_any_port: bool = False  #: where those of the settings are in use
    seconds: float | None = None  #: after which it is drained


def inherited(words: list[str]) -> tuple[Launch, socket.socket]:
    """What `start` gave to this process. `words` are those after the part's name."""
    end = socket.socket(fileno=int(words[0]))
    end.set_inheritable(False)
    return msgspec.json.decode(words[1], type=Launch), end


def program_of(name: str) -> tuple[str, ...]:
    """What to execute for this program again, from `sys.argv[0]`: that script, or this interpreter with the package."""
    path = os.path.abspath(name)  # noqa: PTH100  # Path.resolve would follow links, and a deploy switches them
    if os.path.isfile(path) and os.access(path, os.X_OK):  # noqa: PTH113  # the same path, as it is
        return (path,)
    return (sys.executable, "-m", "junkai")
