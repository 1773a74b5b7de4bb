import pytest
from pyspark.sql import SparkSession

from foresail.pipeline.settings import StreamSettings
from foresail.pipeline.sources.feeds import find_feed
from foresail.pipeline.sources.text_rows import parse_json
from foresail.pipeline.stream.query.source import with_columns

pytestmark = pytest.mark.spark
MESSAGE = '{"track": "7", "time": 1700000000, "lon": 8, "lat": 54, "ship_type": 30, "depth_m": "12.5", "name": "Emma"}'


def test_only_what_is_carried_is_parsed_and_further_columns_have_their_types(spark: SparkSession) -> None:
    stream = StreamSettings(columns={"depth_m": "double"})
    lines = spark.createDataFrame(
        [(MESSAGE, "here", 1, False, 5)], "raw string, source string, line long, recoded boolean, arrived long"
    )
    whole = parse_json(lines, with_columns(find_feed("kafka_json"), stream)).first()
    some = parse_json(lines, with_columns(find_feed("kafka_json"), stream, {"vessel_type", "depth_m"})).first()
    assert whole is not None
    assert some is not None
    assert (whole["name"], whole["depth_m"], whole["ship_type"], whole["arrived"]) == ("Emma", 12.5, 30, 5)
    assert (some["name"], some["depth_m"], some["ship_type"], some["arrived"]) == (None, 12.5, 30, 5)
    assert some["track"] == "7"
