"""The package's static files in; each under a name that its content decides, to be kept for ever by browsers, out."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from typing import Final

from junkai.immutable import Struct

#: By the name that templates use: the files that make it up, and its type.
_ASSETS: Final = {
    "page.css": (("tokens.css", "ui.css"), "text/css"),
    "page.js": (("page.js",), "text/javascript"),
    "favicon.svg": (("favicon.svg",), "image/svg+xml"),
}


class Asset(Struct, frozen=True, kw_only=True):
    """A static file as it is served."""

    path: str  #: of its URL: /static/page.0123456789ab.css
    media_type: str
    body: bytes


def load() -> dict[str, Asset]:
    """All of them, by the name that templates use."""
    folder = files("junkai.web") / "static"
    found = {}
    for name, (parts, media_type) in _ASSETS.items():
        body = b"".join((folder / part).read_bytes() for part in parts)
        stem, _, ending = name.rpartition(".")
        digest = hashlib.sha256(body).hexdigest()[:12]
        found[name] = Asset(path=f"/static/{stem}.{digest}.{ending}", media_type=media_type, body=body)
    return found
