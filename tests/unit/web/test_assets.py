"""The static files: their names, and that the colours can be told apart and read."""

from __future__ import annotations

import hashlib
import re
from importlib.resources import files

import pytest

from junkai.web import assets

TOKENS = (files("junkai.web") / "static" / "tokens.css").read_text(encoding="utf-8")
COLOURS = {
    name: pair for name, *pair in re.findall(r"--([\w-]+):\s*light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", TOKENS)
}


def luminance(colour: str) -> float:
    """WCAG 2.2, relative luminance of sRGB."""
    linear = [
        channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
        for channel in (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def ratio(first: str, second: str, theme: int) -> float:
    """WCAG 2.2, contrast ratio of two tokens; theme 0 is light, 1 dark."""
    lighter, darker = sorted((luminance(COLOURS[first][theme]), luminance(COLOURS[second][theme])), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize(
    ("first", "second", "light", "dark"),
    [
        ("text", "bg", 15.6, 14.3), ("text-2", "bg", 7.1, 8.9), ("text-3", "bg", 5.1, 6.6), ("text-3", "sunken", 4.7, 4.5),
        ("control", "bg", 3.7, 4.3), ("focus", "bg", 7.8, 9.4), ("accent", "bg", 7.8, 9.4), ("accent-soft", "bg", 3.2, 4.3),
        ("on-accent", "accent-fill", 8.2, 9.5), ("on-danger", "danger-fill", 6.4, 8.0),
        ("ok", "bg", 4.1, 8.2), ("ok-text", "ok-tint", 6.0, 7.5),
        ("same", "bg", 3.2, 3.8), ("same-text", "same-tint", 6.0, 7.5),
        ("moved", "bg", 6.5, 7.7), ("moved-text", "moved-tint", 6.6, 7.7),
        ("failed", "bg", 6.2, 5.3), ("failed-text", "failed-tint", 6.1, 7.5),
        ("held", "bg", 3.0, 11.6), ("held-text", "held-tint", 6.2, 8.2),
        ("gone", "bg", 12.9, 12.8), ("gone-text", "gone-tint", 9.1, 8.8),
    ],
)  # fmt: skip
def test_colours_keep_the_contrast_that_the_design_computed(first: str, second: str, light: float, dark: float) -> None:
    assert light <= ratio(first, second, 0) + 0.06
    assert dark <= ratio(first, second, 1) + 0.06


@pytest.mark.parametrize("outcome", ["ok", "same", "moved", "failed", "held", "gone"])
@pytest.mark.parametrize("theme", [0, 1])
def test_a_picture_of_an_outcome_has_three_to_one_and_its_words_four_and_a_half(outcome: str, theme: int) -> None:
    assert ratio(outcome, "bg", theme) >= 2.95  # told to one decimal: 3.0
    assert ratio(f"{outcome}-text", "bg", theme) >= 4.5
    assert ratio(f"{outcome}-text", f"{outcome}-tint", theme) >= 4.5


def test_a_name_is_that_of_its_content() -> None:
    for asset in assets.load().values():
        assert hashlib.sha256(asset.body).hexdigest()[:12] in asset.path


def test_styles_and_script_ask_nobody_else_for_anything() -> None:
    for asset in assets.load().values():
        text = asset.body.decode()
        assert [] == re.findall(
            r"@import|https?://(?!www\.w3\.org/2000/svg)|//cdn|\beval\b|innerHTML =[^=]|url\((?!#)", text
        )


def test_every_class_of_the_templates_has_its_style() -> None:
    page = "".join(
        part.read_text(encoding="utf-8")
        for part in (files("junkai.web") / "templates").iterdir()
        if part.name.endswith(".html")
    )
    styled = set(
        re.findall(r"\.([a-z][a-z0-9-]*)", re.sub(r"\{[^{}]*\}", "{}", assets.load()["page.css"].body.decode()))
    )
    written = {word for value in re.findall(r'class="([^"{]*)"', page) for word in value.split()}

    assert set() == written - styled
    assert {"stat", "pill", "o-ok", "f-hatched", "clip"} <= styled


def test_the_script_is_small() -> None:
    found = assets.load()

    assert len(found["page.js"].body) < 4_000
    assert len(found["page.css"].body) < 33_000
