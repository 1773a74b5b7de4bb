"""Alerts about models: the rolling score of one has fallen too far below the best that was seen of it."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from foresail.pipeline.stream.alerts.advance import ID_DIGITS
from foresail.pipeline.stream.alerts.observations import alert_payload
from foresail.pipeline.stream.alerts.rules import MODEL_DEGRADED

RECOVERED_SHARE = 0.5
"""The alert is over once the score has made up this share of the drop that raises it."""


@dataclass(frozen=True, slots=True)
class ModelScore:
    """The rolling score of a model at a time."""

    pattern: str
    pattern_version: int
    model_version: str
    mcc: float
    time_us: int


@dataclass(frozen=True, slots=True)
class Degradation:
    """What is remembered of a model: its best score, and since when it is degraded (None: it is not)."""

    model_version: str
    best: float
    since_us: int | None = None
    changes: int = 0


@dataclass(frozen=True, slots=True)
class Judged:
    """Alerts to be emitted, and what to remember."""

    alerts: list[dict[str, Any]] = field(default_factory=list)
    models: Mapping[str, Degradation] = field(default_factory=dict)


def judge_models(
    scores: Sequence[ModelScore],
    before: Mapping[str, Degradation],
    drop: float,
    link: str = "docs/catalog/{pattern}.md",
) -> Judged:
    """The alerts that `scores` raise or end; a new model version starts with a clean sheet and ends the old alert."""
    alerts: list[dict[str, Any]] = []
    models = dict(before)
    for score in scores:
        held = models.get(score.pattern)
        if held is not None and held.model_version != score.model_version:
            if held.since_us is not None:
                alerts.append(_alert(score, replace(held, changes=held.changes + 1), "closed", link))
            held = None
        closing, models[score.pattern] = _judged(score, held, drop, link)
        alerts += closing
    return Judged(alerts, models)


def _judged(
    score: ModelScore, held: Degradation | None, drop: float, link: str
) -> tuple[list[dict[str, Any]], Degradation]:
    held = held or Degradation(score.model_version, score.mcc)
    held = replace(held, best=max(held.best, score.mcc))
    if held.since_us is None and score.mcc < held.best - drop:
        held = replace(held, since_us=score.time_us, changes=1)
        return [_alert(score, held, "opened", link)], held
    if held.since_us is not None and score.mcc >= held.best - drop * (1 - RECOVERED_SHARE):
        closing = _alert(score, replace(held, changes=held.changes + 1), "closed", link)
        return [closing], replace(held, since_us=None, changes=0)
    return [], held


def _alert(score: ModelScore, held: Degradation, status: str, link: str) -> dict[str, Any]:
    assert held.since_us is not None, "only a degraded model has an alert"
    named = (MODEL_DEGRADED, score.pattern, held.model_version, str(held.since_us))
    fallen = f"the rolling MCC of {score.pattern} is {score.mcc:.2f}, its best was {held.best:.2f}"
    row = {
        "alert_id": hashlib.sha256("\x1f".join(named).encode()).hexdigest()[:ID_DIGITS],
        "change": held.changes,
        "status": status,
        "kind": MODEL_DEGRADED,
        "severity": "warning",
        "pattern": score.pattern,
        "pattern_version": score.pattern_version,
        "model_version": held.model_version,
        "time_us": score.time_us,
        "start_time_us": held.since_us,
        "first_start_time_us": held.since_us,
        "reason": fallen if held.model_version == score.model_version else f"{held.model_version} was replaced",
        "says": "Forecasts of this pattern have become worse: train anew, or go back to an earlier model.",
        "link": link.format(pattern=score.pattern),
        "closed_because": "ended" if status == "closed" else None,
    }
    empty = ("instance", "track", "lon", "lat", "probability", "earliest_min", "latest_min", "arrived_us")
    return alert_payload(dict.fromkeys(empty) | row)
