"""What the console knows: tracks, alerts, forecasts and scores as the line has told them, in memory.

Readers (threads) add rows; the server asks. Every change of a track or an alert has a number, so that a browser that
was away for a moment is sent what it missed and no more.
"""

import threading
import uuid
from collections import Counter, OrderedDict, deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from foresail.pipeline.console.history import History
from foresail.pipeline.console.rows import AlertRow, ForecastRow, Position

MOST_CHANGES = 200
MOST_EXAMPLES = 50
MOST_FORECASTS = 200_000
MOST_TRACKS = 200_000
NORMAL, FORECAST, ALERT = 0, 1, 2
"""The state of a track: nothing is wrong, something is expected, something is wrong."""
GRAVITY = {"critical": 3, "warning": 2, "info": 1}


@dataclass(slots=True)
class Track:
    """Where a track is now."""

    last: Position
    state: int = NORMAL
    change: int = 0


@dataclass(slots=True)
class Alert:
    """An alert: its last row, and the rows before it."""

    rows: list[AlertRow]
    change: int = 0

    @property
    def last(self) -> AlertRow:
        """The row that holds."""
        return self.rows[-1]

    def at(self, time_us: int) -> AlertRow | None:
        """The row that held then; None before the first."""
        return next((row for row in reversed(self.rows) if row.time_us <= time_us), None)


@dataclass(slots=True)
class Store:
    """All that is at hand."""

    history: History
    most_alerts: int = 20_000
    epoch: str = field(default_factory=lambda: uuid.uuid4().hex[:8])
    """Tells this console's numbers of changes from those of one before it."""
    tracks: "OrderedDict[str, Track]" = field(default_factory=OrderedDict)
    alerts: "OrderedDict[str, Alert]" = field(default_factory=OrderedDict)
    forecasts: "OrderedDict[tuple[str, str, str | None], ForecastRow]" = field(default_factory=OrderedDict)
    scores: dict[str, dict[str, Any]] = field(default_factory=dict)
    replies: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=200))
    rejected: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=MOST_EXAMPLES))
    unreadable: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Rows that were none, by topic and reason."""
    examples: deque[dict[str, str]] = field(default_factory=lambda: deque(maxlen=MOST_EXAMPLES))
    totals: Counter[str] = field(default_factory=Counter)
    change: int = 0
    lock: threading.RLock = field(default_factory=threading.RLock)
    _open: dict[str, set[str]] = field(default_factory=dict)
    """Of each track its open alerts."""

    def hear_position(self, position: Position) -> None:
        """A track has moved; what is older than what is known goes into the past alone."""
        with self.lock:
            self.totals["tracks"] += 1
            self.history.add(position)
            held = self.tracks.get(position.track)
            if held is not None and held.last.time_us > position.time_us:
                return
            self.change += 1
            if held is None:
                self.tracks[position.track] = Track(position, self._state(position.track), self.change)
                if len(self.tracks) > MOST_TRACKS:
                    self.tracks.popitem(last=False)
                return
            named = {name: value for name, value in held.last.values.items() if name in ("name", "mmsi", "vessel_type")}
            values = {**named, **position.values}
            held.last = Position(position.track, position.time_us, position.lon, position.lat, values)
            held.change = self.change
            self.tracks.move_to_end(position.track)

    def hear_alert(self, row: AlertRow) -> None:
        """An alert was opened, changed or closed; a row that is told again changes nothing."""
        with self.lock:
            self.totals["alerts"] += 1
            held = self.alerts.get(row.alert_id)
            if held is not None and any(row.change == known.change for known in held.rows):
                return
            self.change += 1
            if held is None:
                self.alerts[row.alert_id] = held = Alert([row])
                self._make_room()
            else:
                held.rows = sorted([*held.rows, row], key=lambda known: known.change)[-MOST_CHANGES:]
            held.change = self.change
            self._mark(held.last)

    def hear_forecast(self, row: ForecastRow) -> None:
        """A model has said something."""
        with self.lock:
            self.totals["forecasts"] += 1
            self.forecasts[row.pattern, row.track, row.instance] = row
            if len(self.forecasts) > MOST_FORECASTS:
                self.forecasts.popitem(last=False)

    def hear_unreadable(self, topic: str, reason: str, raw: str | bytes | None) -> None:
        """A row was none of ours."""
        shown = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)
        with self.lock:
            if len(self.unreadable) < 1000 or (topic, reason) in self.unreadable:
                self.unreadable[topic, reason] += 1
            self.examples.append({"topic": topic, "reason": reason, "raw": shown[:300]})

    def _make_room(self) -> None:
        while len(self.alerts) > self.most_alerts:
            old = next((key for key, alert in self.alerts.items() if alert.last.status == "closed"), None)
            del self.alerts[old if old is not None else next(iter(self.alerts))]

    def _mark(self, row: AlertRow) -> None:
        """Colour the tracks of an alert: those of a pair are `a|b`."""
        for track in row.track.split("|") if row.track else ():
            mine = self._open.setdefault(track, set())
            mine.discard(row.alert_id) if row.status == "closed" else mine.add(row.alert_id)
            held, state = self.tracks.get(track), self._state(track)
            if held is not None and held.state != state:
                held.state, held.change = state, self.change
                self.tracks.move_to_end(track)
            if not mine:
                self._open.pop(track)

    def _state(self, track: str) -> int:
        kinds = {self.alerts[key].last.kind for key in self._open.get(track, ()) if key in self.alerts}
        return ALERT if "match" in kinds else FORECAST if kinds else NORMAL

    def open_of(self, track: str) -> list[Alert]:
        """The open alerts of a track."""
        with self.lock:
            return [self.alerts[key] for key in self._open.get(track, ()) if key in self.alerts]

    def changed_since(self, change: int) -> tuple[list[Track], list[Alert]]:
        """What has changed after that number, the newest last."""
        tracks, alerts = [], []
        with self.lock:
            for held in reversed(self.tracks.values()):
                if held.change <= change:
                    break
                tracks.append(held)
            alerts = [alert for alert in self.alerts.values() if alert.change > change]
        return tracks[::-1], alerts

    def clock_us(self) -> int | None:
        """The time of the line: one that at least a twentieth of the tracks heard of last has reached.

        A vessel whose clock is wrong moves it for nobody else.
        """
        with self.lock:
            newest = []
            for held in reversed(self.tracks.values()):
                newest.append(held.last.time_us)
                if len(newest) == 400:
                    break
        if not newest:
            return None
        times = np.sort(np.array(newest))[::-1]
        return int(times[min(len(times) - 1, max(1, len(times) // 20))]) if len(times) > 1 else int(times[0])

    def alerts_at(self, time_us: int) -> list[AlertRow]:
        """The rows of alerts as they were known then, without those that were closed."""
        with self.lock:
            rows = [alert.at(time_us) for alert in self.alerts.values()]
        return [row for row in rows if row is not None and row.status != "closed"]
