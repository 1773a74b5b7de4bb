"""What crosses into Python in a stream: a row per event, control message or tick, with one set of columns for all."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path

import pandas as pd
import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812
from pyspark.sql.pandas.functions import pandas_udf

from foresail.geo import Layer
from foresail.geo.answers import floats
from foresail.geo.nearby import FEATURE_TYPE, near_lists
from foresail.geo.worker import on_shelf
from foresail.patterns.conditions.packing import words_for
from foresail.patterns.conditions.syntax import Attribute
from foresail.pipeline.batch.families import Family, NearRows
from foresail.pipeline.conditions.spark import columns_of, packed_words
from foresail.pipeline.errors import InputError
from foresail.pipeline.stream.bucket.input_rows import CONTROL, TICK
from foresail.pipeline.stream.bucket.line_spec import FamilySpec, LineSpec
from foresail.pipeline.stream.bucket.near import near_columns


@dataclass(frozen=True, slots=True)
class Incoming:
    """What comes in, each from one source however many branches read it."""

    rows: DataFrame
    """Messages as rows of the line, by bucket."""
    control: DataFrame | None
    ticks: DataFrame


def bucket_labels(spark: SparkSession, buckets: int) -> list[int]:
    """Numbers for the buckets that Spark spreads evenly over its partitions: 0 and 1 would share one of two."""
    partitions = int(spark.conf.get("spark.sql.shuffle.partitions") or buckets)
    numbers = spark.range(0, 64 * max(buckets, partitions), 1, 1).select(F.col("id").cast("int").alias("bucket"))
    rows = numbers.select("bucket", F.pmod(F.hash("bucket"), F.lit(partitions)).alias("partition")).collect()
    waiting: dict[int, list[int]] = {}
    for row in rows:
        waiting.setdefault(row.partition, []).append(row.bucket)
    return [waiting[n % partitions][n // partitions] for n in range(buckets)]


def bucket_of(track: Column, labels: Sequence[int]) -> Column:
    """The bucket of a track."""
    place = F.pmod(F.hash(F.coalesce(track, F.lit(""))), F.lit(len(labels)))
    return F.element_at(F.array(*map(F.lit, labels)), place + 1)


def kernel_columns(
    events: DataFrame,
    spec: LineSpec,
    families: Sequence[Sequence[Family]],
    layers: dict[str, Layer],
    attributes: Sequence[str],
    shelf: Path | None = None,
) -> DataFrame:
    """Rows of `events` (bucket, kind, track, time, offset, ...) with their condition words and `attributes`."""
    words = _named("word", packed_words(spec.conditions, events.schema) or [_nothing()])
    for n, (family, some) in enumerate(zip(spec.families, families, strict=True)):
        near = NearRows(layers[some[0].layer], max(member.reach_m for member in some))
        words += _named(f"family_{n}", _family_words(family, events, F.lit(inf)))
        words += _near_lists(n, family, near, events, shelf)
    shown = [F.col(name) for name in dict.fromkeys(("lon", "lat", *attributes)) if name in events.columns]
    time = F.unix_micros("time").alias("time_us")
    keys = [F.col(name) for name in ("bucket", "kind", "track", "offset", "arrived_us", "payload", "packed")]
    rows: DataFrame = events.select(*keys, time, *words, *shown)
    return rows


def read_ticks(spark: SparkSession) -> DataFrame:
    """A tick of the clock a second.

    The clock is a source of its own, not Spark's current time: that is another constant in every micro-batch, and for
    another constant Spark writes, and Java compiles, the code of all expressions anew.
    """
    ticks = spark.readStream.format("rate").option("rowsPerSecond", 1).option("numPartitions", 1).load()
    ticks = ticks.mapInArrow(_last_of_each, ticks.schema)
    return ticks.select(F.lit(None).cast("string").alias("payload"), F.lit(0).cast("long").alias("offset"), "timestamp")


def _last_of_each(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The last tick of each batch: a line that was down for months would otherwise hear millions at once."""
    for batch in batches:
        yield batch.slice(max(0, batch.num_rows - 1))


def beside(rows: DataFrame, incoming: Incoming, labels: Sequence[int]) -> DataFrame:
    """`rows` with every control message and every tick of the clock, once for each bucket."""
    out = rows
    if incoming.control is not None:
        out = out.unionByName(_for_all(incoming.control, CONTROL, labels), allowMissingColumns=True)
    ticks = _for_all(incoming.ticks, TICK, labels, F.unix_micros("timestamp"))
    return out.unionByName(ticks, allowMissingColumns=True)


def together(positions: DataFrame, pairs: DataFrame) -> DataFrame:
    """The rows of both kinds of buckets in one table; what only the others have is null, but for words, which are 0."""
    types = dict(positions.dtypes)
    clashing = [name for name, kind in pairs.dtypes if types.get(name, kind) != kind]
    if clashing:
        msg = f"stream.columns: {clashing[0]} is of another type in pairs of tracks. Give it another name."
        raise InputError(msg)
    both = positions.unionByName(pairs, allowMissingColumns=True)
    words = [name for name in both.columns if name.startswith(("word_", "family_"))]
    return both.withColumns({name: F.coalesce(name, _nothing()) for name in words})


def _for_all(for_all: DataFrame, kind: int, labels: Sequence[int], arrived_us: Column | None = None) -> DataFrame:
    return for_all.select(
        F.explode(F.array(*map(F.lit, labels))).alias("bucket"),
        F.lit(kind).alias("kind"),
        F.lit("").alias("track"),
        F.timestamp_micros(F.lit(0).cast("long")).alias("time"),
        "offset",
        (F.lit(0).cast("long") if arrived_us is None else arrived_us).alias("arrived_us"),
        "payload",
    )


def _named(name: str, words: Sequence[Column]) -> list[Column]:
    return [F.coalesce(word, _nothing()).alias(f"{name}_{n}") for n, word in enumerate(words)]


def _nothing() -> Column:
    return F.lit(0).cast("long")


def _family_words(family: FamilySpec, events: DataFrame, distance: Column) -> list[Column]:
    names = {pattern.spec.family for pattern in family.patterns}
    own = columns_of(events.schema)
    fields = [T.StructField(f"{name}.distance_m", T.DoubleType()) for name in sorted(filter(None, names))]
    schema = T.StructType([*events.schema.fields, *fields])

    def resolve(attribute: Attribute) -> Column:
        return distance if attribute.owner in names else own(attribute)

    return packed_words(family.conditions, schema, resolve) or [_nothing()]


def _near_lists(group: int, family: FamilySpec, near: NearRows, events: DataFrame, shelf: Path | None) -> list[Column]:
    """The near features of an event as lists: their names, and each of their words."""
    folder, radius_m, wanted = str(near.layer.folder), near.radius_m, near.layer.spec.name

    def answer(batches: Iterator[tuple[pd.Series, pd.Series]]) -> Iterator[pd.Series]:
        current = folder
        if shelf is not None:  # layers may have been published anew since the query was started
            current = next(kept.folder for kept in on_shelf(shelf) if kept.spec.name == wanted)
        for lon, lat in batches:
            yield pd.Series(pd.arrays.ArrowExtensionArray(near_lists(current, floats(lon), floats(lat), radius_m)))

    asked = pandas_udf(answer, f"array<{FEATURE_TYPE}>")  # type: ignore[call-overload]
    lists = asked(F.col("lon").cast("double"), F.col("lat").cast("double"))

    def word(number: int) -> Column:
        def of(feature: Column) -> Column:
            return F.coalesce(_family_words(family, events, feature["distance_m"])[number], _nothing())

        return F.transform(lists, of)

    columns = [F.transform(lists, near.name_of), *map(word, range(words_for(len(family.conditions))))]
    names = near_columns(group, len(columns) - 1)
    return [column.alias(name) for column, name in zip(columns, names, strict=True)]
