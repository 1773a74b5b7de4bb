"""Recognition as a stage: conditions in the JVM, events sorted by track, then one kernel call per Arrow batch.

Only track, time and the words of condition bits cross into Python; only matches return. Every decision is made by
`patterns.recognition`. For a pattern family an event has one more row per feature it is near; far from a feature is
the absence of such a row, so the cost follows what is near.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

from pyspark import Accumulator
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from patterns.compiler import CompiledPattern
from patterns.conditions.syntax import Attribute, Condition
from patterns.recognition.tables import WORD_BITS, shared_conditions
from pipeline.conditions import columns_of, packed_words
from pipeline.stages.recognition_worker import FOUND_DDL, NO_LAYER, Partition

ID_DIGITS = 32
DISTANCE = "distance_m"


@dataclass(frozen=True, slots=True)
class FamilyGroup:
    """Families over one layer, and the rows that say which events are near which of its features."""

    patterns: tuple[CompiledPattern, ...]
    near: Callable[[DataFrame], DataFrame]
    """From the events to a row per event and near feature: the event's columns, `feature` and `feature_distance_m`."""


@dataclass(frozen=True, slots=True)
class Recognise:
    """Events to matches, by track: the scheme `partition`."""

    plain: tuple[CompiledPattern, ...]
    families: tuple[FamilyGroup, ...] = ()
    counter: Accumulator[int] | None = None
    """Told how many events were read."""

    @property
    def patterns(self) -> tuple[CompiledPattern, ...]:
        """All patterns, plain ones first."""
        return (*self.plain, *(pattern for group in self.families for pattern in group.patterns))

    def __call__(self, events: DataFrame) -> DataFrame:
        """A row per match, per counted detection, or per change of an episode."""
        rows = self._crossing(events)
        # Without a number of partitions, adaptive execution would merge them into fewer tasks than there are cores.
        partitions = int(events.sparkSession.conf.get("spark.sql.shuffle.partitions") or 2)
        order = ["track", "time_us", "offset", *(["layer", "feature"] if self.families else [])]
        by_track = rows.repartition(partitions, "track").sortWithinPartitions(*order).drop("offset")
        worker = Partition(self.plain, tuple(group.patterns for group in self.families), self.counter)
        return by_track.mapInArrow(worker, FOUND_DDL).select(*_match_columns())

    def _crossing(self, events: DataFrame) -> DataFrame:
        """What crosses into Python: a row per event, and for families a row per event and near feature."""
        plain = _named("word", packed_words(shared_conditions(self.plain), events.schema) or [_nothing()])
        far = [_named(f"family_{n}", _far_words(group, events)) for n, group in enumerate(self.families)]
        keys = [F.col("track"), F.unix_micros("time").alias("time_us"), F.col("offset")]
        if not self.families:
            return events.select(*keys, *plain)
        layer, feature = F.lit(NO_LAYER).alias("layer"), F.lit(None).cast("string").alias("feature")
        base = events.select(*keys, layer, feature, *plain, *(word for words in far for word in words))
        for n, group in enumerate(self.families):
            near = group.near(events)
            words = [
                _named(f"family_{m}", _near_words(group, near) if m == n else [_nothing()] * len(far[m]))
                for m in range(len(self.families))
            ]
            nothing = _named("word", [_nothing()] * len(plain))
            flat = [*nothing, *(word for columns in words for word in columns)]
            base = base.unionByName(near.select(*keys, F.lit(n).alias("layer"), F.col("feature"), *flat))
        return base


def _named(name: str, words: Sequence[Column]) -> list[Column]:
    return [word.alias(f"{name}_{n}") for n, word in enumerate(words)]


def _nothing() -> Column:
    return F.lit(0).cast("long")


def _far_words(group: FamilyGroup, events: DataFrame) -> list[Column]:
    """What holds of an event with respect to a feature that is out of reach: its distance is beyond every threshold."""
    return _family_words(group, events, F.lit(inf))


def _near_words(group: FamilyGroup, near: DataFrame) -> list[Column]:
    return _family_words(group, near, F.col("feature_distance_m"))


def _family_words(group: FamilyGroup, rows: DataFrame, distance: Column) -> list[Column]:
    conditions: tuple[Condition, ...] = shared_conditions(group.patterns)
    names = {pattern.spec.family for pattern in group.patterns}
    own = columns_of(rows.schema)
    fields = [T.StructField(f"{name}.{DISTANCE}", T.DoubleType()) for name in sorted(filter(None, names))]
    schema = T.StructType([*rows.schema.fields, *fields])

    def resolve(attribute: Attribute) -> Column:
        return distance if attribute.owner in names else own(attribute)

    words = packed_words(conditions, schema, resolve) or [_nothing()]
    assert len(words) == max(1, -(-len(conditions) // WORD_BITS)), "as many words as the kernel reads"
    return words


def _match_columns() -> list[Column]:
    """The columns of a match; its id is a hash of what names it, the same however and wherever it was found."""
    relative = F.concat_ws(",", F.transform("events", lambda e: (F.col("index") - e).cast("string")))
    named = F.concat_ws(
        "\x1f",
        "pattern",
        F.col("pattern_version").cast("string"),
        F.coalesce("instance", F.lit("")),
        "track",
        F.col("id_time_us").cast("string"),
        F.col("id_tie").cast("string"),
        F.coalesce(relative, F.lit("")),
    )
    return [
        F.substring(F.sha2(named, 256), 1, ID_DIGITS).alias("match_id"),
        F.col("pattern"),
        F.col("pattern_version"),
        F.col("instance"),
        F.col("track"),
        F.timestamp_micros("time_us").alias("time"),
        F.col("index"),
        F.col("events"),
        F.timestamp_micros("start_time_us").alias("start_time"),
        F.lit(None).cast("map<string,string>").alias("registers"),
        F.col("count"),
        F.col("omitted"),
        F.col("status"),
    ]
