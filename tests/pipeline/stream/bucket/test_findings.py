"""Forecasts as rows of the live line: what they say where there is nothing to say."""

import json
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from foresail.models.decisions import KINDS, Kind
from foresail.models.forecaster import Forecaster
from foresail.pipeline.results.forecast_table import ForecastColumns
from foresail.pipeline.stream.bucket.findings import ARRIVED, FINDING_DDL, forecast_rows, frame
from tests.models.forecasting import batch_of, model_of, random_text
from tests.models.letters import MINUTE, lettered, words_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PATTERN = lettered("a ; b", features="c")
TEXTS = [random_text(Random(n), 60, "abcx") for n in range(5)]


def rows_of(kind: Kind) -> pa.Table:
    model = model_of(PATTERN, TEXTS, horizon=12, within=4, kind=kind, threshold=0.2)
    forecaster = Forecaster([model])
    times = np.arange(60, dtype=np.int64) * MINUTE
    batch = batch_of([words_of(PATTERN, TEXTS[0])], [times])
    told, _ = forecaster.advance(batch, forecaster.fresh(1))
    read = replace(batch, keys=pa.array(["t"]), columns={ARRIVED: times})
    return forecast_rows(told, ForecastColumns.of(forecaster), [model], (), read)


def test_where_there_is_no_interval_there_is_no_probability() -> None:
    rows = rows_of("interval").to_pylist()
    none = [row for row in rows if row["earliest"] is None]
    assert 0 < len(none) < len(rows)
    assert all(row["probability"] is None and row["positive"] is False for row in none)
    assert all(row["probability"] >= 0.2 for row in rows if row["earliest"] is not None)


@pytest.mark.parametrize("kind", ["within", "most_likely"])
def test_the_other_kinds_always_have_a_probability(kind: Kind) -> None:
    assert rows_of(kind).column("probability").null_count == 0


@pytest.mark.spark
def test_what_leaves_the_line_has_a_spread_and_a_null_where_there_is_no_interval(spark: "SparkSession") -> None:
    from foresail.pipeline.stream.query.sinks import value_of

    tables = [rows_of(kind) for kind in KINDS]
    rows = spark.createDataFrame(frame(tables), FINDING_DDL).select(value_of().alias("value"))
    found = [json.loads(row.value) for row in rows.collect()]
    assert len(found) == sum(table.num_rows for table in tables)
    for row in found:
        if row["earliest"] is None:
            assert row["spread"] is None
            assert row["probability"] is None or row["kind"] != "interval"
        else:
            assert row["spread"] == row["latest"] - row["earliest"]
            assert row["probability"] is not None
    assert any(row["earliest"] is None for row in found)
