"""The page of an evaluation says in words what its numbers say, and marks every place."""

import json
import re
from copy import deepcopy
from pathlib import Path

import pytest

from foresail.pipeline.reports.evaluation import evaluation_page, write_evaluation_page
from foresail.pipeline.reports.evaluation_plots import grade, in_short, verdict
from foresail.pipeline.reports.page import render_page
from tests.pipeline.reports.evaluation_case import HOSTILE, MODELS, PATTERNS, evaluation_case


@pytest.fixture(scope="module")
def text() -> str:
    return render_page(evaluation_page(evaluation_case()))


def test_each_model_has_a_line_for_each_fold_and_one_for_all(text: str) -> None:
    first = text[text.index('id="pattern-port_entry"') : text.index('id="pattern-trawling"')]
    for name in MODELS:
        assert len(re.findall(rf"<td>(?:<b>)?{name}(?:</b>)?</td>", first)) == 1 + 4 + 1, "models, folds, intervals"


def test_the_plots_that_the_evaluation_asks_for_are_there(text: str) -> None:
    for label in ("reliability", "scores by threshold", "precision against recall", "scores by distance to completion"):
        assert text.count(f'aria-label="{label}"') == len(PATTERNS)
    assert text.count('aria-label="earliness"') == len(PATTERNS)


def test_the_map_marks_what_was_right_wrong_and_missed(text: str) -> None:
    found = re.search(r'id="places-port_entry">(.*?)</script>', text)
    assert found is not None
    groups = {group["key"]: len(group["marks"]) for group in json.loads(found.group(1))["groups"]}
    assert groups == {"tp": 20, "fp": 10, "fn": 10}
    assert HOSTILE not in text


def test_the_words_at_the_top_are_those_of_the_numbers() -> None:
    said = in_short(evaluation_case())
    assert "port entry well; trawling roughly" in said
    assert "56 of 60 matches were foretold at least once, half of them 9 events (about 9 min) ahead or earlier" in said
    assert "4 came unannounced" in said
    assert "83% came true, 17% were false alarms" in said


def test_a_verdict_compares_with_the_baselines_and_judges_the_probabilities() -> None:
    evaluation = evaluation_case()
    said = verdict(evaluation["patterns"][0], evaluation["rows"])
    assert "0.35 for order 0 and 0.88 for gradient boosting" in said
    assert "taken at their word" in said
    for row in evaluation["rows"]:
        row["calibration_error"] = 0.2
    assert "with care" in verdict(evaluation["patterns"][0], evaluation["rows"])


@pytest.mark.parametrize(("f1", "word"), [(0.9, "well"), (0.7, "fairly well"), (0.5, "roughly"), (0.0, "hardly")])
def test_grades_follow_f1(f1: float, word: str) -> None:
    assert grade(f1) == word


def test_what_could_not_be_evaluated_is_named_with_the_reason(text: str) -> None:
    assert "<td>drifting</td><td>no match in the training data</td>" in text


def test_scores_that_the_events_do_not_define_are_dashes(tmp_path: Path) -> None:
    evaluation = deepcopy(evaluation_case())
    for row in evaluation["rows"]:
        row.update(dict.fromkeys(("roc_auc", "pr_auc", "brier", "calibration_error", "log_loss", "specificity")))
    for pattern in evaluation["patterns"]:
        pattern.update(step_s=None, places=[], features=[])
        for model in pattern["models"]:
            model.update(reliability=[], thresholds=[], by_distance=[], by_within=[], intervals=None)
            model["earliness"] = {"matches": 0, "missed": 0, "mean": None, "median": None, "histogram": [0] * 15}
    text = write_evaluation_page(tmp_path / "evaluation.html", evaluation).read_text(encoding="utf-8")
    assert "<canvas" not in text
    assert "–" in text


def test_an_evaluation_of_nothing_says_so() -> None:
    evaluation = {**evaluation_case(), "patterns": [], "rows": []}
    assert "No pattern could be evaluated" in render_page(evaluation_page(evaluation))


def test_a_pattern_that_begins_with_a_vowel_has_no_other_article() -> None:
    evaluation = evaluation_case()
    pattern = {**evaluation["patterns"][0], "pattern": "approaching_port"}
    rows = [{**row, "pattern": "approaching_port"} for row in evaluation["rows"]]
    assert "Whether a match of approaching port comes" in verdict(pattern, rows)
