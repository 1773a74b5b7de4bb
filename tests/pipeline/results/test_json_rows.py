"""JSON lines written without Spark read like those that Spark writes."""

import json

import pyarrow as pa

from foresail.pipeline.results.json_rows import json_lines


def test_a_short_number_has_its_own_digits_and_no_others() -> None:
    table = pa.table({"wait_s": pa.array([540.3428, None, 60.0, 0.1], pa.float32())})
    assert [json.loads(line)["wait_s"] for line in json_lines(table)] == [540.3428, None, 60.0, 0.1]


def test_times_have_microseconds_and_maps_are_objects() -> None:
    marks = pa.array([[("slow", 2)], None], pa.map_(pa.string(), pa.int64()))
    table = pa.table({"time": pa.array([1_500_000, 0], pa.timestamp("us", tz="UTC")), "marks": marks})
    assert [json.loads(line) for line in json_lines(table)] == [
        {"time": "1970-01-01T00:00:00.000000Z", "marks": None},
        {"time": "1970-01-01T00:00:01.500000Z", "marks": {"slow": 2}},
    ]
