"""The web server: pages and files of the console, the API behind the guard, and what happens at its end."""

import asyncio
import contextlib
import importlib.util
import mimetypes
from collections.abc import AsyncIterator
from functools import cache
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.responses import FileResponse, JSONResponse, RedirectResponse
from starlette.middleware.gzip import GZipMiddleware

from foresail import __version__
from foresail.pipeline.console import acting, asking
from foresail.pipeline.console.acting import set_cookie
from foresail.pipeline.console.guard import Guard
from foresail.pipeline.console.operations import DatabaseError
from foresail.pipeline.console.state import Console

ASSETS = Path(__file__).parent / "assets"
MAPLIBRE = ("maplibre-gl.js", "maplibre-gl.css")
_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".webmanifest": "application/json"}


def make_app(console: Console, host: str = "127.0.0.1") -> FastAPI:
    """The application; it reads the line while it runs."""

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        console.start()
        telling = asyncio.create_task(console.hub.run())
        yield
        console.hub.close()
        telling.cancel()
        await asyncio.to_thread(console.close)

    app = FastAPI(
        title="Foresail console",
        version=__version__,
        description="Tracks, alerts, their past and what was done about them. All of it needs a session cookie; "
        "requests that change something also need its `X-CSRF-Token` (`GET /api/session` tells it).",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.console = console
    app.include_router(asking.router)
    app.include_router(acting.router)
    app.add_middleware(GZipMiddleware, minimum_size=2000, compresslevel=3)
    app.add_middleware(Guard, settings=console.settings.console, access=console.access, host=host)
    app.add_exception_handler(DatabaseError, _database_gone)
    _add_pages(app, console)
    return app


async def _database_gone(_: Request, error: Exception) -> Response:
    return JSONResponse({"detail": str(error)}, 503)


def _add_pages(app: FastAPI, console: Console) -> None:
    @app.get("/", include_in_schema=False)
    def page(token: str | None = None) -> Response:
        if token is None:
            return FileResponse(ASSETS / "console.html", headers={"cache-control": "no-cache"})
        session = console.access.by_token(token)
        if session is None:
            return RedirectResponse("/#used", 303)
        answer = RedirectResponse("/", 303)
        set_cookie(answer, console, session)
        return answer

    @app.get("/api/docs", include_in_schema=False)
    def docs() -> Response:
        return FileResponse(ASSETS / "api.html", headers={"cache-control": "no-cache"})

    @app.get("/favicon.ico", include_in_schema=False)
    def icon() -> Response:
        return FileResponse(ASSETS / "icon.svg", media_type="image/svg+xml")

    @app.get("/assets/{name}", include_in_schema=False)
    def asset(name: str) -> Response:
        file = _files().get(name)
        if file is None:
            return JSONResponse({"detail": "there is no such file."}, 404)
        kind = _TYPES.get(file.suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
        return FileResponse(file, media_type=kind, headers={"cache-control": "no-cache"})


@cache
def _files() -> dict[str, Path]:
    """The files of the page by name; the map library lies in its own package."""
    own = {file.name: file for file in ASSETS.iterdir() if file.is_file()}
    found = importlib.util.find_spec("maplibre")  # not imported: it would look for packages that nobody needs
    assert found is not None, "the package is installed with the console"
    assert found.origin is not None, "a package has a file"
    return own | {name: Path(found.origin).parent / "srcjs" / name for name in MAPLIBRE}
