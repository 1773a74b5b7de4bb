"""Forecasts as rows: which decision holds after which event, with the names of what it speaks of."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from foresail.models.decisions import NONE
from foresail.models.forecasts import NO_FEATURE, Forecasts
from foresail.models.kernels.decisions import Decisions
from foresail.models.reader import ModelReader
from foresail.patterns.recognition.events import EventBatch, Places
from foresail.pipeline.results.id_kernel import Named, ids_of
from foresail.pipeline.results.match_batch import coordinates

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
        ("because", pa.string()),
    ]
)
FORECAST_DDL = (
    "track string, time_us long, index long, pattern string, pattern_version int, model_version string,"
    " instance string, state int, chain_state int, kind string, probability double, positive boolean,"
    " earliest int, latest int, most_likely int, earliest_s float, latest_s float, most_likely_s float,"
    " lon double, lat double, because string"
)

TIME = pa.timestamp("us", tz="UTC")
FORECAST_ROWS = pa.schema(
    [
        ("forecast_id", pa.string()),
        ("track", pa.string()),
        ("time", TIME),
        *(FORECAST_SCHEMA.field(name) for name in ("index", "pattern", "pattern_version", "model_version", "instance")),
        *(FORECAST_SCHEMA.field(name) for name in ("state", "chain_state", "kind", "probability", "positive")),
        *(FORECAST_SCHEMA.field(name) for name in ("earliest", "latest")),
        ("spread", pa.int32()),
        *(FORECAST_SCHEMA.field(name) for name in ("most_likely", "earliest_s", "latest_s", "most_likely_s")),
        ("earliest_min", pa.float64()),
        ("latest_min", pa.float64()),
        ("lon", pa.float64()),
        ("lat", pa.float64()),
        ("because", pa.string()),
    ]
)
"""The rows that are written: those of `forecast_columns`, made without Spark."""


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
    decided: Decisions
    """The table that these are the columns of."""

    @classmethod
    def of(cls, reader: ModelReader) -> "ForecastColumns":
        """Of these models."""
        models = reader.emitted_by
        return cls(
            pa.array([model.pattern for model in models], pa.string()),
            pa.array([model.header.identity.version for model in models], pa.int32()),
            pa.array([model.version for model in models], pa.string()),
            pa.array([model.settings.kind for model in models], pa.string()),
            decision_columns(reader.decisions),
            reader.decisions,
        )

    def said(self, forecasts: Forecasts) -> dict[str, pa.Array]:
        """What these forecasts say; those of trees bring decisions of their own."""
        own = forecasts.decisions is not self.decided
        held, said = decision_columns(forecasts.decisions) if own else self.decisions, pa.array(forecasts.said)
        return {name: column.take(said) for name, column in held.items()}


def decision_columns(held: Decisions) -> dict[str, pa.Array]:
    """A table of decisions as Arrow columns."""
    columns = {name: pa.array(getattr(held, name)) for name in ("state", "chain")}
    columns["probability"] = pa.array(held.probability, mask=np.isnan(held.probability))
    columns["positive"] = pa.array(held.positive.astype(np.bool_))
    columns |= {name: _or_none(getattr(held, name)) for name in ("earliest", "latest", "most_likely")}
    return columns | {name: _known(getattr(held, name)) for name in ("earliest_s", "latest_s", "most_likely_s")}


def forecast_batch(
    forecasts: Forecasts, columns: ForecastColumns, events: EventBatch, names: Sequence[str] = ()
) -> pa.RecordBatch:
    """Forecasts after `events` as rows; `names` are those of features."""
    said = {
        "track": events.keys.take(pa.array(events.keys_at(forecasts.event))).cast(pa.string()),
        "time_us": pa.array(events.times[forecasts.event]),
        **forecast_columns(forecasts, columns, names, events.places),
    }
    return pa.RecordBatch.from_arrays([said[name] for name in FORECAST_SCHEMA.names], schema=FORECAST_SCHEMA)


def forecast_rows(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The rows of `forecast_batch` as they are written: with id, time and minutes."""
    own = {name: batch.column(name) for name in FORECAST_SCHEMA.names}
    own |= {
        "forecast_id": _ids(batch),
        "time": own["time_us"].cast(TIME),
        "spread": pc.subtract(own["latest"], own["earliest"]),
        "earliest_min": _minutes(own["earliest_s"]),
        "latest_min": _minutes(own["latest_s"]),
    }
    return pa.RecordBatch.from_arrays([own[name] for name in FORECAST_ROWS.names], schema=FORECAST_ROWS)


def _ids(batch: pa.RecordBatch) -> pa.Array:
    version, instance, track = (
        pc.fill_null(batch.column(name), "").dictionary_encode() for name in ("model_version", "instance", "track")
    )
    none = np.zeros(batch.num_rows, dtype=np.int64)
    named = Named(
        version.indices.to_numpy(),
        instance.indices.to_numpy(),
        track.indices.to_numpy(),
        batch.column("time_us").to_numpy(),
        batch.column("index").to_numpy(),
        none,
        none,
        none,
    )
    return ids_of(version.dictionary, instance.dictionary, track.dictionary, named)


def _minutes(seconds: pa.Array) -> pa.Array:
    """Seconds as minutes of two digits, halves rounded up as written in decimals, which is how Spark rounds."""
    encoded = seconds.dictionary_encode()
    minutes = [
        None if value is None else float(Decimal(repr(value / 60)).quantize(Decimal("0.01"), ROUND_HALF_UP))
        for value in encoded.dictionary.to_pylist()
    ]
    return pa.array(minutes, pa.float64()).take(encoded.indices)


def forecast_columns(
    forecasts: Forecasts, columns: ForecastColumns, names: Sequence[str] = (), places: Places | None = None
) -> dict[str, pa.Array]:
    """All that rows of forecasts say but for track and time, the same in a batch and in a stream.

    `names` are those of features; `places` has an entry for each event that was read.
    """
    model, held = pa.array(forecasts.model), columns.said(forecasts)
    lon, lat = coordinates(None if places is None else places.at(forecasts.event), len(forecasts))
    return {
        "index": pa.array(forecasts.index),
        "pattern": columns.pattern.take(model),
        "pattern_version": columns.pattern_version.take(model),
        "model_version": columns.model_version.take(model),
        "instance": pa.array(list(names), pa.string()).take(
            pa.array(forecasts.feature, mask=forecasts.feature == NO_FEATURE)
        ),
        "chain_state": held.pop("chain"),
        "kind": columns.kind.take(model),
        **held,
        "lon": lon,
        "lat": lat,
        "because": pa.nulls(len(forecasts), pa.string())
        if forecasts.because is None
        else pa.array(forecasts.because, pa.string(), from_pandas=True),
    }


def _or_none(events: NDArray[np.int32]) -> pa.Array:
    return pa.array(events, pa.int32(), mask=events == NONE)


def _known(seconds: NDArray[np.float32]) -> pa.Array:
    return pa.array(seconds, pa.float32(), mask=np.isnan(seconds))
