"""Matches as workers write them: the columns of `match_columns`, made without going through Spark.

Names come as dictionaries; ids do not, since most are of one row. One that many rows share (the changes of an episode)
is made once.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.recognition.events import Places
from foresail.patterns.recognition.matches import NO_FEATURE, NOT_COUNTED, STATUS, Matches
from foresail.patterns.spec import Output
from foresail.pipeline.results.id_kernel import Named, ids_of
from foresail.pipeline.results.ids import SEPARATOR
from foresail.pipeline.results.match_batch import coordinates
from foresail.pipeline.results.registers import REGISTERS, register_maps

TIME = pa.timestamp("us", tz="UTC")
NAMED = ("match_id", "pattern", "instance", "track", "status")


def match_batch(
    matches: Matches,
    patterns: Sequence[CompiledPattern],
    tracks: pa.Array,
    slot: NDArray[np.int64],
    features: Sequence[str] = (),
    places: Places | None = None,
) -> pa.RecordBatch:
    """The rows of `matches`, each of the track at its place `slot` in `tracks`."""
    listed, counted = (
        np.array([p.spec.output is output for p in patterns])[matches.pattern]
        for output in (Output.ENUMERATE, Output.COUNT)
    )
    offsets = pa.array(np.concatenate([[0], matches.members_end]), pa.int32())
    rows, remembered = len(matches), any(p.memory for p in patterns)
    columns = {
        "match_id": _ids(matches, patterns, tracks, slot, features, listed),
        "pattern": _named(matches.pattern, pa.array([p.name for p in patterns])),
        "pattern_version": pa.array(np.array([p.version for p in patterns], dtype=np.int32)[matches.pattern]),
        "instance": _named(matches.feature, pa.array(list(features), pa.string()), matches.feature == NO_FEATURE),
        "track": _named(slot, tracks.cast(pa.string())),
        "time": pa.array(matches.time).cast(TIME),
        "index": pa.array(matches.index),
        "events": pa.ListArray.from_arrays(offsets, pa.array(matches.members), mask=pa.array(~listed)),
        "start_time": pa.array(matches.start_time).cast(TIME),
        "first_start_time": pa.array(matches.first_start_time).cast(TIME),
        "registers": register_maps(matches, patterns) if remembered else pa.nulls(rows, REGISTERS),
        "count": pa.array(matches.count, mask=~counted | (matches.count == NOT_COUNTED)),
        "omitted": pa.array(matches.omitted, mask=~listed & (matches.omitted == 0)),
        "status": _named(matches.status, pa.array(STATUS)),
    }
    if places is not None:
        columns |= dict(zip(("lon", "lat"), coordinates(places, rows), strict=True))
    return pa.RecordBatch.from_pydict(columns)


def match_schema(places: bool) -> pa.Schema:
    """The columns of `match_batch`; names are dictionaries."""
    text = pa.dictionary(pa.int32(), pa.string())
    kinds = {
        "match_id": pa.string(), "pattern": text, "pattern_version": pa.int32(), "instance": text, "track": text,
        "time": TIME, "index": pa.int64(), "events": pa.list_(pa.int64()), "start_time": TIME,
        "first_start_time": TIME, "registers": REGISTERS, "count": pa.int64(),
        "omitted": pa.int64(), "status": text,
    }  # fmt: skip
    return pa.schema(kinds | ({"lon": pa.float64(), "lat": pa.float64()} if places else {}))


def _named(codes: NDArray[np.generic], names: pa.Array, absent: NDArray[np.bool_] | None = None) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32), mask=absent), names)


def _ids(
    matches: Matches,
    patterns: Sequence[CompiledPattern],
    tracks: pa.Array,
    slot: NDArray[np.int64],
    features: Sequence[str],
    listed: NDArray[np.bool_],
) -> pa.Array:
    """Per row its id; rows of one pattern that follow each other and are named alike share it."""
    order = np.argsort(matches.pattern.astype(np.uint16), kind="stable")
    first = listed[order]
    first[:1] = True
    for values in (matches.pattern, matches.id_time, matches.id_tie, slot, matches.feature):
        ordered = values[order]
        first[1:] |= ordered[1:] != ordered[:-1]
    number = np.empty(len(order), dtype=np.int32)
    number[order] = np.cumsum(first) - 1
    heads = order[first]
    begin = np.concatenate([[0], matches.members_end[:-1]])[heads] if len(heads) else heads
    feature = matches.feature[heads]
    named = Named(
        matches.pattern[heads],
        np.where(feature == NO_FEATURE, len(features), feature),
        slot[heads],
        matches.id_time[heads],
        matches.id_tie[heads],
        begin,
        matches.members_end[heads],
        matches.index[heads],
    )
    prefixes = pa.array([f"{p.name}{SEPARATOR}{p.version}" for p in patterns], pa.string())
    ids = ids_of(prefixes, pa.array([*features, ""], pa.string()), tracks, named, matches.members)
    return ids.take(pa.array(number))
