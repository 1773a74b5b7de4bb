"""The part of the HTTP API that only tells: tracks, alerts, the past, patterns, health."""

import time
from datetime import UTC, datetime
from math import isnan
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, HTTPException, Query, Request, Response
from fastapi.responses import StreamingResponse

from foresail.pipeline.console import views
from foresail.pipeline.console.access import Role, Session
from foresail.pipeline.console.health import health_of
from foresail.pipeline.console.operations import DatabaseError
from foresail.pipeline.console.rows import AlertRow, RowError, iso, micros
from foresail.pipeline.console.state import Console
from foresail.pipeline.console.store import ALERT, FORECAST, NORMAL, Track
from foresail.pipeline.console.turning import example_of

REFUSED: dict[int | str, dict[str, Any]] = {
    400: {"description": "What was asked for makes no sense; `detail` says why."},
    401: {"description": "Nobody is logged in."},
    403: {"description": "The user's role does not allow it, or the request is not from the page."},
    404: {"description": "There is no such thing, or no longer."},
    429: {"description": "Too many requests."},
    503: {"description": "The database or the line does not answer; `detail` says which."},
}
router = APIRouter(prefix="/api", responses=REFUSED)
MINUTE_US = 60_000_000
MOST_TAILED = 2_000
TAIL = 40

Box = Annotated[
    str | None,
    Query(description="west,south,east,north in degrees; west may be greater than east.", max_length=100),
]
Moment = Annotated[str | None, Query(description="A time in ISO 8601, UTC if it names no zone.", max_length=40)]
Offset = Annotated[int, Query(ge=0, le=1_000_000, description="How many to pass over.")]
Limit = Annotated[int, Query(ge=1, le=1000, description="How many at most.")]


def console_of(request: Request) -> Console:
    """The console that serves the request."""
    console: Console = request.app.state.console
    return console


def session_of(request: Request) -> Session:
    """Who asks."""
    session: Session | None = request.state.session
    if session is None:
        raise HTTPException(401, "not logged in.")
    return session


def need(role: Role) -> Any:
    """A dependency that refuses users below that role."""

    def check(session: Annotated[Session, Depends(session_of)]) -> Session:
        if not session.may(role):
            raise HTTPException(403, f"this needs the role {role}; {session.user} is {session.role}.")
        return session

    return Depends(check)


Asked = Annotated[Console, Depends(console_of)]


def box_of(text: str | None) -> views.Box | None:
    """The box of a text."""
    if text is None:
        return None
    try:
        west, south, east, north = (float(part) for part in text.split(","))
    except ValueError:
        raise HTTPException(400, "box: is not west,south,east,north in degrees.") from None
    if not (-360 <= west <= 360 and -360 <= east <= 360 and -90 <= south <= north <= 90):
        raise HTTPException(400, "box: is not on Earth.")
    return (west, south, east, north)


def moment_of(text: str | None) -> int | None:
    """Microseconds of a text."""
    try:
        return None if text is None else micros(text.replace(" ", "+"))
    except RowError:
        raise HTTPException(400, "time: is not ISO 8601, such as 2024-05-01T12:00:00Z.") from None


@router.get("/session", tags=["access"])
def session(request: Request, console: Asked) -> dict[str, Any]:
    """Who is logged in, and what the page must know before it asks for more."""
    held: Session | None = request.state.session
    settings = console.settings.console
    return {
        "user": held.user if held else None,
        "role": held.role if held else None,
        "csrf": held.csrf if held else None,
        "login": "token" if console.access.uses_token else "proxy" if settings.proxy_header else "password",
        "domain": console.settings.stream.domain,
        "silent_after_min": settings.silent_after_min,
        "tiles": settings.tiles if held else None,
        "tiles_said": settings.tiles_said if held else "",
        "users": sorted(settings.users) if held else [],
        "can_turn": bool(console.settings.kafka.bootstrap_servers or console.settings.stream.control_directory),
    }


@router.get("/tracks", tags=["tracks"])
def tracks(
    console: Asked,
    box: Box = None,
    state: Annotated[Literal["normal", "forecast", "alert"] | None, Query()] = None,
    kind: Annotated[str | None, Query(max_length=100, description="Of vessel, or state of an engine.")] = None,
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=200_000)] = 50_000,
) -> dict[str, Any]:
    """Where tracks are, as lists of `fields`, the one heard of last at the end."""
    bounds, wanted = box_of(box), {"normal": NORMAL, "forecast": FORECAST, "alert": ALERT}.get(state or "")
    with console.store.lock:
        held = list(console.store.tracks.values())
    rows = [
        views.track_row(track)
        for track in held
        if (bounds is None or views.in_box(track.last.lon, track.last.lat, bounds))
        and (wanted is None or track.state == wanted)
        and (kind is None or kind in (track.last.values.get("vessel_type"), track.last.values.get("engine")))
    ]
    return {
        "fields": list(views.FIELDS),
        "tracks": rows[offset : offset + limit],
        "total": len(rows),
        "clock": iso(console.store.clock_us()),
        "id": f"{console.store.epoch}-{console.store.change}",
    }


@router.get("/tails", tags=["tracks"])
def tails(
    console: Asked, box: Box = None, minutes: Annotated[float, Query(gt=0, le=1440)] = 60, at: Moment = None
) -> dict[str, Any]:
    """The last places of the tracks in a box; of at most 2,000 tracks."""
    bounds = box_of(box)
    until = moment_of(at) or console.store.clock_us() or 0
    with console.store.lock:
        held = list(console.store.tracks.values())
    inside = [t.last.track for t in held if bounds is None or views.in_box(t.last.lon, t.last.lat, bounds)]
    since = until - round(minutes * MINUTE_US)
    return {"tails": views.tails(console.store.history, inside[-MOST_TAILED:], since, until, TAIL)}


def track_named(console: Console, track: str) -> Track:
    """The track of that name."""
    held = console.store.tracks.get(track)
    if held is None:
        raise HTTPException(404, "there is no such track, or it was not heard of for long.")
    return held


@router.get("/tracks/{track}", tags=["tracks"])
def track(console: Asked, track: str) -> dict[str, Any]:
    """All that is known of a track now, and its open alerts."""
    held = track_named(console, track)
    alerts = views.sorted_alerts(console.store.open_of(track))
    return {
        "track": track,
        "time": iso(held.last.time_us),
        "lon": held.last.lon,
        "lat": held.last.lat,
        "state": views.STATES[held.state],
        "values": held.last.values,
        "alerts": [views.alert_summary(row, console.operations, console.store) for row in alerts],
    }


@router.get("/tracks/{track}/past", tags=["tracks"])
def past_of(console: Asked, track: str, since: Moment = None, until: Moment = None) -> dict[str, Any]:
    """The kept positions of a track, oldest first; of the last 10,000."""
    track_named(console, track)
    first, last = moment_of(since), moment_of(until)
    rows = console.store.history.between(first if first is not None else 0, last if last is not None else 2**62, track)[
        -10_000:
    ]
    return {
        "fields": ["time", "lon", "lat", "speed", "course", "heading"],
        "positions": [[row[1] // 1000, *map(_known, row[2:7])] for row in rows.tolist()],
    }


def _known(value: float) -> float | None:
    return None if isnan(value) else round(value, 5)


@router.get("/alerts", tags=["alerts"])
def alerts(
    console: Asked,
    pattern: Annotated[str | None, Query(max_length=200)] = None,
    severity: Annotated[Literal["info", "warning", "critical"] | None, Query()] = None,
    kind: Annotated[Literal["match", "forecast", "model_degraded"] | None, Query()] = None,
    zone: Annotated[str | None, Query(max_length=200)] = None,
    track: Annotated[str | None, Query(max_length=200)] = None,
    status: Annotated[Literal["open", "closed", "all"], Query()] = "open",
    at: Moment = None,
    offset: Offset = 0,
    limit: Limit = 200,
) -> dict[str, Any]:
    """Alerts, open, grave and new ones first; with `at` as they were known then."""
    moment = moment_of(at)
    with console.store.lock:
        held = list(console.store.alerts.values())
    rows = (
        views.sorted_alerts(held)
        if moment is None
        else sorted(console.store.alerts_at(moment), key=views.rank, reverse=True)
    )
    asked = {"pattern": pattern, "severity": severity, "kind": kind, "instance": zone, "track": track}
    wanted = {name: value for name, value in asked.items() if value is not None}
    found = [row for row in rows if _is_wanted(row, wanted, status)]
    shown = [views.alert_summary(row, console.operations, console.store) for row in found[offset : offset + limit]]
    return {"alerts": shown, "total": len(found), "clock": iso(moment or console.store.clock_us())}


def _is_wanted(row: AlertRow, wanted: dict[str, str], status: str) -> bool:
    if status != "all" and (row.status == "closed") != (status == "closed"):
        return False
    return all(getattr(row, name) == value for name, value in wanted.items())


@router.get("/alerts/{alert_id}", tags=["alerts"])
def alert(console: Asked, alert_id: str, at: Moment = None) -> dict[str, Any]:
    """All about an alert: reason, forecast, the automaton, where the track went meanwhile, what was done about it."""
    held, moment = console.store.alerts.get(alert_id), moment_of(at)
    row = None if held is None else held.last if moment is None else held.at(moment)
    if held is None or row is None:
        raise HTTPException(404, "there is no such alert, or it is older than what is kept.")
    path = []
    for name in (row.track or "").split("|"):
        rows = console.store.history.between(row.start_us - MINUTE_US, row.time_us, name)[-2000:]
        path.append([[round(float(p["lon"]), 5), round(float(p["lat"]), 5), int(p["time"]) // 1000] for p in rows])
    return {
        **views.alert_summary(row, console.operations, console.store),
        **console.insight.behind(row),
        "changes": [{"time": iso(r.time_us), "status": r.status, "reason": r.reason} for r in held.rows[-50:]],
        "path": path,
        "operations": _kept(lambda: console.operations.done(0, 100, alert_id)),
    }


def _kept(ask: Any) -> Any:
    try:
        return ask()
    except DatabaseError:
        return []  # the status line says so; the alert is shown all the same


@router.get("/span", tags=["time"])
def span(console: Asked) -> dict[str, Any]:
    """From when to when the past is kept, and when alerts began."""
    held = console.store.history.span()
    clock = console.store.clock_us()
    with console.store.lock:
        opened = [[alert.rows[0].time_us // 1000, alert.last.severity] for alert in console.store.alerts.values()]
    last = None if held is None else min(held[1], clock or held[1])
    return {"since": iso(held[0]) if held else None, "until": iso(last), "opened": opened[-5000:]}


@router.get("/at", tags=["time"])
def at(console: Asked, time: Annotated[str, Query(max_length=40)]) -> dict[str, Any]:
    """What was known at a time: tracks heard of within the half hour before, and alerts that were open."""
    moment = moment_of(time) or 0
    within = round(console.settings.console.silent_after_min * MINUTE_US)
    rows = console.store.history.at(moment, within)
    alerts = sorted(console.store.alerts_at(moment), key=views.rank, reverse=True)[:500]
    return {
        "fields": list(views.FIELDS),
        "tracks": views.past_rows(rows, console.store, moment),
        "alerts": [views.alert_summary(row, console.operations, console.store) for row in alerts],
        "clock": iso(moment),
    }


@router.get("/export.{form}", tags=["time"])
def export(console: Asked, form: Literal["geojson", "csv"], box: Box = None, time: Moment = None) -> Response:
    """What is shown, as a file: tracks in the box, now or at a time; GeoJSON also has alerts."""
    bounds, moment = box_of(box), moment_of(time)
    if moment is None:
        with console.store.lock:
            rows = [views.track_row(track) for track in console.store.tracks.values()]
            found = [a.last for a in console.store.alerts.values() if a.last.status != "closed"]
    else:
        within = round(console.settings.console.silent_after_min * MINUTE_US)
        rows = views.past_rows(console.store.history.at(moment, within), console.store, moment)
        found = console.store.alerts_at(moment)
    rows = [row for row in rows if bounds is None or views.in_box(row[2], row[3], bounds)]
    said = [views.alert_summary(row, console.operations, console.store) for row in found]
    headers = {"content-disposition": f'attachment; filename="foresail.{form}"'}
    if form == "csv":
        return Response(views.as_csv(rows), media_type="text/csv; charset=utf-8", headers=headers)
    from fastapi.responses import JSONResponse  # noqa: PLC0415

    return JSONResponse(views.as_geojson(rows, said), media_type="application/geo+json", headers=headers)


@router.get("/search", tags=["tracks"])
def search(console: Asked, q: Annotated[str, Query(min_length=1, max_length=100)]) -> dict[str, Any]:
    """Tracks by name, number or id, and places of the layers by name."""
    asked = q.casefold().strip()
    with console.store.lock:
        held = list(console.store.tracks.values())
    found = []
    for one in held:
        texts = (str(one.last.values.get("name") or ""), one.last.track, str(one.last.values.get("mmsi") or ""))
        place = min((t.casefold().find(asked) for t in texts if asked in t.casefold()), default=-1)
        if place >= 0:
            found.append((place, views.track_row(one)))
    found.sort(key=lambda pair: (pair[0], str(pair[1][8]).casefold(), pair[1][0]))
    places = [
        f for f in console.layers()["features"] if asked and asked in str(f["properties"]["name"] or "").casefold()
    ]
    shown = {(f["properties"]["layer"], f["properties"]["name"]): f for f in places}
    return {"fields": list(views.FIELDS), "tracks": [row for _, row in found[:12]], "places": list(shown.values())[:8]}


@router.get("/layers", tags=["map"])
def layers(console: Asked) -> dict[str, Any]:
    """The line's layers as GeoJSON, simplified to what a screen can show."""
    return console.layers()


@router.get("/land", tags=["map"])
def land(console: Asked) -> Response:
    """Natural Earth's land (public domain), simplified, as GeoJSON."""
    return Response(console.land(), media_type="application/geo+json", headers={"cache-control": "max-age=86400"})


@router.get("/patterns", tags=["knobs"])
def patterns(console: Asked) -> dict[str, Any]:
    """The patterns of the line with what can be turned, rolling scores and models."""
    return {"patterns": console.insight.knobs()}


@router.get("/patterns/{pattern}/preview", tags=["knobs"])
def preview(console: Asked, pattern: str, threshold: Annotated[float, Query(ge=0, le=1)]) -> dict[str, Any]:
    """What another threshold would have meant today: an estimate from the scored sample."""
    found = console.insight.preview(pattern, threshold)
    if found is None:
        raise HTTPException(404, "there are no scores of that pattern yet; they come with forecasts that were settled.")
    return found


@router.get("/patterns/{pattern}/drawing", tags=["knobs"])
def drawing(console: Asked, pattern: str) -> dict[str, Any]:
    """The automaton of a pattern as SVG."""
    found = console.insight.drawing(pattern)
    if found is None:
        raise HTTPException(404, "there is no such pattern in the catalog of the line.")
    return found


@router.get("/example", tags=["knobs"])
def example(console: Asked) -> dict[str, str]:
    """A pattern to begin with, for who wants to write one."""
    return {"text": example_of(console.settings)}


@router.get("/health", tags=["health"])
def health(console: Asked) -> dict[str, Any]:
    """How line and console do: the figures of the metrics endpoint, rejected rows, models."""
    return health_of(console, time.time())


@router.get("/operations", tags=["operations"])
def operations(console: Asked, offset: Offset = 0, limit: Limit = 100) -> dict[str, Any]:
    """What users did about alerts, newest first, and the mutes that hold."""
    return {"operations": console.operations.done(offset, limit), "mutes": console.operations.mutes()}


@router.get("/audit", tags=["operations"], dependencies=[need("admin")])
def audit(console: Asked, offset: Offset = 0, limit: Limit = 100) -> dict[str, Any]:
    """Every change that anybody made, newest first."""
    return {"audit": console.operations.audit(offset, limit)}


@router.get("/stream", tags=["tracks"], response_class=StreamingResponse)
async def stream(
    request: Request, console: Asked, since: Annotated[str | None, Query(max_length=60)] = None
) -> StreamingResponse:
    """Server-sent events: `update` with tracks and alerts that changed, `anew` where all must be asked for again."""
    last = request.headers.get("last-event-id") or since
    return StreamingResponse(console.hub.listen(last), media_type="text/event-stream")


@router.get("/time", tags=["time"])
def wall_clock() -> dict[str, Any]:
    """The server's clock, by which a browser sees that its own is wrong."""
    return {"time": datetime.now(UTC).isoformat(timespec="milliseconds")}
