"""The driver's side of learning on the way: rolling scores published, new models learned in the background and sent in.

A model is learned in a thread of its own and kept in the store; the line takes it up by a control message like any
other, at a micro-batch boundary, and every track goes on with its history.
"""

import json
import logging
import threading
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from foresail.models.counts import Counts, counts_from_bytes, merge
from foresail.models.errors import ModelError
from foresail.models.model import build
from foresail.models.store import ModelStore
from foresail.pipeline.settings import Settings
from foresail.pipeline.stream.alerts import judge_models
from foresail.pipeline.stream.alerts.degraded import Degradation, ModelScore
from foresail.pipeline.stream.alerts.observations import iso
from foresail.pipeline.stream.bucket.findings import COUNTS
from foresail.pipeline.stream.bucket.line_spec import LineSpec, compiled_like
from foresail.pipeline.stream.control.obeying import Replies
from foresail.pipeline.stream.learning.outcomes import Rolling
from foresail.pipeline.stream.learning.training import KeptCounts
from foresail.pipeline.stream.monitoring.metrics import Metrics
from foresail.pipeline.stream.query.sinks import BatchFacts

logger = logging.getLogger(__name__)

COUNTED = "counts"
"""The folder beside the checkpoint with the counts that no model has been learned from yet."""


@dataclass(slots=True)
class _Gathered:
    """Counts of one pattern since its model was learned last."""

    since: float
    kept: KeptCounts | None = None
    """None where nothing is learned on the way."""
    busy: threading.Thread | None = None
    learned_upto: int | None = None
    """The last micro-batch whose counts the store has, while they are still kept here too."""


class Online:
    """Hears every micro-batch; publishes scores, raises `model_degraded`, and has models learned."""

    def __init__(self, settings: Settings, specs: Sequence[LineSpec], metrics: Metrics, replies: Replies) -> None:
        self._settings, self._metrics, self._replies = settings, metrics, replies
        online = settings.stream.online
        self._specs = {name: spec for spec in specs for name in spec.forecast}
        self._rolling = {name: Rolling(online.score_window) for name in self._specs}
        self._gathered = {name: _Gathered(time.monotonic(), self._kept(name)) for name in self._specs}
        self._published = time.monotonic()
        self._judged: dict[str, Degradation] = {}
        self._serving: dict[str, str] = {}

    def _kept(self, pattern: str) -> KeptCounts | None:
        if not self._settings.stream.online.train:
            return None
        events = stored_events(self._specs[pattern], pattern)
        return KeptCounts(self._settings.stream.checkpoint / COUNTED / pattern, events)

    def hear(self, facts: BatchFacts) -> None:
        """Take in one micro-batch."""
        for some in facts.stats:
            for pattern, outcomes in some["outcomes"].items():
                self._rolling[pattern].add(outcomes)
        for reply in facts.replies:
            for pattern, turned in reply.get("configuration", {}).get("turned", {}).items():
                if turned["model_version"]:
                    self._serving[pattern] = turned["model_version"]
        for pattern, gathered in self._gathered.items():
            mine = [counts_from_bytes(c) for kind, name, c in facts.contents if kind == COUNTS and name == pattern]
            if mine and gathered.kept is not None:
                gathered.kept.add(facts.batch, mine)
        self._publish()
        for pattern in self._gathered:
            self._learn_if_due(pattern)

    def _publish(self) -> None:
        now = time.monotonic()
        if now - self._published < self._settings.stream.online.publish_every_s:
            return
        self._published = now
        for pattern, rolling in self._rolling.items():
            if not rolling.portions:
                continue
            scores = rolling.scores()
            self._metrics.hear_score(pattern, scores)
            if self._settings.kafka.bootstrap_servers is not None:
                said = {"pattern": pattern, "time": iso(round(time.time() * 1e6)), **scores}
                said["by_probability"] = rolling.by_probability()
                self._replies.publish(self._settings.stream.topics.scores, said)
            if rolling.tells():
                self._judge(pattern, scores["mcc"])

    def _judge(self, pattern: str, mcc: float) -> None:
        """Raise or end `model_degraded`."""
        settings, now_us = self._settings.stream, round(time.time() * 1e6)
        spec = self._specs[pattern]
        version = next(p.version for p in spec.patterns if p.name == pattern)
        score = ModelScore(pattern, version, self._serving.get(pattern, spec.forecast[pattern]), mcc, now_us)
        judged = judge_models([score], self._judged, settings.online.degraded_drop, settings.alerts.pattern_link)
        self._judged = dict(judged.models)
        for alert in judged.alerts:
            logger.warning("%s: %s", alert["status"], alert["reason"])
            if self._settings.kafka.bootstrap_servers is not None:
                self._replies.publish(settings.topics.alerts, alert)

    def _learn_if_due(self, pattern: str) -> None:
        gathered, online = self._gathered[pattern], self._settings.stream.online
        if gathered.busy is not None and gathered.busy.is_alive():
            return
        if gathered.learned_upto is not None and gathered.kept is not None:
            gathered.kept.forget(gathered.learned_upto)
            gathered.learned_upto = None
        if gathered.kept is None or not gathered.kept.events:
            return
        minutes = (time.monotonic() - gathered.since) / 60
        if gathered.kept.events < online.train_every_events and minutes < online.train_every_minutes:
            return
        upto, parts = gathered.kept.take(stored_events(self._specs[pattern], pattern))
        gathered.since = time.monotonic()
        gathered.busy = threading.Thread(
            target=self._learn, args=(pattern, upto, parts), name=f"learn {pattern}", daemon=True
        )
        gathered.busy.start()

    def _learn(self, pattern: str, upto: int, parts: list[Counts]) -> None:
        """Learn a model from all counts, keep both, and have the line switch to it."""
        try:
            version = learned(self._specs[pattern], pattern, parts, self._serving.get(pattern))
            self._gathered[pattern].learned_upto = upto
            self._switch({"id": f"learned-{uuid.uuid4().hex[:8]}", "pattern": pattern, "model_version": version})
        except (ModelError, OSError):
            logger.exception("no new model of %s was learned; the line goes on with the one it has", pattern)

    def _switch(self, message: dict[str, Any]) -> None:
        text = json.dumps(message)
        stream = self._settings.stream
        if stream.source == "kafka":
            self._replies.publish(stream.topics.control, message)
        elif stream.control_directory is not None:
            staged = stream.control_directory / f".{message['id']}.json"
            staged.write_text(text + "\n", encoding="utf-8")
            staged.rename(stream.control_directory / f"{message['id']}.json")

    def close(self) -> None:
        """Wait for models that are being learned."""
        for gathered in self._gathered.values():
            if gathered.busy is not None:
                gathered.busy.join(timeout=30)


def stored_events(spec: LineSpec, pattern: str) -> float:
    """How many events the counts of the store rest on."""
    assert spec.models is not None, "a line that learns has a store"
    stored = ModelStore(spec.models).counts(pattern)
    return 0 if stored is None else stored.events


def learned(spec: LineSpec, pattern: str, parts: list[Counts], serving: str | None = None) -> str:
    """The version of a model like the one that serves, learned from the stored counts and these; both are kept."""
    assert spec.models is not None, "a line that learns has a store"
    store = ModelStore(spec.models)
    model = store.load(pattern, serving or spec.forecast[pattern])
    stored = store.counts(pattern)
    counts = merge([*([stored] if stored is not None else []), *parts])
    built = build(compiled_like(model, spec.types), counts, replace(model.settings))
    store.keep_counts(counts)
    return store.add(built, promote=False)
