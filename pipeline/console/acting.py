"""The part of the HTTP API that changes something: logging in, operations on alerts, knobs, patterns put live.

Every change is in the audit log before it holds.
"""

import time
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from foresail.patterns.errors import PatternError
from foresail.pipeline.console.access import Session
from foresail.pipeline.console.asking import REFUSED, Asked, need
from foresail.pipeline.console.guard import COOKIE
from foresail.pipeline.console.operations import Operation, now
from foresail.pipeline.console.state import Console
from foresail.pipeline.console.turning import MOST_CHARACTERS, put_live, tried, turn
from foresail.pipeline.console.views import alert_summary
from foresail.pipeline.errors import PipelineError
from foresail.pipeline.stream.control.configure import Order

router = APIRouter(prefix="/api", responses=REFUSED)
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00]*$")]
Words = Annotated[str, Field(min_length=1, max_length=2000, pattern=r"^[^\x00]*$")]


class Body(BaseModel):
    """What a request holds; an unknown key is an error."""

    model_config = ConfigDict(extra="forbid")


class Login(Body):
    """A name and a password."""

    user: Name
    password: Annotated[str, Field(min_length=1, max_length=1000)]


class Done(Body):
    """What is done about an alert."""

    kind: Literal["acknowledge", "reopen", "assign", "snooze", "mute", "unmute", "note"]
    assignee: Name | None = None
    minutes: Annotated[float, Field(gt=0, le=60 * 24 * 366)] | None = None
    note: Words | None = None
    scope: Literal["track", "zone"] = "track"


class Mute(Body):
    """A pattern that nobody wants to hear of for a track or a zone, or wants to hear of again."""

    kind: Literal["mute", "unmute"]
    pattern: Name
    track: Name | None = None
    zone: Name | None = None
    minutes: Annotated[float, Field(gt=0, le=60 * 24 * 366)] | None = None


class Knobs(Body):
    """What is to be different for one pattern."""

    threshold: Annotated[float, Field(ge=0, le=1)] | None = None
    horizon: Annotated[int, Field(ge=1, le=10_000)] | None = None
    within: Annotated[int, Field(ge=1, le=10_000)] | None = None
    order: Annotated[int, Field(ge=0, le=12)] | None = None
    model_version: Name | None = None
    enabled: bool | None = None


class Draft(Body):
    """A pattern, rule or query as a catalog file has it."""

    text: Annotated[str, Field(min_length=1, max_length=MOST_CHARACTERS)]
    hours: Annotated[float, Field(gt=0, le=168)] = 6


@router.post("/login", tags=["access"])
def login(request: Request, response: Response, console: Asked, given: Login) -> dict[str, Any]:
    """Log in with a name and a password."""
    address = request.state.address
    if not console.access.logins.take(address, time.monotonic()):
        raise HTTPException(429, "too many attempts. Wait a minute.")
    session = console.access.by_password(given.user, given.password)
    console.operations.note_action(given.user, address, "login" if session else "login refused", {})
    if session is None:
        raise HTTPException(401, "no such user, or another password.")
    set_cookie(response, console, session)
    return {"user": session.user, "role": session.role, "csrf": session.csrf}


@router.post("/logout", tags=["access"])
def logout(response: Response) -> dict[str, Any]:
    """Forget this browser."""
    response.delete_cookie(COOKIE, path="/")
    return {"user": None}


def set_cookie(response: Response, console: Console, session: Session) -> None:
    """Have the browser keep its session; no script can read it."""
    response.set_cookie(
        COOKIE,
        console.access.cookie(session),
        max_age=round(console.settings.console.session_hours * 3600),
        httponly=True,
        samesite="lax",
        secure=console.settings.console.tls_certificate is not None,
        path="/",
    )


@router.post("/alerts/{alert_id}/operations", tags=["operations"])
def operate(
    request: Request, console: Asked, alert_id: str, given: Done, session: Annotated[Session, need("operator")]
) -> dict[str, Any]:
    """Acknowledge, reopen, assign, snooze, mute or note; the alert as it stands then."""
    held = console.store.alerts.get(alert_id)
    if held is None:
        raise HTTPException(404, "there is no such alert, or it is older than what is kept.")
    row = held.last
    if given.kind in ("assign", "note", "snooze"):
        wanted = {"assign": given.assignee, "note": given.note, "snooze": given.minutes}[given.kind]
        if wanted is None:
            raise HTTPException(400, f"{given.kind}: says not {_WANTED[given.kind]}.")
    by_zone = given.kind in ("mute", "unmute") and given.scope == "zone"
    if by_zone and row.instance is None:
        raise HTTPException(400, "mute: this alert is of no zone. Mute it for the track.")
    done = Operation(
        given.kind, session.user, now(), alert_id, row.pattern,
        None if by_zone else row.track, row.instance if by_zone else None,
        given.assignee, until_of(given.minutes), given.note,
    )  # fmt: skip
    console.operations.note_action(session.user, request.state.address, given.kind, done.summary())
    console.operations.add(done)
    return alert_summary(row, console.operations, console.store)


_WANTED = {"assign": "to whom (assignee)", "note": "anything (note)", "snooze": "for how long (minutes)"}


@router.post("/mutes", tags=["operations"])
def mute(
    request: Request, console: Asked, given: Mute, session: Annotated[Session, need("operator")]
) -> dict[str, Any]:
    """Mute a pattern for a track or a zone, or hear of it again; the mutes that hold then."""
    if (given.track is None) == (given.zone is None):
        raise HTTPException(400, "mute: name a track or a zone, and not both.")
    done = Operation(
        given.kind, session.user, now(), None, given.pattern, given.track, given.zone, None, until_of(given.minutes)
    )
    console.operations.note_action(session.user, request.state.address, given.kind, done.summary())
    console.operations.add(done)
    return {"mutes": console.operations.mutes()}


def until_of(minutes: float | None) -> datetime | None:
    """The time so many minutes from now."""
    return None if minutes is None else now() + timedelta(minutes=minutes)


@router.post("/patterns/{pattern}/knobs", tags=["knobs"])
def knobs(
    request: Request, console: Asked, pattern: str, given: Knobs, session: Annotated[Session, need("admin")]
) -> dict[str, Any]:
    """Turn a pattern's knobs in the line, as `foresail configure` does; the line's reply."""
    if console.insight.entry(pattern) is None:
        raise HTTPException(404, "there is no such pattern in the catalog of the line.")
    asked = given.model_dump(exclude_none=True)
    if not asked:
        raise HTTPException(400, "nothing to turn: name a threshold, horizon, order, model_version or enabled.")
    turned = {name: value for name, value in asked.items() if name not in ("order", "model_version")}
    order = Order(pattern, given.order, given.model_version, turned)
    console.operations.note_action(session.user, request.state.address, "knobs", {"pattern": pattern, **asked})
    reply = _sent(lambda: turn(console.settings, order))
    if isinstance(reply.get("configuration"), dict):
        console.store.replies.append(reply)
    return reply


@router.post("/try", tags=["knobs"])
def try_draft(console: Asked, given: Draft, session: Annotated[Session, need("operator")]) -> dict[str, Any]:
    """What a pattern, rule or query finds in the last hours that are kept; nothing is sent to the line."""
    del session
    if not console.busy.acquire(timeout=10):
        raise HTTPException(503, "another pattern is being tried. Try again in a moment.")
    try:
        return _sent(lambda: tried(console.store, console.settings, given.text, given.hours))
    finally:
        console.busy.release()


@router.post("/catalog", tags=["knobs"])
def put_draft_live(
    request: Request, console: Asked, given: Draft, session: Annotated[Session, need("admin")]
) -> dict[str, Any]:
    """Have the line also look for these patterns, by a catalog message; the line's reply."""
    console.operations.note_action(session.user, request.state.address, "catalog", {"text": given.text})
    reply = _sent(lambda: put_live(console.settings, console.insight, console.store, given.text))
    if isinstance(reply.get("configuration"), dict):
        console.store.replies.append(reply)
    return reply


def _sent(act: Any) -> dict[str, Any]:
    try:
        answer: dict[str, Any] = act()
    except (PipelineError, PatternError, ValueError) as error:
        raise HTTPException(400, " ".join(str(error).split())[:1000]) from None
    return answer
