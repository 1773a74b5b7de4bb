"""What crosses into Python: track, time and the condition words of each event, evaluated in one projection.

For a pattern family an event has one more row per feature it is near; far from a feature is the absence of such a
row, so the cost follows what is near.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from foresail.models.inputs.columns import InputColumn
from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.conditions.packing import words_for
from foresail.patterns.conditions.syntax import Attribute, Condition
from foresail.patterns.recognition.register_recogniser import kept_columns
from foresail.patterns.recognition.tables import shared_conditions
from foresail.pipeline.batch.parquet_reader import NearLayer
from foresail.pipeline.batch.sorted_rows import INPUT, NO_LAYER, VALUE
from foresail.pipeline.conditions.spark import columns_of, packed_words, value_columns

DISTANCE = "distance_m"
POSITION = ("lon", "lat")


@dataclass(frozen=True, slots=True)
class FamilyGroup:
    """Families over one layer, and the rows that say which events are near which of its features."""

    name: str
    """The layer's."""
    patterns: tuple[CompiledPattern, ...]
    near: Callable[[DataFrame], DataFrame]
    """From the events to a row per event and near feature: the event's columns, `feature` and `feature_distance_m`."""
    layer: NearLayer | None = None
    """The same for workers that read events themselves, where the layer is one they can open."""


def kernel_columns(
    events: DataFrame,
    plain: Sequence[CompiledPattern],
    families: Sequence[FamilyGroup] = (),
    inputs: Sequence[InputColumn] = (),
) -> DataFrame:
    """What crosses into Python: a row per event, and for families a row per event and near feature."""
    words = _named("word", packed_words(shared_conditions(plain), events.schema) or [_nothing()])
    far = [_named(f"family_{n}", _far_words(group, events)) for n, group in enumerate(families)]
    keys = [F.col("track"), F.unix_micros("time").alias("time_us"), F.col("offset")]
    places = [F.col(axis).cast("double").alias(axis) for axis in POSITION if has_places(events)]
    kept = kept_columns(plain)
    values = [value.alias(f"{VALUE}_{n}") for n, value in enumerate(value_columns(kept, events.schema))]
    resolve = columns_of(events.schema)
    read = [resolve(_attribute(column.name)).alias(f"{INPUT}{n}") for n, column in enumerate(inputs)]
    own = [*keys, *places, *values, *read]
    if not families:
        return events.select(*own, *words)
    layer, feature = F.lit(NO_LAYER).alias("layer"), F.lit(None).cast("string").alias("feature")
    base = events.select(*own, layer, feature, *words, *(word for words in far for word in words))
    none = [F.lit(0).cast("long" if some.long else "double").alias(f"{VALUE}_{n}") for n, some in enumerate(kept)]
    for n, group in enumerate(families):
        near = group.near(events)
        near_words = [
            _named(f"family_{m}", _near_words(group, near) if m == n else [_nothing()] * len(far[m]))
            for m in range(len(families))
        ]
        nothing = _named("word", [_nothing()] * len(words))
        flat = [*nothing, *(word for columns in near_words for word in columns)]
        rows = near.select(*keys, *places, *none, F.lit(n).alias("layer"), F.col("feature"), *flat)
        base = base.unionByName(rows, allowMissingColumns=bool(read))
    return base


def _attribute(key: str) -> Attribute:
    owner, dot, name = key.partition(".")
    return Attribute(name, owner) if dot else Attribute(key)


def has_places(events: DataFrame) -> bool:
    """Whether the events say where they were, in numbers."""
    kinds = {field.name: field.dataType for field in events.schema.fields}
    return all(isinstance(kinds.get(axis), T.NumericType) for axis in POSITION)


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
    assert len(words) == words_for(len(conditions)), "as many words as the kernel reads"
    return words
