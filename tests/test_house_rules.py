"""The checkout in; every house rule of CONTRIBUTING.md that no other tool checks, out as a test."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

import junkai
from requirements import REPO

SRC: Final = REPO / "src" / "junkai"
PROGRAMS: Final = sorted(path for folder in ("src", "tools", "bench") for path in (REPO / folder).rglob("*.py"))
MODULES: Final = sorted(SRC.rglob("*.py"))
TESTS: Final = sorted((REPO / "tests").rglob("*.py"))
DECISIONS: Final = sorted((REPO / "docs" / "decisions").glob("*.md"))

#: Where a fault of our own must not end more than one turn or one visit.
BOUNDARIES: Final = {"crawler.py", "recorder.py", "turns.py"}
NO_NAMES: Final = {"utils", "util", "common", "helpers", "helper", "base", "core", "misc"}


def name_of(path: Path) -> str:
    return path.relative_to(REPO).as_posix()


def committed_files() -> Iterator[Path]:
    """All that is ours to commit, whether or not git is at hand."""
    yield from (
        path for path in REPO.iterdir() if path.is_file() and path.name != ".git" and path.suffix not in {".db", ".pyc"}
    )
    for folder in (".ci", "bench", "docs", "src", "tests", "tools"):
        for path in (REPO / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


# ── size and names ───────────────────────────────────────────────────────────────────────────────────────────────


def test_a_module_fits_in_one_sitting() -> None:
    too_long = {
        name_of(path): lines for path in PROGRAMS if (lines := len(path.read_text(encoding="utf-8").splitlines())) > 400
    }

    assert {} == too_long


def test_a_function_fits_on_a_screen() -> None:
    too_long = {
        f"{name_of(path)}:{function.name}": lines
        for path in PROGRAMS
        for function in functions(path)
        if (lines := (function.end_lineno or 0) - function.lineno + 1) > 60
    }

    assert {} == too_long


def test_no_module_is_named_after_nothing() -> None:
    nameless = [name_of(path) for path in (*PROGRAMS, *TESTS) if NO_NAMES & set(path.stem.lower().split("_"))]

    assert [] == nameless


@pytest.mark.parametrize("path", PROGRAMS, ids=name_of)
def test_a_module_says_in_a_sentence_what_flows_in_and_out(path: Path) -> None:
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))

    assert docstring is not None
    first = docstring.split("\n\n")[0]
    assert first.endswith(".")
    assert len(first.splitlines()) <= 2


def test_a_test_is_named_by_a_sentence() -> None:
    unnamed = [
        f"{name_of(path)}:{function.name}"
        for path in TESTS
        for function in functions(path)
        if function.name.startswith("test_") and function.name.count("_") < 3
    ]

    assert [] == unnamed


# ── faults and exemptions ────────────────────────────────────────────────────────────────────────────────────────


def swallows_everything(handler: ast.ExceptHandler) -> bool:
    caught = ast.unparse(handler.type) if handler.type else "BaseException"
    is_broad = re.search(r"\b(Base)?Exception\b", caught) is not None
    raises_again = any(isinstance(node, ast.Raise) for node in ast.walk(handler))
    return is_broad and not raises_again


def test_only_process_boundaries_catch_everything() -> None:
    broad = {
        name_of(path)
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ExceptHandler) and swallows_everything(node)
    }

    assert set() == broad - {f"src/junkai/{name}" for name in BOUNDARIES}


def test_every_exemption_from_a_rule_has_its_reason() -> None:
    exemption = re.compile(r"#\s*(?:noqa(?::\s*[A-Z]+\d+(?:,\s*[A-Z]+\d+)*)?|type:\s*ignore(?:\[[\w, -]+\])?)(.*)")
    without = []
    for path in (*PROGRAMS, *TESTS):
        for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline):
            if token.type == tokenize.COMMENT and (match := exemption.match(token.string)):
                reason = re.sub(r"#\s*(?:noqa:\s*[A-Z\d, ]+|type:\s*ignore\[[\w, -]+\])", "", match[1])
                if len(reason.strip(" #-–:")) < 8:
                    without.append(f"{name_of(path)}:{token.start[0]}")

    assert [] == without


def test_nothing_is_left_to_do_later() -> None:
    marks = ("TO" + "DO", "FIX" + "ME", "XX" + "X", "NotImplemented" + "Error")
    unfinished = [
        f"{name_of(path)}: {mark}"
        for path in (*PROGRAMS, *TESTS)
        for mark in marks
        if mark in path.read_text(encoding="utf-8")
    ]

    assert [] == unfinished


def test_no_file_names_a_registry_host_or_a_machine_path() -> None:
    needles = [
        "".join(parts).encode()
        for parts in (
            ("pypi", ".org"),
            ("python", "hosted.org"),
            ("registry", ".npmjs"),
            ("deb.", "debian.org"),
            ("/wo", "rk/"),
            ("/tm", "p/v/"),
            ("/ro", "ot/"),
            ("/opt/", "wheels"),
        )
    ]
    found = [
        f"{name_of(path)}: {needle.decode()}"
        for path in committed_files()
        for needle in needles
        if needle in path.read_bytes()
    ]

    assert [] == found


# ── the map ──────────────────────────────────────────────────────────────────────────────────────────────────────


def mapped() -> set[str]:
    """What the code map of ARCHITECTURE.md names: `schedule`, `fetch.client`."""
    names = set()
    for line in (REPO / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("| `"):
            where, modules = line.split("|")[1:3]
            package = where.strip(" `/").replace("/", ".")
            names |= {package} | {f"{package}.{module}" for module in re.findall(r"`(\w+)`", modules)}
    return names


def test_every_module_has_its_place_on_the_map() -> None:
    modules = {
        ".".join(path.relative_to(SRC).with_suffix("").parts).removesuffix(".__init__")
        for path in MODULES
        if path != SRC / "__init__.py"
    }

    assert modules == mapped()


def test_unit_tests_mirror_the_modules() -> None:
    unit = REPO / "tests" / "unit"
    astray = []
    for path in unit.rglob("test_*.py"):
        place = SRC / path.relative_to(unit).parent
        wanted = path.stem.removeprefix("test_")
        if not any(wanted == there or wanted.startswith(f"{there}_") for there in {p.stem for p in place.iterdir()}):
            astray.append(name_of(path))

    assert [] == astray


# ── papers ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_readme_fits_on_two_screens() -> None:
    assert len((REPO / "README.md").read_text(encoding="utf-8").splitlines()) <= 100


def test_the_architecture_fits_on_a_page() -> None:
    assert len((REPO / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines()) <= 100


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.stem)
def test_a_decision_is_short_and_dated(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()

    assert len(lines) <= 40
    assert re.fullmatch(rf"# {path.stem[:4]} .+", lines[0])
    assert re.search(r"^Date: \d{4}-\d\d-\d\d\. (Accepted|Superseded by \[\d{4}\]\(.+\))\.$", text, re.MULTILINE)


def test_decisions_are_numbered_without_gaps() -> None:
    assert [f"{number:04}" for number in range(1, len(DECISIONS) + 1)] == [path.name[:4] for path in DECISIONS]


def test_the_changelog_knows_this_version() -> None:
    changelog = (REPO / "CHANGELOG.md").read_text(encoding="utf-8")

    assert re.search(rf"^## {re.escape(junkai.__version__)}\b", changelog, re.MULTILINE)


# ── what is installed ────────────────────────────────────────────────────────────────────────────────────────────


def requirement_names(requirements: list[str]) -> set[str]:
    return {re.split(r"[^A-Za-z0-9._-]", requirement)[0].lower() for requirement in requirements}


def test_everything_that_is_required_is_locked_with_hashes() -> None:
    project = tomllib.loads((REPO / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = requirement_names(project["project"]["dependencies"]) | requirement_names(
        project["dependency-groups"]["dev"]
    )
    pins = re.split(r"^(?=[a-z0-9])", (REPO / "requirements.lock").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]

    assert set() == wanted - {pin.partition("==")[0] for pin in pins}
    assert [] == [pin.split()[0] for pin in pins if "--hash=sha256:" not in pin]


def test_every_runtime_library_is_used() -> None:
    project = tomllib.loads((REPO / "pyproject.toml").read_text(encoding="utf-8"))
    imported = {
        name.partition(".")[0]
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
    }

    assert (
        set() == {name.replace("-", "_") for name in requirement_names(project["project"]["dependencies"])} - imported
    )


def test_every_runtime_library_has_its_reason() -> None:
    project = tomllib.loads((REPO / "pyproject.toml").read_text(encoding="utf-8"))
    reasons = "".join(path.read_text(encoding="utf-8") for path in DECISIONS if "libraries" in path.name)
    explained = set(re.findall(r"^\| ([\w-]+) \|", reasons, re.MULTILINE)) - {"library"}

    assert requirement_names(project["project"]["dependencies"]) == explained


def test_a_protocol_of_the_store_has_at_most_ten_methods() -> None:
    tree = ast.parse((REPO / "src/junkai/backend/protocol.py").read_text(encoding="utf-8"))
    protocols = {
        node.name: sum(isinstance(part, ast.FunctionDef) for part in node.body)
        for node in tree.body
        if isinstance(node, ast.ClassDef) and any(getattr(base, "id", "") == "Protocol" for base in node.bases)
    }

    assert {"Frontier", "Catalogue", "Hosts", "Entries", "Statistics", "Store"} == set(protocols)
    assert {} == {name: number for name, number in protocols.items() if number > 10}
