"""The whole line started again with other patterns and its first model on one checkpoint, without Kafka."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from foresail.pipeline.progress import SILENT
from foresail.pipeline.settings import Settings
from foresail.pipeline.stages.policy import Policy
from tests.pipeline.stream.recorded import CATALOG, positions
from tests.pipeline.stream.test_live_line import expected, row_key, store_with_model

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
STAYS, HURRIES, TURNS, GATHERS_WAY = ("- name: " + part for part in CATALOG.split("- name: ")[1:])
SLOWS = HURRIES.replace("near ; far", "far ; near").replace("name: hurries", "name: slows")
OTHERS = f"patterns:\n{TURNS}{SLOWS}{STAYS}{GATHERS_WAY}"


def run(spark: "SparkSession", folder: Path, **stream: Any) -> dict[str, Any]:
    from foresail.pipeline.stream.query.job import Stream

    values = {
        "source": "files",
        "directory": folder / "in",
        "patterns": [str(folder / "patterns.yaml")],
        "checkpoint": folder / "checkpoint",
        "output": folder / "out",
        "to_kafka": False,
        "out_of_order_s": 0.0,
        "buckets": 2,
        **stream,
    }
    return Stream(spark, Settings.model_validate({"stream": values}), Policy(), SILENT).run(once=True)


def arrive(folder: Path, name: str, rows: pd.DataFrame) -> None:
    texts = [json.dumps(row) for row in rows.to_dict("records")]
    (folder / "in" / name).write_text("\n".join(texts) + "\n", encoding="utf-8")


def test_a_line_started_with_other_patterns_and_its_first_model_goes_on(spark: "SparkSession", tmp_path: Path) -> None:
    rows = positions(tracks=8, events=60)
    (tmp_path / "in").mkdir()
    catalog = tmp_path / "patterns.yaml"
    catalog.write_text(CATALOG, encoding="utf-8")
    arrive(tmp_path, "one.jsonl", rows.iloc[:240])
    assert run(spark, tmp_path)["begun_anew"] == []
    arrive(tmp_path, "two.jsonl", rows.iloc[240:])
    catalog.write_text(OTHERS, encoding="utf-8")
    store_with_model(tmp_path / "models", catalog)
    summary = run(spark, tmp_path, models=tmp_path / "models", emission="all")
    assert [sentence.split(":")[0] for sentence in summary["begun_anew"]] == ["slows version 1", "hurries", "stays"]
    assert summary["forecasts"] > 100
    live = {row_key(row.asDict()) for row in spark.read.parquet(str(tmp_path / "out" / "matches")).collect()}
    batch = expected(spark, rows, catalog)
    since = pd.Timestamp(int(rows["time"].iloc[240]), unit="s")
    began_before = {row for row in batch if row[2] == "slows" and row[7] < since}
    assert began_before
    assert batch - live - began_before == set()
    last = rows.groupby("track")["time"].max()
    of_now = {row for row in live - batch if row[2] != "hurries"}
    assert {row[:1] for row in of_now if row[1] != "timed_out" or row[6].timestamp() != last[row[3]]} == set()
    forecasts = spark.read.parquet(str(tmp_path / "out" / "forecasts")).toPandas()
    assert forecasts["index"].min() > 1, "tracks count on from their first event"
