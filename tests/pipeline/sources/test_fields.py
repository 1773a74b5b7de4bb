"""Values as feeds write them, one expression at a time."""

from typing import TYPE_CHECKING

import pytest

from foresail.pipeline.sources.fields import angle_deg

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_only_angles_to_port_within_one_turn_are_turned_round(spark: "SparkSession") -> None:
    from pyspark.sql import functions as F  # noqa: N812

    given = [0.0, 0.5, 90.0, 359.5, 360.0, 511.0, -0.5, -90.0, -360.0, -361.0]
    rows = spark.createDataFrame([(value,) for value in given], "value double")
    found = [row[0] for row in rows.select(angle_deg(F.col("value"))).collect()]
    assert found == [0.0, 0.5, 90.0, 359.5, 360.0, 511.0, 359.5, 270.0, 0.0, -361.0]
    radians = rows.limit(2).select(angle_deg(F.col("value"), "rad")).collect()
    assert [row[0] for row in radians] == pytest.approx([0.0, 28.6478897565])
