"""What runs in a Python worker to forecast: events of one partition in, forecasts out, the last track carried."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from foresail.models.family_forecaster import FamilyForecaster, FamilyForecasterState
from foresail.models.forecaster import Forecaster, ForecasterState
from foresail.models.forecasts import NO_FEATURE, Forecasts
from foresail.models.groups import GroupModels
from foresail.models.kinds import NONE
from foresail.models.model import Emission, Model
from foresail.models.reader import ModelReader
from foresail.models.sampling import usual_step_s
from foresail.patterns.conditions.syntax import Condition
from foresail.patterns.recognition.recogniser import Batch
from foresail.pipeline.batch.recognition_line import EventRows
from foresail.pipeline.batch.tally import EVENTS, Tally
from foresail.pipeline.results.match_batch import Places
from foresail.pipeline.training.track_groups import Membership

FORECASTS, POSITIVE, STEP = "forecasts", "positive", "step"
"""What a tally counts: rows, positive rows, and events by the usual seconds between them."""
FORECAST_SCHEMA = pa.schema(
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
class GroupsServed:
    """Models of groups, and which track is in which group."""

    models: GroupModels
    membership: Membership


@dataclass(frozen=True, slots=True)
class Asked:
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
    """Makes the walk that asks plain models, and those of families in groups of one layer each."""

    plain: Asked
    families: tuple[Asked, ...]
    emission: Emission
    tally: Tally | None = None

    def __call__(self) -> "ForecastWalk":
        """A walk that has read nothing."""
        return ForecastWalk(self)


@dataclass(frozen=True, slots=True, eq=False)
class ForecastColumns:
    """All that models can say, as Arrow columns: rows of forecasts are taken from them."""

    pattern: pa.Array
    """By the number of the model, and so are the next three."""
    pattern_version: pa.Array
    model_version: pa.Array
    kind: pa.Array
    decisions: dict[str, pa.Array]
    """By the number of the decision."""

    @classmethod
    def of(cls, reader: ModelReader) -> "ForecastColumns":
        """Of these models."""
        models, held = reader.told_by, reader.decisions
        columns = {name: pa.array(getattr(held, name)) for name in ("state", "chain")}
        columns["probability"] = pa.array(held.probability, mask=np.isnan(held.probability))
        columns["positive"] = pa.array(held.positive.astype(np.bool_))
        columns |= {name: _or_none(getattr(held, name)) for name in ("earliest", "latest", "most_likely")}
        columns |= {name: _known(getattr(held, name)) for name in ("earliest_s", "latest_s", "most_likely_s")}
        return cls(
            pa.array([model.pattern for model in models], pa.string()),
            pa.array([model.header.identity.version for model in models], pa.int32()),
            pa.array([model.version for model in models], pa.string()),
            pa.array([model.settings.kind for model in models], pa.string()),
            columns,
        )


class ForecastWalk:
    """The forecasters of one partition and what they remember of the track that was read last."""

    def __init__(self, wanted: BeginForecasting) -> None:
        plain, emission = wanted.plain, wanted.emission
        self._wanted = wanted
        self._plain = Forecaster(plain.models, plain.conditions, emission, plain.group_models) if plain.models else None
        self._families = [
            FamilyForecaster(asked.models, asked.conditions, emission, asked.group_models) for asked in wanted.families
        ]
        self._sayings = None if self._plain is None else ForecastColumns.of(self._plain)
        self._family_sayings = [ForecastColumns.of(family) for family in self._families]
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
        if self._plain and self._sayings:
            before = self._plain.fresh(1) if self._state is None else self._state
            batch = Batch(rows.words, rows.times, rows.first_of)
            members = self._wanted.plain.members(rows.tracks)
            told, after = self._plain.advance(batch, self._plain.rearranged(before, slots, members))
            self._state = self._plain.rearranged(after, np.array([len(slots) - 1]))
            yield from self._told(told, self._sayings, rows)
        for n, family in enumerate(self._families):
            own = rows.families[n]
            batch = Batch(own.words, rows.times, rows.first_of)
            members = self._wanted.families[n].members(rows.tracks)
            saved = family.rearranged(self._family_states[n], slots, members)
            told, state = family.advance(batch, own.near, saved)
            self._family_states[n] = family.rearranged(state, np.array([len(slots) - 1]))
            yield from self._told(told, self._family_sayings[n], rows, own.names)

    def finish(self) -> Iterator[pa.RecordBatch]:
        """Nothing more; the tally learns what was told."""
        if self._wanted.tally is not None:
            self._wanted.tally.add(self.counts)
        yield from ()

    def _count_events(self, rows: EventRows) -> None:
        self.counts[EVENTS, ""] += len(rows.times)
        step_s = usual_step_s(rows.times, rows.first_of)
        if step_s is not None:
            self.counts[STEP, str(step_s)] += len(rows.times)

    def _told(
        self, told: Forecasts, sayings: ForecastColumns, rows: EventRows, features: Sequence[str] = ()
    ) -> Iterator[pa.RecordBatch]:
        model = told.model
        number, positive = np.bincount(model), np.bincount(model, weights=told.positive)
        for n in np.flatnonzero(number):
            pattern = sayings.pattern[n].as_py()
            self.counts[FORECASTS, pattern] += int(number[n])
            self.counts[POSITIVE, pattern] += int(positive[n])
        if len(told):
            yield told_batch(told, sayings, rows, features)


def told_batch(told: Forecasts, sayings: ForecastColumns, rows: EventRows, names: Sequence[str] = ()) -> pa.RecordBatch:
    """The rows of `told` with the names of what they speak of."""
    slot = np.searchsorted(rows.first_of, told.event, side="right") - 1
    columns = {
        "track": rows.tracks.take(pa.array(slot)).cast(pa.string()),
        "time_us": pa.array(rows.times[told.event]),
        **said_columns(told, sayings, names, rows.places),
    }
    return pa.RecordBatch.from_arrays([columns[name] for name in FORECAST_SCHEMA.names], schema=FORECAST_SCHEMA)


def said_columns(
    told: Forecasts, sayings: ForecastColumns, names: Sequence[str] = (), places: Places | None = None
) -> dict[str, pa.Array]:
    """All that rows of forecasts say but for track and time, the same in a batch and in a stream.

    `names` are those of features; `places` has an entry for each event that was read.
    """
    model, said = pa.array(told.model), pa.array(told.said)
    held = {name: column.take(said) for name, column in sayings.decisions.items()}
    lon, lat = _coordinates(places, told.event)
    return {
        "index": pa.array(told.index),
        "pattern": sayings.pattern.take(model),
        "pattern_version": sayings.pattern_version.take(model),
        "model_version": sayings.model_version.take(model),
        "instance": pa.array(list(names), pa.string()).take(pa.array(told.feature, mask=told.feature == NO_FEATURE)),
        "chain_state": held.pop("chain"),
        "kind": sayings.kind.take(model),
        **held,
        "lon": lon,
        "lat": lat,
    }


def _or_none(events: NDArray[np.int32]) -> pa.Array:
    return pa.array(events, pa.int32(), mask=events == NONE)


def _known(seconds: NDArray[np.float32]) -> pa.Array:
    return pa.array(seconds, pa.float32(), mask=np.isnan(seconds))


def _coordinates(places: Places | None, events: NDArray[np.int32]) -> list[pa.Array]:
    if places is None:
        return [pa.nulls(len(events), pa.float64())] * 2
    here = places.at(events)
    return [pa.array(values, pa.float64(), mask=np.isnan(values)) for values in (here.lon, here.lat)]
