"""A recorded stream is sent again: all of it, keyed by track, in order, at a pace, no faster than it is read."""

import json
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from foresail.pipeline.errors import InputError
from foresail.pipeline.stream.monitoring.lag import Reader, lag_of, read_progress
from foresail.pipeline.stream.replay import ReplayRequest, Slice, run_replay, together

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BEGIN = datetime(2024, 5, 1, tzinfo=UTC)
TRACKS, EVENTS = 4, 50


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Four vessels, fifty positions each, a minute apart."""
    file = tmp_path_factory.mktemp("replay") / "events.jsonl"
    rows = [
        {
            "track": f"00{track}",
            "time": (BEGIN + timedelta(minutes=minute, seconds=track)).isoformat(),
            "lon": 10.0 + minute / 100,
            "lat": 55.0,
            "speed_kn": 7.5 if minute % 2 else None,
        }
        for minute in range(EVENTS)
        for track in range(TRACKS)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(file)


def records_of(broker: str, topic: str) -> list[tuple[int, str, dict[str, Any]]]:
    """All records of the topic, partition by partition: partition, key, value."""
    from kafka import KafkaConsumer

    with closing(
        KafkaConsumer(topic, bootstrap_servers=broker, auto_offset_reset="earliest", consumer_timeout_ms=2000)
    ) as consumer:
        return [(r.partition, r.key.decode(), json.loads(r.value)) for r in consumer]


@pytest.mark.spark
@pytest.mark.kafka
def test_all_events_arrive_keyed_by_track_and_in_order(spark: "SparkSession", broker: str, recording: str) -> None:
    summary = run_replay(spark, ReplayRequest([recording], "replay-all", broker, slice_events=50))
    records = records_of(broker, "replay-all")
    assert summary["events"] == len(records) == TRACKS * EVENTS
    assert summary["slices"] >= 4
    by_track: dict[str, list[tuple[int, str, dict[str, Any]]]] = {}
    for record in records:
        by_track.setdefault(record[1], []).append(record)
    assert sorted(by_track) == ["000", "001", "002", "003"]
    for key, of_track in by_track.items():
        assert len({partition for partition, _, _ in of_track}) == 1
        assert {value["track"] for _, _, value in of_track} == {key}
        assert all(first["time"] < second["time"] for (_, _, first), (_, _, second) in pairwise(of_track))
    assert by_track["002"][1][2] == {
        "track": "002", "time": "2024-05-01T00:01:02.000000Z", "lon": 10.01, "lat": 55.0, "speed_kn": 7.5,
    }  # fmt: skip


@pytest.mark.spark
@pytest.mark.kafka
def test_jitter_and_duplicates_are_as_asked_and_the_same_for_a_seed(
    spark: "SparkSession", broker: str, recording: str
) -> None:
    for topic in ("replay-mixed-a", "replay-mixed-b"):
        request = ReplayRequest([recording], topic, broker, jitter_s=300, duplicates=0.2, seed=7, partitions=1)
        summary = run_replay(spark, request)
        assert summary["events"] == TRACKS * EVENTS
        assert 15 < summary["duplicates"] < 70
    first, second = (
        [(key, value["time"]) for _, key, value in records_of(broker, topic)]
        for topic in ("replay-mixed-a", "replay-mixed-b")
    )
    assert sorted(first) == sorted(second)
    assert len(first) == summary["events"] + summary["duplicates"]
    assert len(set(first)) == TRACKS * EVENTS
    times = [time for key, time in first if key == "001"]
    assert times != sorted(times)


@pytest.mark.spark
@pytest.mark.kafka
def test_a_speed_sets_the_pace_and_a_span_what_is_sent(spark: "SparkSession", broker: str, recording: str) -> None:
    now, slept = [0.0], []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    request = ReplayRequest(
        [recording], "replay-pace", broker, speed=600.0, first=BEGIN, last=BEGIN + timedelta(minutes=30), slice_s=1.0
    )
    summary = run_replay(spark, request, clock=lambda: now[0], sleep=sleep)
    assert summary["events"] == TRACKS * 30
    assert summary["slices"] == 3
    assert slept == pytest.approx([1.0, 1.0])


@pytest.mark.spark
@pytest.mark.kafka
def test_it_waits_for_a_reader_that_is_behind(spark: "SparkSession", broker: str, recording: str) -> None:
    from kafka import KafkaConsumer, TopicPartition
    from kafka.structs import OffsetAndMetadata

    waits = []

    def read_on(_: float) -> None:
        waits.append(lag_of(broker, "replay-lag", Reader(group="slow"), {}))
        with closing(KafkaConsumer(bootstrap_servers=broker, group_id="slow", enable_auto_commit=False)) as consumer:
            place = TopicPartition("replay-lag", 0)
            end = consumer.end_offsets([place])[place]
            consumer.commit({place: OffsetAndMetadata(end, "", -1)})

    request = ReplayRequest(
        [recording], "replay-lag", broker, slice_events=50, partitions=1, reader=Reader(group="slow"), most_lag=60
    )
    run_replay(spark, request, sleep=read_on)
    assert waits
    assert all(60 < lag <= 120 for lag in waits)


def test_lag_without_a_reader_is_told_with_the_way_out() -> None:
    with pytest.raises(InputError, match=r"--group, or for a live line its --checkpoint"):
        run_replay(None, ReplayRequest(["a.csv"], "topic", "broker", most_lag=5))  # type: ignore[arg-type]


def test_the_progress_of_a_live_line_is_read_from_its_checkpoint(tmp_path: Path) -> None:
    for folder, numbers in (("offsets", (0, 1, 2)), ("commits", (0, 1))):
        (tmp_path / folder).mkdir()
        for n in numbers:
            (tmp_path / folder / str(n)).write_text(
                f'v1\n{{"batchWatermarkMs":0}}\n{{"control":{{"0":1}}}}\n{{"positions":{{"0":{n}0,"1":{n}5}}}}\n-'
            )
    assert read_progress(tmp_path, "positions") == {0: 10, 1: 15}
    assert read_progress(tmp_path, "other") == {}
    assert read_progress(tmp_path / "nowhere", "positions") == {}


def test_neighbouring_slices_are_sent_together() -> None:
    bins = [Slice(n, n + 1, 10) for n in range(5)]
    assert together(bins, 25) == [Slice(0, 2, 20), Slice(2, 4, 20), Slice(4, 5, 10)]
    assert together(bins, 5) == bins
