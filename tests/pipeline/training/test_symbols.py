"""The group of each track: the value it has most often, looked up for whole batches of tracks."""

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
ROWS = [("a", "tug", 1), ("a", "tug", 2), ("a", "ferry", 3), ("b", None, 1), ("c", None, 1), ("c", "ferry", 2)]


def test_a_track_is_in_the_group_it_names_most_often(spark: "SparkSession") -> None:
    from foresail.pipeline.training.spark_events import memberships

    events = spark.createDataFrame(ROWS, "track string, vessel_type string, ship_type int")
    found = memberships(events, ["vessel_type", "track"])
    kinds = found["vessel_type"]
    asked = pa.array(["c", "b", "a", "never seen"]).dictionary_encode()
    assert kinds.names_of(asked).to_pylist() == ["ferry", None, "tug", None]
    assert kinds.members(asked, ("ferry", "pilot")).tolist() == [1, 0, 0, 0]
    assert kinds.members(asked, ()).tolist() == [0, 0, 0, 0]
    groups = kinds.track_groups(asked)
    assert [groups.names[number] for number in groups.of_track] == ["ferry", "", "tug", ""]
    assert found["track"].members(asked, ("a", "c")).tolist() == [2, 0, 1, 0]
    assert memberships(events, []) == {}
