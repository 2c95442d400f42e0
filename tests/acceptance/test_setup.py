"""A machine that lacks something in; one line that says what to install, out of the set-up script."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from requirements import REPO, program


def set_up(path: Path) -> subprocess.CompletedProcess[str]:
    """Run the set-up with nothing but the programs in `path`."""
    return subprocess.run(
        [program("sh"), REPO / "tools" / "venv.sh", path / "venv"],
        env={"PATH": str(path), "PYTHON": "python3"},
        cwd=REPO,
        capture_output=True,
        text=True,
        check=False,
    )


def put_python(folder: Path, *, answers_to: str) -> None:
    """A python3 that only runs code in which `answers_to` stands."""
    python = folder / "python3"
    python.write_text(f'#!{shutil.which("sh")}\ncase "$2" in *{answers_to}*) exit 0;; esac\nexit 1\n', encoding="utf-8")
    python.chmod(0o755)


def test_without_python_it_says_which_one_to_install(tmp_path: Path) -> None:
    done = set_up(tmp_path)

    assert done.returncode == 1
    assert done.stderr == ("junkai: needs Python 3.11 or newer; install it, or name it: make PYTHON=/path/to/python3\n")
    assert not (tmp_path / "venv").exists()


def test_with_an_old_python_it_says_the_same(tmp_path: Path) -> None:
    put_python(tmp_path, answers_to="nothing at all")
    done = set_up(tmp_path)

    assert "needs Python 3.11 or newer" in done.stderr


def test_with_a_python_without_venv_it_says_how_to_get_it(tmp_path: Path) -> None:
    put_python(tmp_path, answers_to="version_info")
    done = set_up(tmp_path)

    assert done.returncode == 1
    assert done.stderr.startswith("junkai: python3 lacks venv; install it")
