"""Alerts from episodes, matches and forecasts: one for each track and pattern, with updates, that does not flap.

An alert opens when an episode has lasted its minimum dwell, or a match or a positive forecast comes; what follows is
told as updates of the same alert, at a calm pace. After its end it sleeps for the cool-down: what comes then wakes the
same alert instead of making another. Everything is counted in event time, so a repeated micro-batch says the same.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from patterns.catalog.entry import PatternEntry
from patterns.durations import parse_duration
from pipeline.settings import AlertSettings

OPENED, UPDATED, CLOSED = "opened", "updated", "closed"
ENDED = ("closed", "timed_out")
DEFAULT_COOL_DOWN_US = 600_000_000
ID_DIGITS = 32


@dataclass(frozen=True, slots=True)
class AlertRule:
    """What the catalog says of a pattern's alerts."""

    pattern: str
    version: int
    severity: str
    says: str
    min_dwell_us: int
    cool_down_us: int
    episodes: bool


def rules_of(entries: Mapping[str, PatternEntry]) -> dict[str, AlertRule]:
    """The rules of all patterns that ask for alerts."""
    return {name: _rule(entry) for name, entry in entries.items() if entry.alert is not None}


def _rule(entry: PatternEntry) -> AlertRule:
    alert = entry.alert
    assert alert is not None, "only patterns with an `alert` make any"
    return AlertRule(
        entry.name,
        entry.version,
        alert.severity,
        entry.says,
        parse_duration(alert.min_dwell) if alert.min_dwell else 0,
        parse_duration(alert.cool_down) if alert.cool_down else DEFAULT_COOL_DOWN_US,
        entry.report == "episodes",
    )


@dataclass(frozen=True, slots=True)
class Sign:
    """Something that may make or change an alert: a row of a match, or a forecast that turned."""

    pattern: str
    instance: str | None
    track: str
    time_us: int
    start_us: int
    status: str
    """`detected`, `opened`, `updated`, `closed`, `timed_out`; of a forecast `positive` or `negative`."""
    origin: str = "match"
    """`match` or `forecast`."""
    row: int = -1
    """The event of the batch, for its values; -1 where there is none."""
    probability: float | None = None
    model_version: str | None = None

    @property
    def key(self) -> str:
        """What an alert is grouped by."""
        return "\x1f".join((self.origin, self.pattern, self.instance or "", self.track))

    @property
    def ends(self) -> bool:
        """Whether what was going on is over."""
        return self.status in ENDED or self.status == "negative"


@dataclass(slots=True)
class AlertBook:
    """The alerts of a bucket; `open` is saved with it."""

    rules: Mapping[str, AlertRule]
    settings: AlertSettings
    open: dict[str, dict[str, Any]] = field(default_factory=dict)

    def read(self, signs: Iterator[Sign], facts: Callable[[Sign], dict[str, Any]]) -> list[dict[str, Any]]:
        """The alerts that `signs`, in time order for each track, make or change; `facts` are those of an event."""
        return [alert for sign in signs if (alert := self._sign(sign, facts)) is not None]

    def _sign(self, sign: Sign, facts: Callable[[Sign], dict[str, Any]]) -> dict[str, Any] | None:
        rule = self.rules.get(sign.pattern)
        if rule is None:
            return None
        held = self.open.get(sign.key)
        if sign.ends:
            return self._end(rule, sign, held, facts)
        if sign.origin == "match" and sign.time_us - sign.start_us < rule.min_dwell_us:
            return None
        if held is None:
            return self._begin(rule, sign, facts)
        held["ends_us"], held["count"] = None, held["count"] + 1
        woken = held["status"] == CLOSED
        if not woken and sign.time_us - held["told_us"] < self.settings.update_every_s * 1e6:
            return None
        return self._tell(rule, sign, held, UPDATED, facts)

    def _begin(self, rule: AlertRule, sign: Sign, facts: Callable[[Sign], dict[str, Any]]) -> dict[str, Any]:
        named = "\x1f".join((sign.key, str(rule.version), str(sign.start_us)))
        held = {
            "id": hashlib.sha256(named.encode()).hexdigest()[:ID_DIGITS],
            "opened_us": sign.time_us,
            "start_us": sign.start_us,
            "count": 1,
            "ends_us": None,
            "facts": {},
        }
        self.open[sign.key] = held
        return self._tell(rule, sign, held, OPENED, facts)

    def _end(
        self, rule: AlertRule, sign: Sign, held: dict[str, Any] | None, facts: Callable[[Sign], dict[str, Any]]
    ) -> dict[str, Any] | None:
        if held is None or held["status"] == CLOSED:
            return None
        if sign.origin == "forecast":  # it may turn again at once: wait and see
            held["ends_us"] = sign.time_us + round(self.settings.clear_after_s * 1e6)
            return None
        return self._tell(rule, sign, held, CLOSED, facts)

    def _tell(
        self,
        rule: AlertRule,
        sign: Sign,
        held: dict[str, Any],
        status: str,
        facts: Callable[[Sign], dict[str, Any]],
    ) -> dict[str, Any]:
        if sign.row >= 0:
            held["facts"] = facts(sign)
        held["status"], held["told_us"] = status, sign.time_us
        if status == CLOSED or not rule.episodes:  # a single match is over as soon as it is told
            held["sleeps_until_us"] = sign.time_us + rule.cool_down_us
        return _alert(rule, sign, held, status, self.settings)

    def sweep(self, now_us: int) -> list[dict[str, Any]]:
        """Alerts that end by the clock; those whose cool-down is over are forgotten."""
        told = []
        for key, held in list(self.open.items()):
            origin, pattern, instance, track = key.split("\x1f")
            rule = self.rules.get(pattern)
            if rule is None:
                del self.open[key]
                continue
            due = held["ends_us"]
            if origin == "match" and not rule.episodes and held["status"] != CLOSED:
                due = held.get("sleeps_until_us")
            if held["status"] != CLOSED and due is not None and due <= now_us:
                sign = Sign(pattern, instance or None, track, due, held["start_us"], CLOSED, origin)
                told.append(self._tell(rule, sign, held, CLOSED, lambda _: {}))
            if held["status"] == CLOSED and held["sleeps_until_us"] <= now_us:
                del self.open[key]
        return told


def _alert(rule: AlertRule, sign: Sign, held: dict[str, Any], status: str, settings: AlertSettings) -> dict[str, Any]:
    known = held["facts"]
    return {
        "alert_id": held["id"],
        "status": status,
        "severity": rule.severity,
        "origin": sign.origin,
        "pattern": rule.pattern,
        "pattern_version": rule.version,
        "instance": sign.instance,
        "track": sign.track,
        "time": instant(sign.time_us),
        "opened": instant(held["opened_us"]),
        "start_time": instant(held["start_us"]),
        "position": known.get("position"),
        "reason": _reason(rule, sign, known),
        "conditions": known.get("conditions", []),
        "values": known.get("values", {}),
        "probability": sign.probability,
        "model_version": sign.model_version,
        "count": held["count"],
        "link": settings.pattern_link.format(pattern=rule.pattern),
        "arrived": known.get("arrived"),
    }


def _reason(rule: AlertRule, sign: Sign, known: Mapping[str, Any]) -> str:
    """Why there is an alert, in words: what the pattern says, which conditions hold, and the values they read."""
    says = rule.says.rstrip(".")
    if sign.origin == "forecast":
        chance = "" if sign.probability is None else f" (probability {sign.probability:.2f})"
        says = f"Expected{chance}: {says[:1].lower()}{says[1:]}"
    where = f" at {sign.instance}" if sign.instance else ""
    held = [condition["name"] for condition in known.get("conditions", []) if condition["holds"]]
    values = ", ".join(f"{name} {_said(value)}" for name, value in known.get("values", {}).items())
    because = f" {' and '.join(held)} hold{'s' if len(held) == 1 else ''}" if held else ""
    return f"{says}{where}.{because}{' with ' if because and values else ' '}{values}".strip().rstrip(".") + "."


def _said(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else "unknown" if value is None else str(value)


def instant(time_us: int) -> str:
    """The time as text."""
    return datetime.fromtimestamp(time_us / 1e6, UTC).isoformat().replace("+00:00", "Z")
