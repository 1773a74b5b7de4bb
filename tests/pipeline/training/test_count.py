"""Counting on Spark: the same as a plain dictionary, however the events are spread."""

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from foresail.patterns.compiler import CompiledPattern, compile_pattern
from foresail.patterns.recognition.events import Near
from foresail.patterns.spec import spec_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from foresail.patterns.recognition.events import EventBatch

pytestmark = pytest.mark.spark
MAX_GAP_S = 600
MAX_ORDER = 3


def plain_pattern() -> CompiledPattern:
    where = {"slow": "speed < 2", "fast": "speed >= 6"}
    return compile_pattern(spec_of("stop", "fast ; slow", where, max_gap_us=MAX_GAP_S * 1_000_000))


def tracks_of(seed: int) -> dict[str, list[tuple[int, float]]]:
    random = np.random.default_rng(seed)
    found = {}
    for name in range(7):
        steps = random.choice([60, 60, 60, 60, 900], size=random.integers(1, 40))
        found[f"t{name}"] = [(int(t), float(random.integers(0, 9))) for t in np.cumsum(steps)]
    return found


def events_of(spark: "SparkSession", tracks: dict[str, list[tuple[int, float]]], seed: int) -> "DataFrame":
    rows = [(name, t, n, speed) for name, events in tracks.items() for n, (t, speed) in enumerate(events)]
    order = np.random.default_rng(seed).permutation(len(rows))
    frame = spark.createDataFrame([rows[n] for n in order], "track string, t long, offset long, speed double")
    return frame.selectExpr("track", "timestamp_seconds(t) as time", "offset", "speed")


def dictionary(pattern: CompiledPattern, tracks: dict[str, list[tuple[int, float]]]) -> dict[tuple[int, ...], float]:
    counts: Counter[tuple[int, ...]] = Counter()
    for events in tracks.values():
        history: list[int] = []
        last = None
        for t, speed in events:
            if last is not None and t - last > MAX_GAP_S:
                history = []
            last = t
            held = {"slow": speed < 2, "fast": speed >= 6}
            code = sum(1 << bit for bit, name in enumerate(pattern.condition_names) if held[name])
            history.append(pattern.alphabet.symbol_of(code))
            for length in range(1, min(len(history), MAX_ORDER + 1) + 1):
                counts[tuple(history[-length:])] += 1
    return dict(counts)


@pytest.mark.parametrize("partitions", [1, 2, 5])
def test_counts_are_those_of_a_plain_dictionary_for_any_partitioning(spark: "SparkSession", partitions: int) -> None:
    from foresail.pipeline.batch.track_walk import Walked
    from foresail.pipeline.training.spark_events import count_patterns

    tracks, pattern = tracks_of(partitions), plain_pattern()
    events = events_of(spark, tracks, seed=3)
    counts = count_patterns(Walked(events, (pattern,), partitions=partitions), MAX_ORDER).together["stop"]
    assert counts.as_dictionary() == dictionary(pattern, tracks)
    assert counts.events == sum(map(len, tracks.values()))
    assert counts.tracks == len(tracks)


def near_stage(events: "DataFrame") -> "DataFrame":
    """Features A and B lie at speeds 0 and 8, and reach 3."""
    from pyspark.sql import functions as F  # noqa: N812

    parts = [
        events.where(F.abs(F.col("speed") - at) < 3).select(
            *events.columns, F.lit(name).alias("feature"), F.abs(F.col("speed") - at).alias("feature_distance_m")
        )
        for name, at in (("A", 0.0), ("B", 8.0))
    ]
    return parts[0].unionByName(parts[1])


@pytest.mark.parametrize("partitions", [1, 3])
def test_a_family_counts_the_stretches_near_each_feature(spark: "SparkSession", partitions: int) -> None:
    from foresail.models.scoring.problem import count_rows
    from foresail.pipeline.batch.kernel_columns import FamilyGroup
    from foresail.pipeline.batch.track_walk import Walked
    from foresail.pipeline.training.sample import Share
    from foresail.pipeline.training.spark_events import collect_sample, count_patterns

    where = {"at": "port.distance_m < 1", "by": "1 <= port.distance_m < 3"}
    pattern = compile_pattern(spec_of("reach", "by ; at", where, family="port", max_gap_us=MAX_GAP_S * 1_000_000))
    events = events_of(spark, tracks_of(11), seed=4)
    group = FamilyGroup("ports", (pattern,), near_stage)
    found = count_patterns(Walked(events, (), (group,), partitions=partitions), MAX_ORDER).together["reach"]
    sample = collect_sample(events, ["speed"], Share(1024, 0, 0), [near_stage])
    expanded = sample.of_family(0, "port", MAX_ORDER)
    expected = count_rows(pattern, expanded, np.ones(len(expanded), dtype=bool), MAX_ORDER)
    assert found.as_dictionary() == expected.as_dictionary()
    assert found.matches == expected.matches


@pytest.mark.parametrize("laid_out", [True, False])
def test_files_that_workers_read_themselves_count_the_same(
    spark: "SparkSession", tmp_path: Path, laid_out: bool
) -> None:
    from foresail.pipeline.batch.track_walk import Walked
    from foresail.pipeline.stages.layout import by_track, write_layout
    from foresail.pipeline.training.spark_events import count_patterns

    tracks, pattern, folder = tracks_of(21), plain_pattern(), tmp_path / "events"
    events = events_of(spark, tracks, seed=5)
    if laid_out:
        write_layout(by_track(events, 2), folder, 2)
    else:
        events.repartition(3).write.parquet(str(folder))
    read = spark.read.parquet(str(folder))
    found = count_patterns(Walked(read, (pattern,), paths=(str(folder),)), MAX_ORDER).together["stop"]
    assert found.as_dictionary() == dictionary(pattern, tracks)


def rows_of(names: list[str], near: list[int]) -> "EventBatch":
    from foresail.patterns.recognition.events import EventBatch, LayerEvents

    first = [n for n, name in enumerate(names) if n == 0 or name != names[n - 1]]
    words = np.arange(len(names), dtype=np.int64).reshape(-1, 1)
    at = np.cumsum([0, *near])
    close = Near(at, np.arange(at[-1], dtype=np.int32), np.arange(at[-1], dtype=np.int64).reshape(-1, 1))
    keys = pa.array([names[n] for n in first])
    layers = {"ports": LayerEvents(words, close, ["A"])}
    return EventBatch(words, words[:, 0], np.array([*first, len(names)]), keys, layers=layers)


@pytest.mark.parametrize("cuts", [[], [1], [2, 3], [3], [4, 5], [1, 2, 3, 4, 5, 6]])
def test_whole_tracks_are_never_cut_and_lose_nothing(cuts: list[int]) -> None:
    from foresail.pipeline.training.symbols import WholeTracks

    names, near = ["a", "a", "a", "b", "c", "c", "c"], [1, 0, 2, 1, 0, 0, 3]
    held, found, seen = WholeTracks(), [], 0
    for begin, end in pairwise([0, *cuts, len(names)]):
        part = rows_of(names[begin:end], near[begin:end])
        part.times[:] += begin
        part.layers["ports"].near.feature[:] += seen
        seen += sum(near[begin:end])
        found += [*held.complete(part)]
    found += [*held.rest()]
    assert [int(t) for rows in found for t in rows.times] == list(range(7))
    assert [name for rows in found for name in rows.keys.to_pylist()] == ["a", "b", "c"]
    assert [int(n) for rows in found for n in np.diff(rows.layers["ports"].near.at)] == near
    assert [int(f) for rows in found for f in rows.layers["ports"].near.feature] == list(range(sum(near)))
