"""The tables of an evaluation: models compared, every fold, intervals, learned features."""

from collections.abc import Mapping, Sequence
from typing import Any

from foresail.models.features.words import in_words
from foresail.pipeline.reports.markup import Column, Markup, note, table, tag
from foresail.pipeline.reports.words import count_of, share

ALL = "all"
SCORES = ("precision", "recall", "f1", "specificity", "mcc", "threshold", "seconds")

Json = Mapping[str, Any]


def models_table(pattern: Json, rows: Sequence[Json]) -> Markup:
    """One line for each model, over the test events of all folds; the one that the page is about in bold."""
    whole = [row for row in rows if row["fold"] == ALL]
    folds = {row["model"]: [r["f1"] for r in rows if r["model"] == row["model"] and r["fold"] != ALL] for row in whole}
    columns = (
        Column("model"), Column("F1", True, "harmonic mean of precision and recall; 1 is perfect"),
        Column("F1 of the folds", True, "lowest and highest of the folds"),
        Column("precision", True, "of the positive forecasts, the share that came true"),
        Column("recall", True, "of what came, the share that was forecast"),
        Column("MCC", True, "Matthews' correlation; 0 is chance, 1 is perfect"),
        Column("ROC AUC", True), Column("PR AUC", True),
        Column("Brier", True, "mean square error of the probability; 0 is perfect"),
        Column("calibration error", True, "how far probabilities are from frequencies; 0 is perfect"),
        Column("log-loss", True, "of the next symbol; lower is better"), Column("threshold", True),
    )  # fmt: skip
    cells = (
        (
            tag("b", row["model"]) if row["model"] == pattern["places_of"] else row["model"],
            _figure(row["f1"]), _range(folds[row["model"]]), share(row["precision"]), share(row["recall"]),
            _figure(row["mcc"]), _figure(row["roc_auc"]), _figure(row["pr_auc"]), _figure(row["brier"], 3),
            _figure(row["calibration_error"], 3), _figure(row["log_loss"], 3), _figure(row["threshold"]),
        )
        for row in whole
    )  # fmt: skip
    told = (
        f"A forecast is positive where the chance of a match within the next {count_of(pattern['within'], 'event')} "
        f"reaches the threshold. Scores are of {count_of(pattern['scored'], 'event')} that no model was trained on; "
        f"the plots and the map are of the model in bold."
    )
    return tag("h3", "Models compared") + table(columns, cells) + note(told)


def folds_table(rows: Sequence[Json]) -> Markup:
    """Every model on every fold, folded away."""
    columns = (
        Column("model"), Column("fold", True), *(Column(name, True) for name in ("TP", "FP", "TN", "FN")),
        *(Column({"f1": "F1", "mcc": "MCC"}.get(name, name), True) for name in SCORES),
    )  # fmt: skip
    cells = (
        (
            row["model"], row["fold"], *(f"{row[name]:,}" for name in ("tp", "fp", "tn", "fn")),
            *(_figure(row.get(name)) for name in SCORES),
        )
        for row in rows
    )  # fmt: skip
    return _folded("Every model on every fold", table(columns, cells, "dense"))


def intervals_table(pattern: Json) -> Markup:
    """How good intervals were, folded away; nothing where no model gives any."""
    held = [(model["model"], model["intervals"]) for model in pattern["models"] if model.get("intervals")]
    if not held:
        return Markup("")
    columns = (
        Column("model"), Column("forecasts", True), Column("no interval", True), Column("nominal", True),
        Column("coverage", True),
        Column("mean width", True), Column("mean error", True), Column("interval score", True, "lower is better"),
    )  # fmt: skip
    cells = (
        (
            name, f"{scores['forecasts']:,}", f"{scores['none']:,}", share(scores["nominal"]),
            share(scores["coverage"]),
            _figure(scores["mean_spread"]), _figure(scores["mae"]), _figure(scores["interval_score"]),
        )
        for name, scores in held
    )  # fmt: skip
    told = note("Widths and errors are in events. Coverage should be at least the nominal share.")
    return _folded("Forecasts of an interval", table(columns, cells, "dense") + told)


def features_table(pattern: Json) -> Markup:
    """The features that were learned, those nearest to a match first."""
    if not pattern.get("features"):
        return Markup("")
    columns = (Column("it is"), Column("written as"), Column("events", True), Column("events until a match", True))
    cells = (
        (in_words(held["text"]), tag("code", held["text"]), f"{held['events']:,}", _figure(held["mean_until"]))
        for held in sorted(pattern["features"], key=lambda held: held["mean_until"])
    )
    told = note(
        "Learned from training events with a decision tree; the model tells these apart, beside the pattern's own."
    )
    return _folded("Learned conditions", told + table(columns, cells, "dense"))


def _folded(title: str, body: Markup) -> Markup:
    return tag("details", tag("summary", tag("span", title)), tag("div", body), class_="match")


def _figure(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"


def _range(values: Sequence[float]) -> str:
    return f"{min(values):.2f} – {max(values):.2f}" if values else "–"
