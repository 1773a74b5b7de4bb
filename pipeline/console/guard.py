"""What every request passes: the name it asks for, the rate, who it is from, and the headers of the answer.

Plain ASGI, so that a stream of events passes through as it comes.
"""

import hmac
import json
import time
from typing import Any
from urllib.parse import urlsplit

from foresail.pipeline.console.access import LOOPBACK, Access, Session
from foresail.pipeline.console.settings import ConsoleSettings

COOKIE = "foresail_session"
UNSAFE = ("POST", "PUT", "PATCH", "DELETE")
OPEN = ("/api/session", "/api/login")
"""What one may ask for who is not known yet."""
LONGEST_BODY = 100_000


class Guard:
    """Lets a request pass, or says why not."""

    def __init__(self, app: Any, settings: ConsoleSettings, access: Access, host: str) -> None:
        self._app, self._access = app, access
        self._hosts = {host, *LOOPBACK, *settings.hosts}
        self._any_host = host in ("0.0.0.0", "::") and not settings.hosts
        self._headers = security_headers(settings)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}

        async def answered(message: Any) -> None:
            if message["type"] == "http.response.start":
                own = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [
                    *message["headers"],
                    *((name, value) for name, value in self._headers if name.lower() not in own),
                ]
            await send(message)

        status, said = self._fault(scope, headers)
        if status:
            body = json.dumps({"detail": said}).encode()
            kind = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
            await answered({"type": "http.response.start", "status": status, "headers": kind})
            await answered({"type": "http.response.body", "body": body})
            return
        await self._app(scope, receive, answered)

    def _fault(self, scope: Any, headers: dict[str, str]) -> tuple[int, str]:
        """A status and a sentence where the request is refused; 0 otherwise."""
        address = scope["client"][0] if scope.get("client") else "unknown"
        path, method = scope["path"], scope["method"]
        if not self._any_host and _host_name(headers.get("host", "")) not in self._hosts:
            return 400, "host: this console is not called so. Add the name to console.hosts."
        if not self._access.requests.take(address, time.monotonic()):
            return 429, "too many requests from this address. Wait a moment."
        if not headers.get("content-length", "0").isdigit() or int(headers.get("content-length", "0")) > LONGEST_BODY:
            return 413, f"the request is longer than {LONGEST_BODY:,} bytes."
        if method in UNSAFE and "content-length" not in headers:
            return 411, "the request does not say how long it is."
        if method in UNSAFE and not _same_origin(headers):
            return 403, "the request comes from another page (Origin)."
        session = self._session(headers, address)
        scope.setdefault("state", {})
        scope["state"] |= {"session": session, "address": address}
        if not path.startswith("/api") or path in OPEN:
            return 0, ""
        if session is None:
            return 401, "not logged in. Open the address that the console printed, or log in."
        if method in UNSAFE and not _same_csrf(headers.get("x-csrf-token"), session):
            return 403, "the request does not come from the console's own page (X-CSRF-Token is missing)."
        return 0, ""

    def _session(self, headers: dict[str, str], address: str) -> Session | None:
        proxied = self._access.by_proxy(address, headers)
        if proxied is not None:
            return proxied
        cookies = dict(part.strip().partition("=")[::2] for part in headers.get("cookie", "").split(";"))
        return self._access.by_cookie(cookies.get(COOKIE))


def security_headers(settings: ConsoleSettings) -> list[tuple[bytes, bytes]]:
    """Of every answer: nothing is fetched from elsewhere, nothing inline runs, nobody puts the page into a frame."""
    tiles = ""
    if settings.tiles:
        parts = urlsplit(settings.tiles)
        tiles = f" {parts.scheme}://{parts.netloc}"
    policy = (
        f"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:{tiles}; "
        f"connect-src 'self'{tiles}; worker-src blob:; font-src 'self'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'"
    )
    held = {
        "content-security-policy": policy,
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": "geolocation=(), camera=(), microphone=()",
        "cache-control": "no-store",
    }
    return [(name.encode(), value.encode()) for name, value in held.items()]


def _host_name(host: str) -> str:
    return urlsplit(f"//{host}").hostname or "" if "@" not in host else ""


def _same_origin(headers: dict[str, str]) -> bool:
    """A browser says from where a request was made; other clients say nothing, and have a token to show."""
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc == headers.get("host", "")


def _same_csrf(given: str | None, session: Session) -> bool:
    return given is not None and hmac.compare_digest(given.encode(), session.csrf.encode())
