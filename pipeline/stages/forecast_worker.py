"""What runs in a Python worker to forecast: events of one partition in, forecasts out, the last track carried."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from models.family_forecaster import FamilyForecaster, FamilyForecasterState
from models.forecaster import Forecaster, ForecasterState
from models.forecasts import NO_FEATURE, Forecasts
from models.kinds import NONE
from models.model import Emission, Model
from models.sampling import usual_step_s
from patterns.conditions.syntax import Condition
from patterns.recognition.recogniser import Batch
from pipeline.stages.found import Places
from pipeline.stages.recognition_line import EventRows
from pipeline.stages.tally import EVENTS, Tally

FORECASTS, POSITIVE, STEP = "forecasts", "positive", "step"
"""What a tally counts: rows, positive rows, and events by the usual seconds between them."""
TOLD = pa.schema(
    [
        ("track", pa.string()),
        ("time_us", pa.int64()),
        ("index", pa.int64()),
        ("pattern", pa.string()),
        ("pattern_version", pa.int32()),
        ("model_version", pa.string()),
        ("instance", pa.string()),
        ("state", pa.int32()),
        ("chain_state", pa.int32()),
        ("kind", pa.string()),
        ("probability", pa.float64()),
        ("positive", pa.bool_()),
        ("earliest", pa.int32()),
        ("latest", pa.int32()),
        ("most_likely", pa.int32()),
        ("earliest_s", pa.float32()),
        ("latest_s", pa.float32()),
        ("most_likely_s", pa.float32()),
        ("lon", pa.float64()),
        ("lat", pa.float64()),
    ]
)
TOLD_DDL = (
    "track string, time_us long, index long, pattern string, pattern_version int, model_version string,"
    " instance string, state int, chain_state int, kind string, probability double, positive boolean,"
    " earliest int, latest int, most_likely int, earliest_s float, latest_s float, most_likely_s float,"
    " lon double, lat double"
)


@dataclass(frozen=True, slots=True)
class Asked:
    """Some models, and the conditions whose truth the words of events hold."""

    models: tuple[Model, ...]
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class BeginForecasting:
    """Makes the walk that asks plain models, and those of families in groups of one layer each."""

    plain: Asked
    families: tuple[Asked, ...]
    emission: Emission
    tally: Tally | None = None

    def __call__(self) -> "ForecastWalk":
        """A walk that has read nothing."""
        return ForecastWalk(self)


class ForecastWalk:
    """The forecasters of one partition and what they remember of the track that was read last."""

    def __init__(self, wanted: BeginForecasting) -> None:
        plain, emission = wanted.plain, wanted.emission
        self._tally = wanted.tally
        self._plain = Forecaster(plain.models, plain.conditions, emission) if plain.models else None
        self._families = [FamilyForecaster(asked.models, asked.conditions, emission) for asked in wanted.families]
        self.counts: Counter[tuple[str, str]] = Counter()
        self._track: str | None = None
        self._state: ForecasterState | None = None
        self._family_states: list[FamilyForecasterState] = [family.fresh(1) for family in self._families]

    def advance(self, rows: EventRows) -> Iterator[pa.RecordBatch]:
        """The forecasts after these events."""
        slots = np.full(len(rows.first_of) - 1, -1, dtype=np.int64)
        if rows.tracks[0].as_py() == self._track:
            slots[0] = 0
        self._track = rows.tracks[-1].as_py()
        self._count_events(rows)
        if self._plain:
            before = self._plain.fresh(1) if self._state is None else self._state
            batch = Batch(rows.words, rows.times, rows.first_of)
            told, after = self._plain.advance(batch, self._plain.rearranged(before, slots))
            self._state = self._plain.rearranged(after, np.array([len(slots) - 1]))
            yield from self._told(told, self._plain.models, rows)
        for n, family in enumerate(self._families):
            own = rows.families[n]
            batch = Batch(own.words, rows.times, rows.first_of)
            told, state = family.advance(batch, own.near, family.rearranged(self._family_states[n], slots))
            self._family_states[n] = family.rearranged(state, np.array([len(slots) - 1]))
            yield from self._told(told, family.models, rows, own.names)

    def finish(self) -> Iterator[pa.RecordBatch]:
        """Nothing more; the tally learns what was told."""
        if self._tally is not None:
            self._tally.add(self.counts)
        yield from ()

    def _count_events(self, rows: EventRows) -> None:
        self.counts[EVENTS, ""] += len(rows.times)
        step_s = usual_step_s(rows.times, rows.first_of)
        if step_s is not None:
            self.counts[STEP, str(step_s)] += len(rows.times)

    def _told(
        self, told: Forecasts, models: Sequence[Model], rows: EventRows, names: Sequence[str] = ()
    ) -> Iterator[pa.RecordBatch]:
        for n, model in enumerate(models):
            mine = told.model == n
            self.counts[FORECASTS, model.pattern] += int(mine.sum())
            self.counts[POSITIVE, model.pattern] += int(told.positive[mine].sum())
        if len(told):
            yield told_batch(told, models, rows, names)


def told_batch(told: Forecasts, models: Sequence[Model], rows: EventRows, names: Sequence[str] = ()) -> pa.RecordBatch:
    """The rows of `told` with the names of what they speak of; none is null."""
    model, slot = pa.array(told.model), np.searchsorted(rows.first_of, told.event, side="right") - 1
    no_feature = told.feature == NO_FEATURE
    columns = [
        rows.tracks.take(pa.array(slot)).cast(pa.string()),
        pa.array(rows.times[told.event]),
        pa.array(told.index),
        pa.array([m.pattern for m in models]).take(model),
        pa.array([m.header.identity.version for m in models], pa.int32()).take(model),
        pa.array([m.version for m in models]).take(model),
        pa.array(list(names), pa.string()).take(pa.array(told.feature, mask=no_feature)),
        pa.array(told.state),
        pa.array(told.chain),
        pa.array([m.settings.kind for m in models]).take(model),
        pa.array(told.probability),
        pa.array(told.positive.astype(np.bool_)),
        *(_or_none(events) for events in (told.earliest, told.latest, told.most_likely)),
        *(_known(seconds) for seconds in (told.earliest_s, told.latest_s, told.most_likely_s)),
        *_coordinates(rows.places, told.event),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=TOLD)


def _or_none(events: NDArray[np.int32]) -> pa.Array:
    return pa.array(events, pa.int32(), mask=events == NONE)


def _known(seconds: NDArray[np.float32]) -> pa.Array:
    return pa.array(seconds, pa.float32(), mask=np.isnan(seconds))


def _coordinates(places: Places | None, events: NDArray[np.int64]) -> list[pa.Array]:
    if places is None:
        return [pa.nulls(len(events), pa.float64())] * 2
    here = places.at(events)
    return [pa.array(values, pa.float64(), mask=np.isnan(values)) for values in (here.lon, here.lat)]
