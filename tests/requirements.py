"""The name of something that a test needs of the machine, in; its path out, or a skip that names it.

What `JUNKAI_TEST_REQUIRE` names (separated by spaces or commas) fails instead of skipping; CI names all it installs.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final, NoReturn

import pytest

REPO: Final = Path(__file__).parent.parent
#: Debian keeps servers out of an ordinary user's PATH.
_SYSTEM_PATH: Final = os.pathsep.join(("/usr/local/sbin", "/usr/sbin", "/sbin"))


def corpora() -> Path:
    """The folder of public test data: `JUNKAI_CORPORA`, else `shared/corpora` beside the checkout."""
    named = os.environ.get("JUNKAI_CORPORA")
    folder = Path(named) if named else REPO.parent / "shared" / "corpora"
    if not folder.is_dir():
        _absent("corpora", f"no folder {folder}; JUNKAI_CORPORA names another")
    return folder


def program(name: str) -> str:
    """The path of a system program, such as nginx."""
    path = shutil.which(name) or shutil.which(name, path=_SYSTEM_PATH)
    if path is None:
        _absent(name, "not installed")
    return path


def _absent(name: str, why: str) -> NoReturn:
    if name in os.environ.get("JUNKAI_TEST_REQUIRE", "").replace(",", " ").split():
        pytest.fail(f"{name} is required by JUNKAI_TEST_REQUIRE: {why}", pytrace=False)
    pytest.skip(f"needs {name}: {why}")
