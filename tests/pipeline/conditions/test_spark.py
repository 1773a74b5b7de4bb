"""The Spark back end against the NumPy back end: the same answer for every condition on every value."""

import datetime as dt
import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from foresail.patterns.conditions import Condition, parse_condition
from foresail.patterns.conditions.evaluate import evaluate
from foresail.patterns.conditions.text import text_of
from foresail.pipeline.conditions.arrow import array_columns
from foresail.pipeline.conditions.spark import attribute_types, condition_column, packed_words
from tests.condition_cases import TYPES, arrow_table, conditions, drawn, rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark


def spark_answers(frame: "DataFrame", some: list[Condition]) -> np.ndarray[Any, Any]:
    """One row of truths per event, unpacked from the words, in the order of the column `row`."""
    words = [word.alias(f"word_{i}") for i, word in enumerate(packed_words(some, frame.schema))]
    found = frame.select("row", *words).toArrow().sort_by("row")
    columns = [found.column(f"word_{i}").to_numpy().view(np.uint64) for i in range(len(words))]
    bits = [(column[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1) for column in columns]
    return np.concatenate(bits, axis=1)[:, : len(some)].astype(bool)


def numbered(table: pa.Table) -> pa.Table:
    return table.append_column("row", pa.array(range(len(table))))


def disagreements(frame: "DataFrame", table: pa.Table, some: list[Condition]) -> list[tuple[str, dict[str, Any]]]:
    columns = array_columns(table)
    expected = np.array([evaluate(condition, columns) for condition in some]).T
    places = np.argwhere(spark_answers(frame, some) != expected)
    return [(text_of(some[condition]), table.slice(int(row), 1).to_pylist()[0]) for row, condition in places[:3]]


@pytest.mark.parametrize(("ansi", "count"), [("true", 128), ("false", 64)])
def test_both_back_ends_agree_on_every_value(spark: "SparkSession", ansi: str, count: int) -> None:
    some = drawn(conditions, count)
    table = numbered(arrow_table(drawn(rows, 300)))
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        frame = spark.createDataFrame(table)
        assert disagreements(frame, table, some) == []
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)


FILE_CONDITIONS = """
byte == 127; byte < 0.5; byte > 1000; byte is unknown; single == 0.1; single < 0.2; single == 0; money == 0.1;
money < -0.29; money == 9999999999999.99; wide == 0.1; wide == 9007199254740992; wide > 9007199254740992; wide == 1e-10;
wide > byte; moment == "2024-05-01T12:00:00.000001Z"; moment > "2024-05-01T12:00:00.5"; day < "1970-01-01";
day < moment; day == "2024-05-02T00:00:00Z"; money + wide > 0.1; byte == money; byte < single
"""


def test_both_back_ends_agree_on_every_type_that_a_file_may_hold(spark: "SparkSession") -> None:
    day = dt.datetime(2024, 5, 1, 12, 0, 0, 1)  # noqa: DTZ001 - a file may hold local times without a zone
    cents = [Decimal("0.10"), None, Decimal("9999999999999.99"), Decimal("-0.30")]
    long = [Decimal("0.1"), None, Decimal(2**53 + 1), Decimal("1e-10")]
    table = numbered(
        pa.table(
            {
                "byte": pa.array([1, None, -128, 127], pa.int8()),
                "single": pa.array([0.1, None, math.nan, -0.0], pa.float32()),
                "money": pa.array(cents, pa.decimal128(15, 2)),
                "wide": pa.array(long, pa.decimal128(38, 10)),
                "moment": pa.array([day, None, day + dt.timedelta(seconds=1), day], pa.timestamp("us")),
                "day": pa.array([day.date(), None, dt.date(1969, 12, 31), dt.date(2024, 5, 2)], pa.date32()),
            }
        )
    )
    some = [parse_condition(text) for text in FILE_CONDITIONS.split(";")]
    frame = spark.createDataFrame(table)
    assert attribute_types(frame.schema) == {name: column.type for name, column in array_columns(table).items()}
    assert disagreements(frame, table, some) == []
    assert spark_answers(frame, some).any(axis=0).sum() >= 18, "most conditions hold somewhere"


CALLS = """
hour(time) == 0; hour(time) == 23; hour(time) < 12; weekday(time) == 1; weekday(time) == 7; weekday(time) > 3.5;
local_hour(time, lon) == 0; local_hour(time, lon) >= 22; local_hour(time, 180) < 3; is_night(time, lon, lat);
is_night(time, lon, lat) == false; is_night(time, lon, lat) is unknown; not is_night(time, 0, lat); floor(lon) == -180;
floor(lon / 15) == floor(lat / 15); floor(lon * 1e300) > 1e301; sqrt(lat) > 5; sqrt(lat) is unknown;
floor(sqrt(lat)) == 5; lower(name) == "mærsk"; lower(name) in ("åsa", "μασ"); lower(name) == name;
starts_with(name, "M"); starts_with(lower(name), "mæ");
starts_with(name, "") is unknown; lower(name) is known; starts_with(name, "M") == is_night(time, lon, lat)
"""


def test_both_back_ends_agree_on_every_function_of_times_places_and_texts(spark: "SparkSession") -> None:
    generator, count = np.random.default_rng(18), 4000
    hours = generator.integers(-(10**5), 10**6, count) * 3_600_000_000
    micros = hours + generator.choice([0, 1, -1, 1_800_000_000, 3_599_999_999], count)
    words = np.array(["MÆRSK", "Mærsk", "ÅSA", "ΜΑΣ", "Μας", "İ", "ǅ", "\U00010400", "straße", "", None], dtype=object)
    table = numbered(
        pa.table(
            {
                "time": pa.array(micros, pa.timestamp("us", tz="UTC"), mask=generator.random(count) < 0.02),
                "lon": pa.array(generator.uniform(-400, 400, count), mask=generator.random(count) < 0.02),
                "lat": pa.array(
                    np.where(generator.random(count) < 0.02, np.nan, generator.uniform(-95, 95, count)),
                    mask=generator.random(count) < 0.02,
                ),
                "name": pa.array(generator.choice(words, count), pa.string()),
            }
        )
    )
    some = [parse_condition(text) for text in CALLS.split(";")]
    frame = spark.createDataFrame(table)
    assert disagreements(frame, table, some) == []
    assert spark_answers(frame, some).any(axis=0).all(), "every condition holds somewhere"


def test_distances_agree_away_from_their_threshold(spark: "SparkSession") -> None:
    generator = np.random.default_rng(7)
    places = {
        name: generator.uniform(-limit, limit, 500) for name, limit in {"a": 180, "b": 90, "c": 180, "d": 90}.items()
    }
    near = {
        "c": places["a"] + generator.normal(0, 0.01, 500),
        "d": np.clip(places["b"] + generator.normal(0, 0.01, 500), -90, 90),
    }
    table = numbered(pa.concat_tables([pa.table(places), pa.table(places | near)]))
    limits = [10, 500, 1000, 2000, 1e6, 5e6, 1e7]
    some = [parse_condition(f"distance_m(a, b, c, d) < {limit}") for limit in limits]
    assert disagreements(spark.createDataFrame(table), table, some) == []
    assert evaluate(some[3], array_columns(table)).any()


def test_a_condition_column_is_never_null_and_reads_features_and_renamed_columns(spark: "SparkSession") -> None:
    from pyspark.sql import functions as F  # noqa: N812
    from pyspark.sql import types as T  # noqa: N812

    frame = spark.sql(
        "select named_struct('distance_m', cast(x as double)) as port from values (1), (null), (9) as t(x)"
    )
    near = parse_condition("port.distance_m < 5")
    column = condition_column(near, frame.schema)
    assert [row[0] for row in frame.select(column).collect()] == [True, False, False]
    assert not frame.select(column.alias("near")).schema["near"].nullable
    flat = frame.select(F.col("port.distance_m").alias("metres"))
    schema = T.StructType([T.StructField("port.distance_m", T.DoubleType())])
    renamed = condition_column(near, schema, resolve=lambda _: F.col("metres"))
    assert [row[0] for row in flat.select(renamed).collect()] == [True, False, False]


def test_the_sixty_fourth_condition_is_the_sign_bit(spark: "SparkSession") -> None:
    some = [parse_condition(f"n == {place}") for place in range(70)]
    frame = spark.range(70).withColumnsRenamed({"id": "n"})
    first, second = packed_words(some, frame.schema)
    found = frame.select("n", first.alias("a"), second.alias("b")).sort("n").collect()
    assert found[63]["a"] == -(2**63)
    assert [row["a"] % 2**64 for row in found[:64]] == [1 << place for place in range(64)]
    assert [row["b"] for row in found[64:]] == [1 << place for place in range(6)]


def test_the_schema_of_the_cases_is_read_back(spark: "SparkSession") -> None:
    frame = spark.createDataFrame(arrow_table(drawn(rows, 2)))
    assert attribute_types(frame.schema) == TYPES
