"""The demonstration as a user starts it: the whole line, what happened is found, and one page shows all of it."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from foresail.pipeline.jobs.demo import FORECAST
from tests.pipeline.reports.browser import find_browser, load

pytestmark = pytest.mark.spark

LINE = ["simulate", "ingest", "enrich", "recognise", "train", "forecast", "evaluate", "report"]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> "subprocess.CompletedProcess[str]":
    """One run serves all tests: it takes a minute."""
    folder = tmp_path_factory.mktemp("demo") / "demo"
    foresail = str(Path(sys.executable).with_name("foresail"))
    command = [foresail, "demo", "--json", "--quiet", "--tracks", "12", "--out", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=500)


@pytest.fixture(scope="module")
def told(done: "subprocess.CompletedProcess[str]") -> dict[str, Any]:
    summary: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return summary


@pytest.fixture(scope="module")
def text(told: dict[str, Any]) -> str:
    return Path(told["report"]).read_text(encoding="utf-8")


def test_it_ends_with_one_json_object_and_says_nothing_else_when_quiet(
    done: "subprocess.CompletedProcess[str]", told: dict[str, Any]
) -> None:
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 1
    assert told["simulated"] is True


def test_the_demonstration_finds_what_happened_and_no_near_miss(told: dict[str, Any]) -> None:
    scores = {score["pattern"]: score for score in told["patterns"]}
    assert set(scores) >= {"trawling", "port_entry", "approaching_port", "anchored"}
    assert all(score["injected_found"] == score["injected"] for score in scores.values())
    assert sum(score["near_misses_hit"] for score in scores.values()) == 0
    assert scores["port_entry"]["injected"] > 0


def test_every_step_of_the_line_is_done_and_told(told: dict[str, Any], text: str) -> None:
    assert list(told["steps"]) == LINE
    assert told["matches"] > 0
    assert told["rows"] > told["matches"], "most patterns tell of an episode in many rows"
    assert f"<dt>matches</dt><dd>{told['matches']:,}</dd>" in text, "the page counts what the terminal counts"
    assert told["rejected"] > 0, "the raw feed has faults, and ingest finds them"
    assert all(f"<td>{step.capitalize()}</td>" in text for step in LINE[:-1]), "the page cannot tell of its own making"


def test_forecasts_are_of_the_time_that_no_model_has_seen(told: dict[str, Any]) -> None:
    assert {model["pattern"] for model in told["models"]} == set(FORECAST)
    assert all(model["events"] < 0.7 * told["positions"] for model in told["models"])
    assert told["forecasts"] > 0
    assert {row["pattern"] for row in told["evaluation"]} <= set(FORECAST)


def test_the_page_has_map_findings_warnings_and_judgement(text: str) -> None:
    assert re.findall(r'<section id="(\w+)">', text) == [
        "map",
        "found",
        "tracks",
        "forecasts",
        "evaluation",
        "patterns",
        "made",
    ]
    assert 'aria-label="waiting time"' in text
    assert 'aria-label="reliability"' in text
    assert "no vessel here is real" in text


def test_the_page_opens_in_a_browser_without_complaint(told: dict[str, Any], text: str, tmp_path: Path) -> None:
    browser = find_browser()
    if browser is None:
        pytest.skip("no chromium on this machine: the page is only parsed, not shown")
    loaded = load(browser, Path(told["report"]), tmp_path / "profile")
    found = re.search(r'id="map-data">(.*?)</script>', text)
    assert found is not None
    marks = sum(len(group["marks"]) for group in json.loads(found.group(1))["groups"])
    assert (loaded.complaints, loaded.is_ready) == ((), True)
    assert loaded.marks[0] == marks > 100
