"""The demonstration runs the whole line and finds what happened in it."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pipeline.jobs.demo import run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_the_demonstration_finds_what_happened_and_no_near_miss(spark: "SparkSession", tmp_path: Path) -> None:
    result = run(spark, tmp_path / "demo", tmp_path / "layers", seed=7)
    scores = {score.pattern: score for score in result.scores}
    assert set(scores) >= {"trawling", "drifting", "port_entry", "approaching_port", "gap", "anchored"}
    assert all(score.injected_found == score.injected for score in result.scores)
    assert sum(score.near_misses_hit for score in result.scores) == 0
    assert scores["port_entry"].injected > 0
    told = json.loads(json.dumps(result.summary))
    assert told["simulated"] is True
    assert told["matches"] == result.matches > 0
