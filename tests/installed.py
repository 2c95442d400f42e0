"""The command as a user runs it: arguments in, a process or its output back; settings by environment, in one folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


class Junkai:
    """`junkai` in a folder, on the store `junkai.db` there, allowed to visit loopback."""

    def __init__(self, folder: Path, **settings: object) -> None:
        self.folder = folder
        self.environ = os.environ | {"JUNKAI_ALLOW_NETWORKS": "127.0.0.0/8"}
        self.environ |= {f"JUNKAI_{name.upper()}": str(value) for name, value in settings.items()}

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """The command, running; its outputs are pipes."""
        return subprocess.Popen(
            [sys.executable, "-m", "junkai", *arguments],
            cwd=self.folder,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str, seconds: float = 120.0) -> str:
        """What it prints; it must end well, in time, and say nothing on standard error."""
        process = self.start(*arguments)
        try:
            out, err = process.communicate(timeout=seconds)
        finally:
            process.kill()
        assert (process.returncode, err) == (0, "")
        return out

    def rows(self, *arguments: str, seconds: float = 120.0) -> list[dict[str, Any]]:
        """What it prints with `--json`: an object a line."""
        return [json.loads(line) for line in self.run(*arguments, "--json", seconds=seconds).splitlines()]

    def subscribe(self, *urls: str) -> None:
        """Import the URLs as an OPML list."""
        outlines = "".join(f"<outline xmlUrl='{url}'/>" for url in urls)
        (self.folder / "list.opml").write_text(f"<opml version='2.0'><body>{outlines}</body></opml>", encoding="utf-8")
        self.run("import", "list.opml")
