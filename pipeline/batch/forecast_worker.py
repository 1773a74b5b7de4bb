"""What runs in a Python worker to forecast: events of one partition in, forecasts out, the last track carried."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from foresail.models.family_forecaster import FamilyForecaster
from foresail.models.forecaster import Forecaster
from foresail.models.forecasts import Forecasts
from foresail.models.groups import GroupModels
from foresail.models.model import Emission, Model
from foresail.models.sampling import usual_step_s
from foresail.patterns.conditions.syntax import Condition
from foresail.patterns.recognition.events import EventBatch
from foresail.patterns.recognition.monitor import Monitor
from foresail.patterns.recognition.protocol import Recogniser
from foresail.pipeline.batch.partition import PartitionMonitor
from foresail.pipeline.batch.tally import EVENTS, Tally
from foresail.pipeline.results.forecast_table import ForecastColumns, forecast_batch
from foresail.pipeline.training.symbols import Membership

FORECASTS, POSITIVE, STEP = "forecasts", "positive", "step"
"""What a tally counts: rows, positive rows, and events by the usual seconds between them."""


@dataclass(frozen=True, slots=True)
class GroupsServed:
    """Models of groups, and which track is in which group."""

    models: GroupModels
    membership: Membership


@dataclass(frozen=True, slots=True)
class ServingModels:
    """Some models, and the conditions whose truth the words of events hold."""

    models: tuple[Model, ...]
    conditions: tuple[Condition, ...]
    groups: tuple[GroupsServed | None, ...] = ()
    """For each model those of groups of tracks beside it; none at all where it is empty."""

    def members(self, tracks: pa.Array) -> NDArray[np.int64] | None:
        """Per track and model which of the pattern's models serves it: 0 that of all tracks; None where all are."""
        if not any(self.groups):
            return None
        none = np.zeros(len(tracks), dtype=np.int64)
        columns = [none if g is None else g.membership.members(tracks, g.models.names) for g in self.groups]
        return np.stack(columns, axis=1)

    @property
    def group_models(self) -> list[tuple[Model, ...]] | None:
        """The models of groups as a forecaster takes them."""
        return [() if g is None else tuple(g.models.models.values()) for g in self.groups] or None


@dataclass(frozen=True, slots=True)
class BeginForecasting:
    """Makes the walk that asks the models of plain patterns, and those of the families over each layer."""

    plain: ServingModels
    families: Mapping[str, ServingModels] = field(default_factory=dict)
    """By layer."""
    emission: Emission = "all"
    tally: Tally | None = None

    def __call__(self) -> "ForecastWalk":
        """A walk that has read nothing."""
        return ForecastWalk(self)

    def monitor(self) -> Monitor:
        """The forecasters."""
        plain, how = self.plain, self.emission
        parts: list[Recogniser] = []
        if plain.models:
            parts.append(Forecaster(plain.models, plain.conditions, how, plain.group_models, plain.members))
        for layer, asked in self.families.items():
            groups = asked.group_models
            parts.append(FamilyForecaster(asked.models, asked.conditions, how, groups, asked.members, layer))
        return Monitor(parts)


class ForecastWalk:
    """The forecasters of one partition and what they remember of the track that was read last."""

    def __init__(self, wanted: BeginForecasting) -> None:
        self._tally = wanted.tally
        self._partition = PartitionMonitor(wanted.monitor())
        parts = self._partition.monitor.recognisers
        self._columns = {id(part): ForecastColumns.of(part) for part in parts}  # type: ignore[arg-type]
        self.counts: Counter[tuple[str, str]] = Counter()

    def advance(self, events: EventBatch) -> Iterator[pa.RecordBatch]:
        """The forecasts after these events."""
        self._count_events(events)
        for finding in self._partition.advance(events):
            names = () if finding.layer is None else events.layers[finding.layer].names
            columns = self._columns[id(finding.by)]
            self._count_forecasts(finding.results, columns)
            if len(finding.results):
                yield forecast_batch(finding.results, columns, events, names)

    def finish(self) -> Iterator[pa.RecordBatch]:
        """Nothing more; the tally learns what there was."""
        if self._tally is not None:
            self._tally.add(self.counts)
        yield from ()

    def _count_events(self, events: EventBatch) -> None:
        self.counts[EVENTS, ""] += len(events)
        step_s = usual_step_s(events.times, events.first_of)
        if step_s is not None:
            self.counts[STEP, str(step_s)] += len(events)

    def _count_forecasts(self, forecasts: Forecasts, columns: ForecastColumns) -> None:
        model = forecasts.model
        number, positive = np.bincount(model), np.bincount(model, weights=forecasts.positive)
        for n in np.flatnonzero(number):
            pattern = columns.pattern[n].as_py()
            self.counts[FORECASTS, pattern] += int(number[n])
            self.counts[POSITIVE, pattern] += int(positive[n])
