"""The number of feeds and a seed in, a served demo site out: one line of JSON when it listens, gone when stdin ends."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys

import msgspec

from junkai.demo import DemoFeed
from junkai.demo.feeds import publishers
from junkai.demo.site import open_site
from junkai.errors import JunkaiError


async def serve(count: int, seed: int) -> None:
    """Serve until standard input ends, which it also does when the process that started this one dies."""
    made_up = publishers(count, seed=seed)
    servers, urls = await open_site(made_up)
    feeds = [
        DemoFeed(url=url, title=publisher.title, group=publisher.group)
        for publisher, url in zip(made_up, urls, strict=True)
    ]
    sys.stdout.buffer.write(msgspec.json.encode(feeds) + b"\n")
    sys.stdout.buffer.flush()
    ended = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(ended), sys.stdin)
    await ended.read()
    for server in servers:
        server.close()


def main() -> None:
    """Run as `python -m junkai.demo`."""
    parser = argparse.ArgumentParser(prog="python -m junkai.demo", description="The demo's loopback site.")
    parser.add_argument("--feeds", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle; it ends our standard input
    try:
        asyncio.run(serve(options.feeds, options.seed))
    except JunkaiError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
