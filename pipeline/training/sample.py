"""A bounded sample of whole tracks on the driver: what trees, thresholds and evaluations look at.

Tracks are chosen by a hash of their name, so the same events always give the same sample, and more events a larger one.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from foresail.patterns.conditions import Attribute
from foresail.pipeline.batch.recognition_worker import NO_LAYER
from foresail.pipeline.conditions.arrow import array_column
from foresail.pipeline.conditions.spark import columns_of
from foresail.pipeline.errors import InputError
from foresail.pipeline.training.track_sample import NearTable, Sample, Share

BUCKETS = 1024
KEYS = ("track", "time_us", "offset", "layer", "feature")


def share_of(events: DataFrame, most_events: int) -> Share:
    """The buckets of tracks that together have at most `most_events` events, but at least one track."""
    by_track = events.groupBy("track").agg(F.count("*").alias("events"))
    bucket = F.pmod(F.xxhash64("track"), F.lit(BUCKETS))
    rows = by_track.groupBy(bucket.alias("bucket")).agg(F.sum("events"), F.count("*")).orderBy("bucket").collect()
    if not rows:
        msg = "events: there are none. Give events to learn from."
        raise InputError(msg)
    total = np.cumsum([row[1] for row in rows])
    fitting = max(1, int(np.searchsorted(total, most_events, side="right")))
    buckets = BUCKETS if fitting == len(rows) else int(rows[fitting - 1][0]) + 1
    return Share(buckets, int(total[-1]), int(sum(row[2] for row in rows)))


def collect_sample(
    events: DataFrame,
    attributes: Sequence[str],
    share: Share,
    near: Sequence[Callable[[DataFrame], DataFrame]] = (),
) -> Sample:
    """The events of the share with these attributes (and their place, if they have one), and their near features."""
    kept = events.where(F.pmod(F.xxhash64("track"), F.lit(BUCKETS)) < share.buckets)
    resolve = columns_of(events.schema)
    places = [name for name in ("lon", "lat") if name in events.columns]
    wanted = dict.fromkeys([*attributes, *places])
    values = [resolve(_attribute(name)).alias(_column(n)) for n, name in enumerate(wanted)]
    keys = [F.col("track"), F.unix_micros("time").alias("time_us"), F.col("offset").cast("long").alias("offset")]
    rows = kept.select(*keys, F.lit(NO_LAYER).alias("layer"), F.lit(None).cast("string").alias("feature"), *values)
    for n, stage in enumerate(near):
        layer = stage(kept).select(*keys, F.lit(n).alias("layer"), "feature", "feature_distance_m")
        rows = rows.unionByName(layer, allowMissingColumns=True)
    return _sorted(rows.toArrow().sort_by([(key, "ascending") for key in KEYS]), list(wanted), len(near), share)


def _attribute(key: str) -> Attribute:
    owner, dot, name = key.partition(".")
    return Attribute(name, owner) if dot else Attribute(key)


def _column(number: int) -> str:
    return f"attribute_{number}"


def _sorted(rows: pa.Table, attributes: Sequence[str], layers: int, share: Share) -> Sample:
    layer = rows.column("layer").to_numpy()
    is_event = layer == NO_LAYER
    event_of = np.cumsum(is_event) - 1
    table = rows.filter(pa.array(is_event)).combine_chunks()
    track = table.column("track").combine_chunks()
    codes = track.dictionary_encode().indices.to_numpy()
    first = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]])) if len(codes) else np.empty(0, np.int64)
    columns = {name: array_column(table.column(_column(n)), name) for n, name in enumerate(attributes)}
    return Sample(
        share,
        table,
        columns,
        track.take(pa.array(first)),
        table.column("time_us").to_numpy(),
        np.append(first, len(codes)).astype(np.int64),
        tuple(_near(rows.filter(pa.array(layer == n)), event_of[layer == n]) for n in range(layers)),
    )


def _near(rows: pa.Table, event_of: NDArray[np.int64]) -> NearTable:
    names = rows.column("feature").combine_chunks().dictionary_encode()
    return NearTable(
        event_of,
        names.indices.to_numpy().astype(np.int64),
        rows.column("feature_distance_m").to_numpy(),
        tuple(names.dictionary.to_pylist()),
    )
