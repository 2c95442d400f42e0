"""A request in; the page, the metrics, the health answer or a static file out: the routes, and nothing else."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Final, cast

import msgspec
from litestar import Litestar, Request, Response, get
from litestar.datastructures import Cookie, State
from litestar.exceptions import HTTPException
from litestar.params import FromPath
from litestar.response import Redirect

from junkai import __version__, wording
from junkai.clock import cpu_seconds
from junkai.errors import StoreError
from junkai.fleet import Snapshot
from junkai.web import assets, metrics
from junkai.web.facts import Facts, FactsReader, Numbers, read_numbers, read_series
from junkai.web.guard import Application, Guard
from junkai.web.memory import resident_bytes
from junkai.web.overview import overview
from junkai.web.pages import THEMES, Pages
from junkai.web.reader import Kept, ManagerAsker, StoreReader, busy
from junkai.web.series import DAY, HOUR, SPANS, Series, Span

_log = logging.getLogger(__name__)

_THEME_SECONDS: Final = 366 * 86_400
_HTML: Final = "text/html"  # the framework adds the charset
_PLAIN: Final = "text/plain"
_JSON: Final = "application/json"
_NOT_KEPT: Final = {"Cache-Control": "no-store"}
_KEPT_FOR_EVER: Final = {"Cache-Control": "public, max-age=31536000, immutable"}

AnyRequest = Request[object, object, State]


class Site:
    """What the routes answer from."""

    def __init__(self, store: StoreReader, manager: ManagerAsker) -> None:
        facts = FactsReader()
        self.assets = assets.load()
        self.by_path = {asset.path: asset for asset in self.assets.values()}
        self.pages = Pages(self.assets)
        self._address = store.address
        self._snapshot: Kept[Snapshot | None] = Kept(manager.ask, fresh_s=1.0, rest=0)
        self._facts: Kept[Facts] = Kept(lambda: store.read(facts.read), fresh_s=1.0)
        self._numbers: Kept[Numbers] = Kept(lambda: store.read(read_numbers), fresh_s=1.0)
        self._series = {key: _kept_series(store, span) for key, span in SPANS.items() if span is not HOUR}

    async def page(self, span: Span, *, is_table: bool, theme: str) -> str:
        """The first page. Raises StoreError where the store cannot be read."""
        try:
            snapshot, facts, day = await asyncio.gather(
                self._snapshot.get(), self._facts.get(), self._series[DAY.key].get()
            )
            shown = facts.hour if span is HOUR else await self._series[span.key].get()
        except TimeoutError:
            raise busy(self._address) from None
        return self.pages.overview(overview(facts, snapshot, shown, day, is_table=is_table), theme=theme)

    async def numbers(self) -> tuple[Numbers | None, Snapshot | None]:
        """What the metrics say; None for what does not answer."""
        try:
            snapshot = await self._snapshot.get()
        except TimeoutError:
            snapshot = None
        try:
            return await self._numbers.get(), snapshot
        except (StoreError, TimeoutError) as error:
            _log.warning("no numbers of the store: %s", error, extra={"event": "web_store_failed"})
            return None, snapshot

    async def sickness(self) -> str:
        """Why the system is not well, in a sentence; empty where it is."""
        try:
            await self._numbers.get()
            snapshot = await self._snapshot.get()
        except StoreError as error:
            return f"The store cannot be read: {error}."
        except TimeoutError:
            return f"The store cannot be read: {busy(self._address)}."
        if snapshot is None:
            return "The manager does not answer."
        if not wording.heard_of(snapshot):
            return "No broker runs and answers."
        return ""


def _kept_series(store: StoreReader, span: Span) -> Kept[Series]:
    return Kept(lambda: store.read(read_series(span)), fresh_s=span.fresh_s, spare_s=3 * span.fresh_s)


# ── routes ───────────────────────────────────────────────────────────────────────────────────────────────────────


@get("/")
async def _first_page(request: AnyRequest) -> Response[str]:
    site: Site = request.app.state.site
    span = SPANS.get(request.query_params.get("span", HOUR.key), HOUR)
    is_table = request.query_params.get("view") == "table"
    theme = request.query_params.get("theme")
    if theme is not None:
        return _with_theme(theme, f"/?span={span.key}{'&view=table' * is_table}")
    theme = _theme_of(request)
    try:
        page = await site.page(span, is_table=is_table, theme=theme)
    except StoreError as error:
        page = site.pages.trouble(
            "The store cannot be read",
            f"{error}.",
            theme=theme,
            next_step="Nothing is lost by that. This page looks again whenever it is loaded.",
        )
        return Response(page, status_code=503, media_type=_HTML, headers={**_NOT_KEPT, "Retry-After": "5"})
    return Response(page, media_type=_HTML, headers=_NOT_KEPT)


def _theme_of(request: AnyRequest) -> str:
    theme = request.cookies.get("theme", "")
    return theme if theme in THEMES else ""


def _with_theme(theme: str, path: str) -> Redirect:
    """Back to the page, with the choice in a cookie; any other word than one of THEMES takes it out."""
    seconds = _THEME_SECONDS if theme in THEMES else 0
    value = theme if theme in THEMES else ""
    cookie = Cookie(key="theme", value=value, max_age=seconds, httponly=True, samesite="strict")
    return Redirect(path, status_code=303, cookies=[cookie], headers=_NOT_KEPT)


@get("/metrics")
async def _metrics(request: AnyRequest) -> Response[str]:
    site: Site = request.app.state.site
    numbers, snapshot = await site.numbers()
    process = metrics.Process(version=__version__, memory_bytes=resident_bytes(), cpu_s=cpu_seconds())
    return Response(metrics.render(numbers, snapshot, process), media_type=metrics.CONTENT_TYPE, headers=_NOT_KEPT)


@get("/healthz")
async def _health(request: AnyRequest) -> Response[bytes]:
    site: Site = request.app.state.site
    why = await site.sickness()
    body = msgspec.json.encode({"status": "failing", "why": why} if why else {"status": "ok"})
    return Response(body, status_code=503 if why else 200, media_type=_JSON, headers=_NOT_KEPT)


@get("/static/{name:str}")
async def _static(request: AnyRequest, name: FromPath[str]) -> Response[bytes]:
    site: Site = request.app.state.site
    asset = site.by_path.get(f"/static/{name}")
    if asset is None:
        return Response(b"No such file.\n", status_code=404, media_type=_PLAIN, headers=_NOT_KEPT)
    return Response(asset.body, media_type=asset.media_type, headers=_KEPT_FOR_EVER)


@get("/favicon.ico")
async def _favicon(request: AnyRequest) -> Response[bytes]:
    """Browsers ask for it where a page is no HTML, such as /metrics."""
    site: Site = request.app.state.site
    asset = site.assets["favicon.svg"]
    return Response(asset.body, media_type=asset.media_type, headers={"Cache-Control": "public, max-age=86400"})


# ── the application ──────────────────────────────────────────────────────────────────────────────────────────────


def application(address: str, ask: Callable[[], Snapshot | None], utc_now: Callable[[], datetime]) -> Application:
    """The ASGI application over the store at an address; `ask` asks the manager, and may block for seconds."""

    @asynccontextmanager
    async def opened(app: Litestar) -> AsyncIterator[None]:
        store, manager = StoreReader(address, utc_now), ManagerAsker(ask)
        app.state.site = Site(store, manager)
        try:
            yield
        finally:
            manager.close()
            await store.close()

    app = Litestar(
        [_first_page, _metrics, _health, _static, _favicon],
        lifespan=[opened],
        exception_handlers={HTTPException: _refused, Exception: _failed},
        openapi_config=None,
        logging_config=None,
        request_max_body_size=0,
    )
    return Guard(cast("Application", app))


def _refused(request: AnyRequest, error: Exception) -> Response[str]:
    """What the framework refuses: mostly an address that is none of ours."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    if status != 404:
        return Response("That is not a request that is answered here.\n", status_code=status, media_type=_PLAIN)
    site: Site = request.app.state.site
    page = site.pages.trouble(
        "There is no such page",
        "Nothing has this address.",
        theme=_theme_of(request),
        next_step="The overview is at /.",
    )
    return Response(page, status_code=404, media_type=_HTML, headers=_NOT_KEPT)


def _failed(request: AnyRequest, error: Exception) -> Response[str]:
    """A fault of ours: told in the log, and nothing of it to whoever asked."""
    _log.error("a fault while answering %s", request.url.path, exc_info=error, extra={"event": "web_fault"})
    return Response("A fault of ours; the log tells more.\n", status_code=500, media_type=_PLAIN, headers=_NOT_KEPT)
