"""What a Python worker sends back: matches as one Arrow batch, before Spark makes ids and times of them."""

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.recognition.events import Places
from foresail.patterns.recognition.matches import NO_FEATURE, NOT_COUNTED, STATUS, Matches
from foresail.patterns.spec import Output
from foresail.pipeline.results.registers import register_texts

FOUND = pa.schema(
    [
        ("pattern", pa.string()),
        ("pattern_version", pa.int32()),
        ("instance", pa.string()),
        ("track", pa.string()),
        ("time_us", pa.int64()),
        ("index", pa.int64()),
        ("events", pa.list_(pa.int64())),
        ("start_time_us", pa.int64()),
        ("first_start_time_us", pa.int64()),
        ("count", pa.int64()),
        ("omitted", pa.int64()),
        ("status", pa.string()),
        ("id_time_us", pa.int64()),
        ("id_tie", pa.int64()),
        ("lon", pa.float64()),
        ("lat", pa.float64()),
        ("registers", pa.string()),
    ]
)
FOUND_DDL = (
    "pattern string, pattern_version int, instance string, track string, time_us long, index long, events array<long>, "
    "start_time_us long, first_start_time_us long, count long, omitted long, status string, id_time_us long, "
    "id_tie long, lon double, lat double, registers string"
)


def found_batch(
    matches: Matches,
    patterns: Sequence[CompiledPattern],
    tracks: pa.Array,
    slot: NDArray[np.int64],
    features: Iterable[str] = (),
    places: Places | None = None,
) -> pa.RecordBatch:
    """The rows of `matches`, each of the track at its place `slot` in `tracks`; `places` has one entry for each."""
    names = pa.array([p.name for p in patterns])
    versions = pa.array([p.version for p in patterns], pa.int32())
    listed = np.array([p.spec.output is Output.ENUMERATE for p in patterns])[matches.pattern]
    counted = np.array([p.spec.output is Output.COUNT for p in patterns])[matches.pattern]
    offsets = pa.array(np.concatenate([[0], matches.members_end]), pa.int32())
    no_feature = matches.feature == NO_FEATURE
    columns = [
        names.take(pa.array(matches.pattern)),
        versions.take(pa.array(matches.pattern)),
        pa.array(list(features), pa.string()).take(pa.array(matches.feature, mask=no_feature)),
        tracks.take(pa.array(slot)).cast(pa.string()),
        pa.array(matches.time),
        pa.array(matches.index),
        pa.ListArray.from_arrays(offsets, pa.array(matches.members), mask=pa.array(~listed)),
        pa.array(matches.start_time),
        pa.array(matches.first_start_time),
        pa.array(matches.count, mask=~counted | (matches.count == NOT_COUNTED)),
        pa.array(matches.omitted, mask=~listed & (matches.omitted == 0)),
        pa.array(STATUS).take(pa.array(matches.status)),
        pa.array(matches.id_time),
        pa.array(matches.id_tie),
        *coordinates(places, len(matches)),
        register_texts(matches, patterns),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=FOUND)


def coordinates(places: Places | None, rows: int) -> list[pa.Array]:
    """Longitudes and latitudes as columns, null where unknown."""
    if places is None:
        return [pa.nulls(rows, pa.float64())] * 2
    return [pa.array(values, pa.float64(), mask=np.isnan(values)) for values in (places.lon, places.lat)]
