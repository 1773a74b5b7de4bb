"""An evaluation as `evaluation.json` holds it, made by formula: three models of a pattern of two, over three folds."""

from math import exp
from typing import Any

MODELS = {"order 0": 0.35, "order 4": 0.78, "learned": 0.86, "gradient boosting": 0.88}
PATTERNS = ("port_entry", "trawling")
HOSTILE = "</script><b>SHIP"


def scores(f1: float, threshold: float = 0.3) -> dict[str, Any]:
    """The scores of a model that is about so good."""
    confusion = {"tp": round(100 * f1), "fp": round(100 * (1 - f1)), "tn": 900, "fn": round(90 * (1 - f1))}
    rates = {"precision": f1 - 0.03, "recall": f1 + 0.03, "f1": f1, "specificity": 0.97, "mcc": f1 - 0.05}
    areas = {"roc_auc": 0.5 + f1 / 2, "pr_auc": f1 - 0.02, "brier": 0.1 * (1 - f1)}
    return {"threshold": threshold, **confusion, **rates, **areas}


def reliability_bin(n: int) -> dict[str, Any]:
    """A bin in which a little less comes true than was said."""
    middle = n / 10 + 0.05
    return {"low": n / 10, "high": (n + 1) / 10, "events": 100 - 9 * n, "forecast": middle, "observed": middle**1.1}


def threshold_point(t: float, f1: float) -> dict[str, float]:
    """The scores at one threshold."""
    bow = t * (1 - t)
    return {
        "threshold": t, "precision": 1 - (1 - f1) * exp(-3 * t), "recall": 1 - t ** (4 * f1), "f1": f1 * 4 * bow,
        "mcc": f1 * 3 * bow,
    }  # fmt: skip


def within_point(events: int, f1: float) -> dict[str, Any]:
    """The scores for another reach."""
    held = {"within": events, "positives": events / 100, "calibration_error": 0.02}
    return held | {"scores": scores(f1 * (1 - events / 150))}


INTERVALS = {
    "nominal": 0.8, "forecasts": 500, "none": 40, "unresolved": 9, "coverage": 0.83, "mean_spread": 7.1, "rmse": 4.0,
    "mae": 2.9, "interval_score": 12.0,
}  # fmt: skip
EARLINESS = {
    "matches": 60, "missed": 4, "mean": 8.2, "median": 9.0,
    "histogram": [1, 2, 2, 3, 4, 5, 6, 7, 8, 7, 5, 3, 2, 1, 0],
}  # fmt: skip


def model(name: str, f1: float) -> dict[str, Any]:
    """The curves of one model."""
    return {
        "model": name,
        "symbols": 9,
        "contexts": 40,
        "chain_states": 120,
        "reliability": [reliability_bin(n) for n in range(10)],
        "thresholds": [threshold_point(n / 20, f1) for n in range(21)],
        "by_distance": [{"distance": n, "relative": n / 3, "scores": scores(f1 * (1 - n / 8))} for n in (1, 2, 3)],
        "by_within": [within_point(events, f1) for events in (5, 15, 30, 60)],
        "earliness": EARLINESS,
        "intervals": INTERVALS,
    }


def row(pattern: str, name: str, fold: str, f1: float) -> dict[str, Any]:
    """A line of the table."""
    held = {"pattern": pattern, "model": name, "fold": fold, "within": 15, "calibration_error": 0.031, "seconds": 1.2}
    return held | scores(f1) | {"log_loss": 0.41 if name.startswith("order") else None}


def place(n: int) -> dict[str, Any]:
    """A forecast somewhere off Brittany."""
    outcome = ("tp", "tp", "fp", "fn")[n % 4]
    return {"lon": -4.5 + n / 40, "lat": 48.3 + (n * 7 % 11) / 20, "outcome": outcome, "probability": 0.4 + n / 200,
            "track": HOSTILE, "time": "2026-03-02T10:00:00+00:00"}  # fmt: skip


def pattern_case(name: str, share: float) -> dict[str, Any]:
    """All models of one pattern."""
    leaf = {"name": "leaf_1", "text": "port.distance_m < 6200 and speed_kn > 8.1", "events": 410, "mean_until": 4.2}
    return {
        "pattern": name,
        "version": 1,
        "says": "A vessel seen twice outside the port is seen inside it.",
        "instance": "ports",
        "within": 15,
        "horizon": 60,
        "events": 40_000,
        "scored": 38_000,
        "censored": 1200,
        "accepting": 800,
        "matches": 60,
        "step_s": 60.0,
        "models": [model(each, f1 * share) for each, f1 in MODELS.items()],
        "features": [leaf],
        "places_of": "learned",
        "places": [place(n) for n in range(40)],
    }


def evaluation_case() -> dict[str, Any]:
    """The whole evaluation."""
    shares = dict(zip(PATTERNS, (1.0, 0.5), strict=True))
    rows = [
        row(pattern, name, fold, f1 * share + shift)
        for pattern, share in shares.items()
        for name, f1 in MODELS.items()
        for fold, shift in (("0", -0.04), ("1", 0.03), ("2", 0.0), ("all", 0.0))
    ]
    sizes = {"events": 80_000, "sampled_events": 40_000, "tracks": 48, "sampled_tracks": 24, "seconds": 21.0}
    patterns = [pattern_case(*held) for held in shares.items()]
    skipped = {"drifting": "no match in the training data"}
    split = {"by": "time", "folds": 3, "gap": 15, "criterion": "f1"}
    return {**split, **sizes, "rows": rows, "patterns": patterns, "skipped": skipped}
