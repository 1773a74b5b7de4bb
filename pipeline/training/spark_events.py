"""Events in a table of Spark as training asks for them: a sample on the driver, groups of tracks, counts by workers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from foresail.geo import Layer
from foresail.models.groups import PER_TRACK
from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.conditions import Attribute, AttributeType
from foresail.pipeline.batch.families import NearRows
from foresail.pipeline.batch.kernel_columns import FamilyGroup
from foresail.pipeline.batch.partition import LayerPatterns
from foresail.pipeline.batch.sorted_rows import NO_LAYER
from foresail.pipeline.batch.track_walk import Walked, walk_tracks
from foresail.pipeline.conditions.spark import attribute_types, columns_of
from foresail.pipeline.training.count import COUNTED_DDL, BeginCounting, Counted, merged_counts
from foresail.pipeline.training.sample import (
    BUCKETS,
    Sample,
    Share,
    attribute_column,
    share_of_buckets,
    sorted_sample,
)
from foresail.pipeline.training.symbols import Membership

KEY = "_track"


@dataclass(frozen=True, slots=True)
class SparkEvents:
    """A table of Spark, and the layers that its events may be near."""

    frame: DataFrame
    layers: Mapping[str, Layer]
    paths: tuple[str, ...] = ()
    """The files the events came from, as they are; none where the events were changed or chosen since."""

    @property
    def columns(self) -> Sequence[str]:
        """The names of its columns."""
        return self.frame.columns

    @property
    def types(self) -> Mapping[str, AttributeType]:
        """What conditions can read, and as what."""
        return attribute_types(self.frame.schema)

    def sample(self, attributes: Sequence[str], reach: Mapping[str, float], most_events: int) -> Sample:
        """Whole tracks with these attributes, and the features that they come near."""
        near = [NearRows(self.layers[layer], metres) for layer, metres in reach.items()]
        return collect_sample(self.frame, attributes, share_of(self.frame, most_events), near)

    def memberships(self, attributes: Iterable[str]) -> dict[str, Membership]:
        """For each attribute the value that each track has most often."""
        return memberships(self.frame, attributes)

    def counted(
        self,
        plain: tuple[CompiledPattern, ...],
        families: LayerPatterns,
        reach: Mapping[str, float],
        max_order: int,
        groups: Mapping[str, Membership],
    ) -> Counted:
        """The counts of each pattern, by workers."""
        walked = Walked(self.frame, plain, family_groups_within(families, reach, self.layers), self.paths)
        return count_patterns(walked, max_order, groups)


def family_groups_within(
    families: LayerPatterns, reach: Mapping[str, float], layers: Mapping[str, Layer]
) -> tuple[FamilyGroup, ...]:
    """The families of each layer with the rows that say which events are near, as far as any of them looks."""
    groups = []
    for layer, patterns in families.items():
        near = NearRows(layers[layer], reach[layer])
        groups.append(FamilyGroup(layer, patterns, near, near.in_workers(patterns)))
    return tuple(groups)


def share_of(events: DataFrame, most_events: int) -> Share:
    """The buckets of tracks that together have at most `most_events` events, but at least one track."""
    by_track = events.groupBy("track").agg(F.count("*").alias("events"))
    bucket = F.pmod(F.xxhash64("track"), F.lit(BUCKETS)).alias("bucket")
    sums = by_track.groupBy(bucket).agg(F.sum("events").alias("events"), F.count("*").alias("tracks"))
    found = sums.orderBy("bucket").toArrow()
    number, held, tracks = (found.column(name).to_numpy() for name in ("bucket", "events", "tracks"))
    return share_of_buckets(number, held, int(tracks.sum()), most_events)


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
    values = [resolve(_attribute(name)).alias(attribute_column(n)) for n, name in enumerate(wanted)]
    keys = [F.col("track"), F.unix_micros("time").alias("time_us"), F.col("offset").cast("long").alias("offset")]
    rows = kept.select(*keys, F.lit(NO_LAYER).alias("layer"), F.lit(None).cast("string").alias("feature"), *values)
    for n, stage in enumerate(near):
        layer = stage(kept).select(*keys, F.lit(n).alias("layer"), "feature", "feature_distance_m")
        rows = rows.unionByName(layer, allowMissingColumns=True)
    return sorted_sample(rows.toArrow(), list(wanted), len(near), share)


def _attribute(key: str) -> Attribute:
    owner, dot, name = key.partition(".")
    return Attribute(name, owner) if dot else Attribute(key)


def memberships(events: DataFrame, attributes: Iterable[str]) -> dict[str, Membership]:
    """For each attribute the value that each track has most often, the first in order where two are equally frequent.

    One pass over these columns; what comes back is one row per track.
    """
    wanted = sorted(set(attributes))
    columns = [name for name in wanted if name != PER_TRACK]
    found: dict[str, Membership] = {PER_TRACK: Membership()} if PER_TRACK in wanted else {}
    if columns:
        usual = [F.mode(F.col(name).cast("string"), deterministic=True).alias(name) for name in columns]
        table = events.groupBy(F.col("track").cast("string").alias(KEY)).agg(*usual).toArrow()
        found |= {name: Membership(_whole(table, KEY), _whole(table, name)) for name in columns}
    return found


def _whole(table: pa.Table, column: str) -> pa.Array:
    return pa.concat_arrays([*table.column(column).chunks, pa.array([], pa.string())])


def count_patterns(walked: Walked, max_order: int = 8, groups: Mapping[str, Membership] | None = None) -> Counted:
    """The counts of each pattern over all events; of those in `groups`, by name, each group of tracks apart."""
    begin = BeginCounting(
        walked.plain, {group.name: group.patterns for group in walked.families}, max_order, groups or {}
    )
    return merged_counts(row.asDict() for row in walk_tracks(walked, begin, COUNTED_DDL).collect())
