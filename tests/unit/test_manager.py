"""What the manager is made of, and how it puts ends into words; its life is told in tests/acceptance/test_run.py."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys

import pytest

from junkai.config import Settings
from junkai.fleet import Snapshot
from junkai.launch import Launch
from junkai.manager import Manager, _how
from junkai.supervision.ports import listening

HEAVY = "aiodns jinja2 litestar lxml nh3 pycares pycurl pydantic rich typer uvicorn zstandard"
SETTINGS = Settings(store="sqlite:///a.db", status_port=0, web_port=0, brokers=3)


def test_the_managers_process_imports_nothing_that_touches_sites_pages_or_a_terminal() -> None:
    code = f"import sys, junkai.cli.system; print(*(set({HEAVY!r}.split()) & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "\n"


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (0, "exit code 0"),
        (1, "exit code 1"),
        (-signal.SIGKILL, "by SIGKILL"),
        (None, "unseen, after its preload server"),
    ],
)
def test_the_end_of_a_broker_is_put_into_words(status: int | None, words: str) -> None:
    assert words == _how(status)


def test_before_it_runs_it_tells_what_it_is_going_to_be() -> None:
    async def told() -> tuple[Snapshot, object]:
        async with listening(SETTINGS, has_web=True) as ports:
            manager = Manager(Launch(program=("junkai",)), SETTINGS, ports)
            return manager.snapshot(), await manager.backlog()

    snapshot, backlog = asyncio.run(told())

    assert (3, (), "sqlite:///a.db", 0, "") == (
        snapshot.brokers_wanted,
        snapshot.brokers,
        snapshot.store,
        snapshot.restarts,
        snapshot.trouble,
    )
    assert snapshot.page.startswith("http://127.0.0.1:")
    assert backlog is None
