"""What every test shares: an environment without settings, properties checked the same way each time, the corpora."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest

import requirements

# Runs are repeatable, so that a red CI is the change's doing; `--hypothesis-profile=explore` looks further.
hypothesis.settings.register_profile("repeatable", deadline=None, derandomize=True, database=None)
hypothesis.settings.register_profile("explore", deadline=None, max_examples=5_000, print_blob=True)
hypothesis.settings.load_profile("repeatable")


def pytest_configure() -> None:
    """The developer's own settings must not decide what the tests see, here or in a process that they start."""
    for variable in list(os.environ):
        if variable.startswith("JUNKAI_") and variable != "JUNKAI_CORPORA" and not variable.startswith("JUNKAI_TEST_"):
            del os.environ[variable]


@pytest.fixture(scope="session")
def corpora() -> Path:
    """The folder of public test data, or a skip."""
    return requirements.corpora()


@pytest.fixture(scope="session")
def require_program() -> Callable[[str], str]:
    """A function from a system program's name to its path, or a skip."""
    return requirements.program
