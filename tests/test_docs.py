"""The documents in; every claim of theirs that a program can check, out as a test."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

import pages
from junkai.errors import FailureKind
from junkai.logs import VisitLine
from junkai.model import CrawlState
from requirements import REPO

DOCUMENTS: Final = sorted([*REPO.glob("*.md"), *(REPO / "docs").rglob("*.md")])
COMMANDS: Final = dict(pages.all_commands())


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def name_of(path: Path) -> str:
    return path.relative_to(REPO).as_posix()


def shown_commands() -> Iterator[tuple[str, list[str]]]:
    """What the documents tell people to type: in blocks of shell, and `in a line`."""
    for path in DOCUMENTS:
        blocks = re.findall(r"^```sh\n(.*?)^```", text_of(path), re.MULTILINE | re.DOTALL)
        typed = [line for block in blocks for line in block.splitlines()]
        typed += re.findall(r"`((?:junkai|make) [^`]+)`", text_of(path))
        for line in typed:
            words = shlex.split(line.partition(" > ")[0], comments=True)
            if words:
                yield name_of(path), words


@pytest.mark.parametrize("path", pages.PAGES, ids=lambda path: path.stem)
def test_a_generated_page_is_as_the_code_says(path: Path) -> None:
    assert pages.PAGES[path]() == text_of(path), "make fix"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_and_option_has_help(command: str) -> None:
    silent = [parameter.name for parameter in COMMANDS[command].params if not getattr(parameter, "help", None)]

    assert COMMANDS[command].help
    assert [] == silent


def test_commands_that_are_shown_exist() -> None:
    unknown = []
    for document, words in shown_commands():
        if not words[0].endswith("junkai") or len(words) < 2 or words[1].startswith("-"):
            continue
        command = next((f"junkai {w}" for w in (" ".join(words[1:3]), words[1]) if f"junkai {w}" in COMMANDS), None)
        if command is None:
            unknown.append(f"{document}: {' '.join(words)}")
            continue
        options = {
            name for parameter in COMMANDS[command].params for name in (*parameter.opts, *parameter.secondary_opts)
        }
        asked = {word.partition("=")[0] for word in words if word.startswith("--")} - {"--help"}
        unknown += [f"{document}: {command} {option}" for option in sorted(asked - options)]

    assert [] == unknown


def test_verbs_that_are_shown_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", text_of(REPO / "Makefile"), re.MULTILINE))
    shown = {words[1] for _, words in shown_commands() if words[0] == "make" and len(words) > 1 and "=" not in words[1]}

    assert {"run", "test"} <= shown
    assert set() == shown - targets


def test_make_alone_lists_every_verb() -> None:
    listed = subprocess.run(["make", "-C", REPO], capture_output=True, text=True, check=True).stdout
    targets = re.findall(r"^([a-z]+):", text_of(REPO / "Makefile"), re.MULTILINE)

    assert targets == re.findall(r"^  make (\w+) +\S", listed, re.MULTILINE)


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_links_lead_somewhere(path: Path) -> None:
    lost = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text_of(path)):
        place, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", place):
            continue
        aim = (path.parent / place) if place else path
        if not aim.exists() or (anchor and anchor not in anchors(aim)):
            lost.append(target)

    assert [] == lost


def anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", text_of(path), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_crawl_state_is_on_the_chart_and_explained() -> None:
    page = text_of(REPO / "docs" / "crawl-state.md")
    charted = set(re.findall(r"^    (\w+) -->", page, re.MULTILINE)) | set(re.findall(r"--> (\w+)", page))

    assert set(CrawlState) == charted
    assert set(CrawlState) == set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))


def test_every_failure_and_log_key_is_explained() -> None:
    page = text_of(REPO / "docs" / "operating.md")
    keys, failures = page.partition("How a visit fails:")[::2]
    keys = keys.partition("## Logs")[2]
    rows = re.findall(r"^\| (`.+?) \|", keys, re.MULTILINE)

    assert list(VisitLine.__struct_fields__) == [key for row in rows for key in re.findall(r"`(\w+)`", row)]
    assert [kind.value for kind in FailureKind] == re.findall(r"^\| `(\w+)` \|", failures, re.MULTILINE)


def test_the_glossary_has_every_word_once_and_in_order() -> None:
    words = re.findall(r"^\| ([^|]+) \|", text_of(REPO / "docs" / "glossary.md"), re.MULTILINE)[1:]
    spoken = {word.strip() for words_of_row in words for word in words_of_row.split(",")}

    assert sorted(words, key=str.lower) == words
    assert (
        set() == {"source", "host", "turn", "visit", "outcome", "decision", "claim", "hold", "entry", "slot"} - spoken
    )


def test_the_readme_leads_from_a_clone_to_the_entries() -> None:
    readme = text_of(REPO / "README.md")
    steps = [
        "make run ",
        "make test",
        "make run FEEDS=my.opml",
        "junkai entries --limit",
        "docs/commands.md",
        "junkai.toml",
    ]
    places = [readme.find(step) for step in steps]

    assert -1 not in places
    assert sorted(places) == places
