"""The Spark stage finds what the kernels find on whole tracks, whatever the partitions and Arrow batches."""

from random import Random

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from foresail.patterns.compiler import compile_pattern
from foresail.patterns.spec import Output, Report, spec_of
from foresail.pipeline.stages.recognise import FamilyGroup, Recognise

pytestmark = pytest.mark.spark

WHERE = {"low": "x < 3", "high": "x >= 3", "odd": "x == 1 or x == 3"}
PLAIN = (
    compile_pattern(spec_of("rise", "low ; high+", WHERE, max_gap_us=5_000_000)),
    compile_pattern(spec_of("pairs", "any(low, odd, high)", WHERE, window_us=8_000_000, output=Output.ENUMERATE)),
    compile_pattern(spec_of("counted", "next(odd, high)", WHERE, output=Output.COUNT)),
    compile_pattern(spec_of("stay", "high{2,}", WHERE, report=Report.EPISODES, min_dwell_us=2_000_000)),
)
PORT = {"near": "port.distance_m < 3", "ring": "3 <= port.distance_m < 6", "far": "port.distance_m >= 6"}


def random_rows(tracks: int, events: int) -> list[Row]:
    random = Random(5)
    rows = []
    for track in range(tracks):
        now = 1_700_000_000
        for n in range(events):
            now += random.choice([0, 1, 1, 2, 9])
            rows.append(
                Row(track=f"t{track}", seconds=now, offset=n, x=random.randint(0, 5), spot=random.randint(0, 40))
            )
    random.shuffle(rows)
    return rows


@pytest.fixture(scope="module")
def events(spark: SparkSession) -> DataFrame:
    frame = spark.createDataFrame(random_rows(tracks=12, events=80))
    return frame.withColumn("time", F.timestamp_seconds("seconds")).drop("seconds").cache()


def found(matches: DataFrame) -> list[tuple[object, ...]]:
    return sorted(map(tuple, matches.collect()), key=repr)


def with_conf(spark: SparkSession, **conf: str) -> None:
    for key, value in conf.items():
        spark.conf.set("spark.sql." + key.replace("__", "."), value)


def test_partitions_and_batches_change_nothing(spark: SparkSession, events: DataFrame) -> None:
    usual = found(events.transform(Recognise(PLAIN)))
    assert {row[1] for row in usual} == {"rise", "pairs", "counted", "stay"}
    assert len({(row[0], row[13], row[6]) for row in usual}) == len(usual)
    try:
        with_conf(spark, shuffle__partitions="5", execution__arrow__maxRecordsPerBatch="7")
        assert found(events.transform(Recognise(PLAIN))) == usual
    finally:
        with_conf(spark, shuffle__partitions="2", execution__arrow__maxRecordsPerBatch="200000")


def test_renaming_tracks_and_leaving_some_out_changes_only_names(events: DataFrame) -> None:
    def without_names(matches: DataFrame) -> list[tuple[object, ...]]:
        return found(
            matches.select("pattern", "time", "index", "events", "start_time", "first_start_time", "count", "status")
        )

    one = events.where("track = 't3'")
    renamed = one.withColumn("track", F.lit("another name"))
    among = events.transform(Recognise(PLAIN)).where("track = 't3'")
    assert without_names(renamed.transform(Recognise(PLAIN))) == without_names(among) != []


def near(events: DataFrame) -> DataFrame:
    """Ports stand at every tenth spot of a line; near is closer than 6."""
    ports = F.explode(F.array(*(F.struct(F.lit(f"P{p}").alias("name"), F.lit(p).alias("at")) for p in (0, 10, 20, 30))))
    rows = events.withColumn("port", ports)
    distance = F.abs(F.col("spot") - F.col("port.at")).cast("double")
    return rows.select("*", F.col("port.name").alias("feature"), distance.alias("feature_distance_m")).where(
        "feature_distance_m < 6"
    )


@pytest.mark.parametrize("rows_per_batch", ["3", "200000"])
def test_a_family_equals_separate_patterns(spark: SparkSession, events: DataFrame, rows_per_batch: str) -> None:
    families = tuple(
        compile_pattern(spec_of(name, text, PORT | WHERE, family="port", max_gap_us=8_000_000))
        for name, text in {"enter": "far ; ring* ; near", "leave": "near ; low* ; far"}.items()
    )
    try:
        with_conf(spark, execution__arrow__maxRecordsPerBatch=rows_per_batch)
        sparse = events.transform(Recognise(PLAIN[:1], (FamilyGroup("ports", families, near),))).where(
            "instance is not null"
        )
        together = found(
            sparse.select("pattern", "instance", "track", "time", "index", "start_time", "first_start_time")
        )
    finally:
        with_conf(spark, execution__arrow__maxRecordsPerBatch="200000")
    apart = []
    for port in (0, 10, 20, 30):
        own = events.withColumn("port_m", F.abs(F.col("spot") - port).cast("double"))
        where = {name: text.replace("port.distance_m", "port_m") for name, text in (PORT | WHERE).items()}
        patterns = tuple(
            compile_pattern(spec_of(p.name, p.spec.pattern.text, where, max_gap_us=8_000_000)) for p in families
        )
        matches = own.transform(Recognise(patterns)).withColumn("instance", F.lit(f"P{port}"))
        apart += found(
            matches.select("pattern", "instance", "track", "time", "index", "start_time", "first_start_time")
        )
    assert together == sorted(apart, key=repr) != []
