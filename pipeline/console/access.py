"""Who may do what: a one-time token or users with passwords or a proxy's header, sessions, roles, limits of rate.

A session is a signed cookie, so that a restarted console still knows its browsers; the key is kept in the database.
"""

import base64
import hashlib
import hmac
import json
import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, Literal

from foresail.pipeline.console.settings import ConsoleSettings
from foresail.pipeline.errors import InputError

Role = Literal["viewer", "operator", "admin"]
RANK: dict[str, int] = {"viewer": 1, "operator": 2, "admin": 3}
LOOPBACK = ("127.0.0.1", "::1", "localhost")
LOCAL_USER = "local"
_COST = {"n": 2**14, "r": 8, "p": 1}
MOST_ADDRESSES = 10_000


@dataclass(frozen=True, slots=True)
class Session:
    """A browser that is known."""

    user: str
    role: str
    csrf: str
    until: float

    def may(self, role: Role) -> bool:
        """Whether this user has that role, or one above it."""
        return RANK[self.role] >= RANK[role]


def hashed(password: str) -> str:
    """A password as the settings keep it."""
    salt = secrets.token_bytes(16)
    return f"scrypt${salt.hex()}${_scrypt(password, salt).hex()}"


def is_right(password: str, kept: str) -> bool:
    """Whether this is the password of that hash."""
    kind, _, rest = kept.partition("$")
    salt, _, known = rest.partition("$")
    try:
        return kind == "scrypt" and hmac.compare_digest(_scrypt(password, bytes.fromhex(salt)), bytes.fromhex(known))
    except ValueError:
        return False


def _scrypt(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode()[:1024], salt=salt, **_COST)


@dataclass(slots=True)
class Buckets:
    """So many requests a minute from each address; a bucket that refills as time passes."""

    per_minute: float
    _held: "OrderedDict[str, tuple[float, float]]" = field(default_factory=OrderedDict)

    def take(self, address: str, now: float) -> bool:
        """Whether one more request may be answered."""
        tokens, before = self._held.pop(address, (self.per_minute, now))
        tokens = min(self.per_minute, tokens + (now - before) * self.per_minute / 60)
        self._held[address] = (tokens - 1 if tokens >= 1 else tokens, now)
        while len(self._held) > MOST_ADDRESSES:
            self._held.popitem(last=False)
        return tokens >= 1


class Access:
    """Decides who a request is from."""

    def __init__(self, settings: ConsoleSettings, key: bytes, host: str) -> None:
        self._settings, self._key = settings, key
        self.uses_token = not settings.users and settings.proxy_header is None
        if self.uses_token and host not in LOOPBACK:
            msg = (
                f"--host {host}: others could ask, but nobody is named in console.users. Name users, or a proxy header."
            )
            raise InputError(msg)
        for name, user in settings.users.items():
            if user.password is None and settings.proxy_header is None:
                msg = f"console.users.{name}: has no password. Make one with `foresail console --hash-password`."
                raise InputError(msg)
        self.token: str | None = secrets.token_urlsafe(24) if self.uses_token else None
        self.requests = Buckets(settings.requests_per_minute)
        self.logins = Buckets(settings.logins_per_minute)

    def by_token(self, token: str) -> Session | None:
        """A session for the one who has the printed address; the token is used up."""
        if self.token is None or not hmac.compare_digest(token.encode(), self.token.encode()):
            return None
        self.token = None
        return self._session(LOCAL_USER, "admin")

    def by_password(self, name: str, password: str) -> Session | None:
        """A session for a user who knows the password."""
        user = self._settings.users.get(name)
        kept = user.password if user is not None and user.password else hashed_nobody()
        right = is_right(password, kept)
        return self._session(name, user.role) if right and user is not None else None

    def by_proxy(self, address: str, headers: Any) -> Session | None:
        """A session for the user whom a trusted proxy names."""
        header = self._settings.proxy_header
        name = headers.get(header.lower()) if header and address in self._settings.proxy_addresses else None
        if not name:
            return None
        user = self._settings.users.get(name)
        role = user.role if user else "viewer"
        csrf = hmac.new(self._key, f"csrf:{name}".encode(), hashlib.sha256).hexdigest()[:32]
        return Session(name[:200], role, csrf, time.time() + 60)

    def _session(self, user: str, role: str) -> Session:
        return Session(user, role, secrets.token_hex(16), time.time() + self._settings.session_hours * 3600)

    def cookie(self, session: Session) -> str:
        """A session as a signed text."""
        held = json.dumps([session.user, session.role, session.csrf, session.until]).encode()
        body = base64.urlsafe_b64encode(held).decode().rstrip("=")  # a cookie with "=" in it would be put in quotes
        return f"{body}.{self._signature(body)}"

    def by_cookie(self, text: str | None) -> Session | None:
        """The session of a cookie that we have signed and that has not run out."""
        body, _, signature = (text or "").partition(".")
        if not signature or not hmac.compare_digest(signature.encode(), self._signature(body).encode()):
            return None
        try:
            session = Session(*json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))))
        except (ValueError, TypeError):
            return None
        if session.until < time.time():
            return None
        if self.uses_token:
            return session if session.user == LOCAL_USER else None
        user = self._settings.users.get(session.user)  # who was taken out of the settings is out at once
        return Session(session.user, user.role, session.csrf, session.until) if user else None

    def _signature(self, body: str) -> str:
        return hmac.new(self._key, body.encode(), hashlib.sha256).hexdigest()


_nobody: list[str] = []


def hashed_nobody() -> str:
    """A hash that no password has: a name that is not known takes as long to refuse as one that is."""
    if not _nobody:
        _nobody.append(hashed(secrets.token_hex(16)))
    return _nobody[0]
