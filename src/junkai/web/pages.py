"""View models in; HTML out, everything in it escaped."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

import jinja2
from markupsafe import Markup, escape

from junkai import __version__
from junkai.web.assets import Asset
from junkai.web.overview import Overview

THEMES: Final = ("light", "dark")

_TEMPLATES: Final = ("frame.html", "icons.html", "overview.html", "trouble.html", "visits.html")


class Pages:
    """The templates, compiled when first used, with the addresses of what they link to."""

    def __init__(self, assets: dict[str, Asset]) -> None:
        folder = files("junkai.web") / "templates"
        self._templates = jinja2.Environment(
            loader=jinja2.DictLoader({name: (folder / name).read_text(encoding="utf-8") for name in _TEMPLATES}),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._templates.filters["coded"] = _coded
        self._templates.globals.update(
            {"version": __version__, "asset": {name: asset.path for name, asset in assets.items()}}
        )

    def overview(self, page: Overview, *, theme: str) -> str:
        """The first page. `theme` is one of THEMES, or empty: the system's."""
        return self._templates.get_template("overview.html").render(page=page, theme=theme)

    def trouble(self, title: str, sentence: str, *, theme: str, next_step: str = "") -> str:
        """A page that says what stands in the way."""
        return self._templates.get_template("trouble.html").render(
            title=title, sentence=sentence, next_step=next_step, theme=theme
        )


def _coded(text: str) -> Markup:
    """Escaped text, with what stands between backticks as code: sentences are shared with the command line."""
    parts = str(escape(text)).split("`")
    if len(parts) % 2 == 0:  # one has no partner
        return escape(text)
    return Markup("".join(f"<code>{part}</code>" if place % 2 else part for place, part in enumerate(parts)))  # noqa: S704  # each part is escaped
