"""The evaluation as JSON: the shape that the page and other tools rely on."""

import json
from dataclasses import replace
from pathlib import Path

from foresail.models.scoring.measures import Classification, Earliness, ReliabilityBin, ScoresAtDistance
from foresail.models.scoring.report import (
    Evaluation,
    ForecastPlace,
    IntervalScores,
    LearnedFeature,
    ModelScores,
    PatternEvaluation,
    ScoreRow,
    ThresholdPoint,
    WithinPoint,
)

EXAMPLE = Path(__file__).with_name("evaluation_example.json")
SCORES = Classification(0.2, 80, 20, 880, 20, 0.8, 0.8, 0.8, 0.978, 0.778, 0.97, 0.85, 0.03)


def example() -> Evaluation:
    curve = (ReliabilityBin(0.0, 0.1, 900, 0.02, 0.02), ReliabilityBin(0.5, 0.6, 60, 0.55, 0.6))
    order_1, order_4, learned, boosting = (
        ModelScores(
            name,
            symbols,
            contexts,
            states,
            curve,
            (ThresholdPoint(0.1, 0.6, 0.9, 0.72, 0.7), ThresholdPoint(0.2, 0.8, 0.8, 0.8, 0.778)),
            (ScoresAtDistance(1, 0.5, SCORES), ScoresAtDistance(2, 1.0, replace(SCORES, f1=0.6))),
            (WithinPoint(5, 0.05, SCORES, 0.01), WithinPoint(15, 0.1, SCORES, 0.012)),
            Earliness(40, 4, 8.5, 9.0, (1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1)),
            intervals,
        )
        for name, symbols, contexts, states, intervals in (
            ("order 1", 7, 8, 16, IntervalScores(0.5, 700, 300, 12, 0.52, 6.1, 5.0, 3.8, 14.2)),
            ("order 4", 7, 120, 260, IntervalScores(0.5, 720, 280, 10, 0.51, 4.9, 4.2, 3.1, 11.0)),
            ("learned", 41, 300, 700, IntervalScores(0.5, 800, 200, 9, 0.5, 3.9, 3.2, 2.4, 9.0)),
            ("gradient boosting", None, None, None, None),
        )
    )
    pattern = PatternEvaluation(
        pattern="port_entry",
        version=1,
        says="A vessel seen twice outside the port is seen inside it.",
        instance="ports",
        within=15,
        horizon=60,
        events=1040,
        scored=1000,
        censored=30,
        accepting=10,
        matches=44,
        step_s=60.0,
        models=(order_1, order_4, learned, boosting),
        features=(LearnedFeature("leaf_1", "port.distance_m < 6200 and speed_kn >= 8.1", 120, 3.4),),
        places_of="learned",
        places=(ForecastPlace(-4.48, 48.3, "tp", 0.8, "227000001", "2026-03-01T10:00:00Z"),),
    )
    rows = tuple(
        ScoreRow("port_entry", model.model, fold, 15, SCORES, 0.012, 0.4 if model.symbols else None, 1.5)
        for model in pattern.models
        for fold in ("0", "1", "all")
    )
    return Evaluation("time", 2, 60, "f1", 5000, 5000, 12, 12, 9.5, rows, (pattern,), {"anchored": "no match."})


def test_the_example_file_is_what_an_evaluation_writes() -> None:
    assert json.loads(EXAMPLE.read_text()) == json.loads(json.dumps(example().as_json))


def test_a_row_has_the_keys_that_other_tools_rely_on() -> None:
    row = example().as_json["rows"][0]
    fixed = "pattern model fold within tp fp tn fn precision recall f1 mcc roc_auc brier calibration_error threshold"
    assert set(fixed.split()) <= set(row)
