"""What stands behind an alert and a knob: the automaton, the waiting time, rolling scores, and what another threshold
would have meant.

Models and patterns are read from the store and the catalog of the line, and kept once read.
"""

import logging
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from foresail.models.errors import ModelError
from foresail.models.explain import explain
from foresail.models.model import Model
from foresail.models.store import ModelStore
from foresail.patterns.catalog.entry import PatternEntry
from foresail.patterns.catalog.loader import Catalog
from foresail.patterns.compiler import compile_pattern
from foresail.patterns.drawing import diagram_of, draw_svg_within
from foresail.patterns.errors import PatternError
from foresail.patterns.spec import without_features
from foresail.pipeline.catalogs import catalog_named
from foresail.pipeline.console.rows import AlertRow, iso
from foresail.pipeline.console.store import Store
from foresail.pipeline.errors import PipelineError
from foresail.pipeline.settings import Settings

logger = logging.getLogger(__name__)
DAY_US = 86_400_000_000


@dataclass(slots=True, eq=False)
class _Memory:
    models: dict[tuple[str, str], Model | None] = field(default_factory=dict)
    drawings: dict[str, dict[str, Any] | None] = field(default_factory=dict)


class Insight:
    """Answers questions about patterns and models."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self._settings, self._store, self._memory = settings, store, _Memory()

    @cached_property
    def catalog(self) -> Catalog:
        """The patterns that the line was started with; none where they cannot be read here."""
        stream = self._settings.stream
        try:
            return catalog_named(stream.patterns, stream.domain, stream.parameters)
        except (PatternError, PipelineError) as error:
            logger.warning("console: the catalog of the line cannot be read here: %s", error)
            return Catalog(())

    def entry(self, pattern: str) -> PatternEntry | None:
        """The entry of that name."""
        return next((entry for entry in self.catalog if entry.name == pattern), None)

    def drawing(self, pattern: str) -> dict[str, Any] | None:
        """The automaton of a pattern as SVG, and its accepting states."""
        if pattern not in self._memory.drawings:
            entry = self.entry(pattern)
            try:
                self._memory.drawings[pattern] = None if entry is None else _drawn(entry)
            except PatternError:
                self._memory.drawings[pattern] = None
        return self._memory.drawings[pattern]

    def model(self, pattern: str, version: str) -> Model | None:
        """A model of the store; None where it is not to be had."""
        key = (pattern, version)
        if key not in self._memory.models:
            if len(self._memory.models) > 64:
                self._memory.models.clear()
            try:
                folder = self._settings.stream.models
                self._memory.models[key] = None if folder is None else ModelStore(folder).load(pattern, version)
            except (ModelError, OSError) as error:
                logger.info("console: no model %s: %s", version, error)
                self._memory.models[key] = None
        return self._memory.models[key]

    def behind(self, row: AlertRow) -> dict[str, Any]:
        """The automaton with the state it stands in, and the waiting-time curve of the last forecast."""
        said = self._store.forecasts.get((row.pattern, row.track or "", row.instance))
        drawing = self.drawing(row.pattern)
        state = None if said is None else said.state
        if row.kind == "match" and drawing and drawing["accepting"] and row.status != "closed":
            state = drawing["accepting"][0]
        curve = None
        model = None if said is None else self.model(row.pattern, said.model_version)
        if said is not None and model is not None and said.chain_state is not None:
            curve = _curve(model, said.chain_state)
        return {
            "automaton": drawing,
            "state": state,
            "forecast": None
            if said is None
            else {"time": iso(said.time_us), "probability": said.probability, "positive": said.positive},
            "curve": curve,
        }

    def knobs(self) -> list[dict[str, Any]]:
        """Each pattern with what can be turned, its rolling scores and its model."""
        turned, disabled = self._configuration()
        found = []
        for entry in self.catalog:
            record = self._record(entry.name)
            own = turned.get(entry.name) or {}
            version = own.get("model_version") or (record or {}).get("champion")
            facts = ((record or {}).get("models") or {}).get(version or "", {})
            found.append(
                {
                    "pattern": entry.name,
                    "says": entry.says,
                    "version": entry.version,
                    "severity": entry.alert.severity if entry.alert else None,
                    "enabled": entry.name not in disabled,
                    "forecast": version is not None,
                    "model_version": version,
                    "trained_until": iso(facts.get("last_us")),
                    "trained_events": facts.get("events"),
                    "order": facts.get("order"),
                    "threshold": own.get("threshold") if own.get("threshold") is not None else facts.get("threshold"),
                    "horizon": own.get("horizon"),
                    "within": own.get("within") or facts.get("within"),
                    "scores": self._scores(entry.name),
                    "open_alerts": sum(
                        a.last.pattern == entry.name and a.last.status != "closed"
                        for a in list(self._store.alerts.values())
                    ),
                }
            )
        return found

    def _configuration(self) -> tuple[dict[str, Any], list[str]]:
        """What holds in the line, by the last reply that it gave."""
        for reply in reversed(list(self._store.replies)):
            held = reply.get("configuration")
            if isinstance(held, dict):
                turned, disabled = held.get("turned"), held.get("disabled")
                return turned if isinstance(turned, dict) else {}, disabled if isinstance(disabled, list) else []
        return {}, []

    def _record(self, pattern: str) -> dict[str, Any] | None:
        folder = self._settings.stream.models
        if folder is None or not folder.is_dir():
            return None
        try:
            record = ModelStore(folder).record(pattern)
        except (ModelError, OSError):
            return None
        return {"champion": record.champion, "models": {k: dict(v) for k, v in record.models.items()}}

    def _scores(self, pattern: str) -> dict[str, Any] | None:
        held = self._store.scores.get(pattern)
        if held is None:
            return None
        scores = {name: held.get(name) for name in ("f1", "mcc", "brier", "settled", "time")}
        forecasts, happened = _binned(held)
        scores["calibration"] = [
            {"said": (n + 0.5) / len(forecasts), "happened": happened[n] / count, "forecasts": count}
            for n, count in enumerate(forecasts)
            if count
        ]
        return scores

    def preview(self, pattern: str, threshold: float) -> dict[str, Any] | None:
        """What another threshold would have meant today, estimated from the scored sample; None without one."""
        held = self._store.scores.get(pattern)
        knob = next((knob for knob in self.knobs() if knob["pattern"] == pattern), None)
        if held is None or knob is None:
            return None
        forecasts, happened = _binned(held)
        positive, right = _beyond(forecasts, happened, threshold)
        before, _ = _beyond(forecasts, happened, knob["threshold"] or 0.5)
        clock = self._store.clock_us() or 0
        today = sum(
            alert.last.kind == "forecast" and alert.last.pattern == pattern and alert.rows[0].time_us > clock - DAY_US
            for alert in list(self._store.alerts.values())
        )
        alerts = round(today * positive / before) if before else 0
        share = right / positive if positive else 0.0
        return {
            "pattern": pattern,
            "threshold": threshold,
            "alerts": alerts,
            "right": round(alerts * share),
            "alerts_now": today,
            "forecasts": round(positive),
            "forecasts_right": round(right),
            "sample": sum(forecasts),
            "said": (
                f"With {threshold:g} there would have been about {alerts} alerts today, {round(alerts * share)} of "
                f"them right. An estimate from {sum(forecasts):,} scored forecasts."
            ),
        }


def _drawn(entry: PatternEntry) -> dict[str, Any]:
    made = diagram_of(compile_pattern(without_features(entry.spec())))
    return {"svg": draw_svg_within(made, "automaton"), "accepting": sorted(made.accepting)}


def _binned(held: dict[str, Any]) -> tuple[list[int], list[int]]:
    binned = held.get("by_probability")
    forecasts, happened = (binned.get(n) if isinstance(binned, dict) else None for n in ("forecasts", "happened"))
    for some in (forecasts, happened):
        if not isinstance(some, list) or not all(isinstance(count, int) for count in some):
            return [], []
    assert isinstance(forecasts, list), "it was looked at"
    assert isinstance(happened, list), "it was looked at"
    return (forecasts, happened) if len(forecasts) == len(happened) else ([], [])


def _beyond(forecasts: list[int], happened: list[int], threshold: float) -> tuple[float, float]:
    """Forecasts at least as likely as the threshold, and those of them that came true; a part of the bin it cuts."""
    positive = right = 0.0
    for n, count in enumerate(forecasts):
        share = min(1.0, max(0.0, (n + 1) - threshold * len(forecasts)))
        positive, right = positive + share * count, right + share * happened[n]
    return positive, right


def _curve(model: Model, chain_state: int) -> dict[str, Any] | None:
    if model.trees is not None or not 0 <= chain_state < model.chain.states:
        return None
    told = explain(model, chain_state)
    return {
        "events": told.events.tolist(),
        "probability": [round(float(p), 5) for p in told.probability],
        "minutes": [None if s != s else round(float(s) / 60, 1) for s in told.seconds],  # noqa: PLR0124 - NaN is unknown
        "progress": told.progress,
        "sentence": told.sentence,
        "context": list(told.context),
    }
