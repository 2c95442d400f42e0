"""A folder of files in; nginx serving them on every 127/8 address at one port, and what it was asked, out."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections import Counter
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple, Self

from bench.measure import pinned

_SYSTEM_PATH: Final = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin"
_CONF: Final = """\
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
worker_rlimit_nofile 65536;
events {{ worker_connections 16384; }}
http {{
  types {{ application/xml xml; }}
  access_log off;
  log_format asked '$server_addr $uri $status $http_if_none_match';
  etag on;
  gzip_static on;
  keepalive_timeout 5;
  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  server {{
    # Every loopback address at once is only to be had as "all addresses"; any other is turned away.
    listen {port} backlog=8192;
    allow 127.0.0.0/8;
    deny all;
    root {root};
    access_log {folder}/asked.log asked buffer=64k flush=200ms;
  }}
}}
"""


class Asked(NamedTuple):
    """What the origin was asked in one pass."""

    requests: int
    feeds: int  #: distinct ones
    most_per_feed: int
    not_modified: int
    conditional: int


class Origin:
    """nginx as a child process; use it as a context manager."""

    def __init__(self, folder: Path, root: Path, *, core: int | None) -> None:
        """Its own files go to `folder`; with `core` it runs on that core alone."""
        nginx = shutil.which("nginx", path=_SYSTEM_PATH)
        if nginx is None:
            raise SystemExit("bench: needs nginx (on Debian and Ubuntu: apt-get install nginx-light)")
        self._folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        conf = folder / "nginx.conf"
        conf.write_text(_CONF.format(folder=folder, root=root, port=self.port))
        command = [nginx, "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(conf)]
        self._command = pinned(command, core)
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(self._command)
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return self
            time.sleep(0.05)
        raise SystemExit(f"bench: nginx does not answer; see {self._folder}/error.log")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process is not None
        self._process.terminate()
        self._process.wait(10)

    def take_log(self) -> Asked:
        """What was asked since the last call."""
        time.sleep(0.5)  # nginx writes its log at most 200 ms late
        log = self._folder / "asked.log"
        lines = [line.split(" ", 3) for line in log.read_text().splitlines()]
        with log.open("r+b") as file:  # nginx appends: its next line starts the file anew
            file.truncate()
        feeds = Counter((address, path) for address, path, _, _ in lines)
        return Asked(
            requests=len(lines),
            feeds=len(feeds),
            most_per_feed=max(feeds.values(), default=0),
            not_modified=sum(status == "304" for _, _, status, _ in lines),
            conditional=sum(etag != "-" for *_, etag in lines),
        )
