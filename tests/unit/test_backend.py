from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from junkai.backend import crawl_lock, open_store
from junkai.errors import StoreBusyError, StoreError, UsageError
from requirements import REPO

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize("address", ["mysql://localhost/junkai", "junkai.db", "", "sqlite://x.db", "sqlite:///"])
def test_an_address_that_names_no_store_is_refused_by_name(address: str) -> None:
    with pytest.raises(UsageError, match=r"sqlite:///relative\.db"):
        open_store(address)
    with pytest.raises(UsageError), crawl_lock(address):
        pass


def test_an_unknown_scheme_is_named() -> None:
    with pytest.raises(UsageError, match="no backend for mysql://"):
        open_store("mysql://localhost/junkai")


def test_a_relative_address_is_a_file_of_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    open_store("sqlite:///a name ?#%.db").close()
    open_store("sqlite:///:memory:").close()

    assert (tmp_path / "a name ?#%.db").is_file()
    assert (tmp_path / ":memory:").is_file()


def test_only_one_may_crawl_at_a_time(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path}/store.db"

    with (
        crawl_lock(address),
        pytest.raises(StoreBusyError, match="another process crawls") as caught,
        crawl_lock(address),
    ):
        pass
    with crawl_lock(address):
        pass

    assert address == caught.value.subject


def test_the_right_to_crawl_ends_with_the_process_that_has_it(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path}/store.db"
    holder = (
        "import sys, signal\nfrom junkai.backend import crawl_lock\n"
        "with crawl_lock(sys.argv[1]):\n    print('held', flush=True)\n    signal.pause()"
    )
    environ = os.environ | {"PYTHONPATH": str(REPO / "src")}
    with subprocess.Popen([sys.executable, "-c", holder, address], env=environ, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert b"held\n" == process.stdout.readline()
        with pytest.raises(StoreBusyError), crawl_lock(address):
            pass
        process.send_signal(signal.SIGKILL)
        process.wait()

    with crawl_lock(address):
        pass


def test_a_lock_without_a_directory_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="No such file"), crawl_lock(f"sqlite:///{tmp_path}/none/store.db"):
        pass
