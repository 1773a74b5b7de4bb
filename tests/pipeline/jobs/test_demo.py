"""The demonstration runs the whole line, finds what happened in it, and shows all of it on one page."""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pipeline.jobs.demo import FORECAST, DemoResult, run
from tests.pipeline.reports.browser import find_browser, load

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

LINE = ["simulate", "ingest", "enrich", "recognise", "train", "forecast", "evaluate", "report"]


@pytest.fixture(scope="module")
def result(spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory) -> DemoResult:
    folder = tmp_path_factory.mktemp("demo")
    return run(spark, folder / "demo", folder / "layers", seed=7, tracks=12)


@pytest.fixture(scope="module")
def text(result: DemoResult) -> str:
    return result.report.read_text(encoding="utf-8")


def test_the_demonstration_finds_what_happened_and_no_near_miss(result: DemoResult) -> None:
    scores = {score.pattern: score for score in result.scores}
    assert set(scores) >= {"trawling", "port_entry", "approaching_port", "anchored"}
    assert all(score.injected_found == score.injected for score in result.scores)
    assert sum(score.near_misses_hit for score in result.scores) == 0
    assert scores["port_entry"].injected > 0


def test_every_step_of_the_line_is_done_and_told(result: DemoResult, text: str) -> None:
    assert [step.name for step in result.steps] == LINE
    assert all(step.said for step in result.steps)
    told = json.loads(json.dumps(result.summary))
    assert (told["simulated"], told["report"]) == (True, str(result.report))
    assert told["matches"] == result.matches > 0
    assert told["rejected"] > 0, "the raw feed has faults, and ingest finds them"


def test_forecasts_are_of_the_time_that_no_model_has_seen(result: DemoResult) -> None:
    assert {row["pattern"] for row in result.trained["patterns"]} == set(FORECAST)
    assert result.trained["events"] < 0.7 * result.positions
    assert {row["pattern"] for row in result.evaluation["rows"]} <= set(FORECAST)


def test_the_page_has_map_findings_warnings_and_judgement(text: str) -> None:
    assert re.findall(r'<section id="(\w+)">', text) == ["map", "found", "forecasts", "evaluation", "patterns", "made"]
    assert 'aria-label="waiting time"' in text
    assert 'aria-label="reliability"' in text
    assert "no vessel here is real" in text


def test_the_page_opens_in_a_browser_without_complaint(result: DemoResult, text: str, tmp_path: Path) -> None:
    browser = find_browser()
    if browser is None:
        pytest.skip("no chromium on this machine: the page is only parsed, not shown")
    loaded = load(browser, result.report, tmp_path / "profile")
    found = re.search(r'id="map-data">(.*?)</script>', text)
    assert found is not None
    marks = sum(len(group["marks"]) for group in json.loads(found.group(1))["groups"])
    assert (loaded.complaints, loaded.is_ready) == ((), True)
    assert loaded.marks[0] == marks > 100
