"""The page of an evaluation: what can be forecast, how early, how often wrong; in words first, then in plots.

The tables of an evaluation: models compared, every fold, intervals, learned features.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from foresail.geo import Layer
from foresail.models.features.words import in_words
from foresail.pipeline.reports.evaluation_plots import in_short, model_plots, verdict
from foresail.pipeline.reports.land import SAID, land_around
from foresail.pipeline.reports.map_layers import map_layers
from foresail.pipeline.reports.map_view import (
    MapLayer,
    MapView,
    Mark,
    MarkGroup,
    TrackLine,
    bounds,
    map_data,
    map_markup,
)
from foresail.pipeline.reports.page import (
    Column,
    Markup,
    Page,
    Section,
    count_of,
    counted,
    joined,
    note,
    plain,
    share,
    table,
    tag,
    titled,
    write_page,
)
from foresail.pipeline.reports.plots import Sign
from foresail.pipeline.reports.recognition import FOOT

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
    remark = (
        f"A forecast is positive where the chance of a match within the next {count_of(pattern['within'], 'event')} "
        f"reaches the threshold. Scores are of {count_of(pattern['scored'], 'event')} that no model was trained on; "
        f"the plots and the map are of the model in bold."
    )
    return tag("h3", "Models compared") + table(columns, cells) + note(remark)


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
    held = [
        (model["model"], scores, model.get("crps"))
        for model in pattern["models"]
        if model.get("intervals")
        for scores in (model["intervals"], *model.get("wider", ()))
    ]
    if not held:
        return Markup("")
    columns = (
        Column("model"), Column("forecasts", True), Column("no interval", True), Column("nominal", True),
        Column("coverage", True),
        Column("mean width", True), Column("mean error", True), Column("interval score", True, "lower is better"),
        Column("CRPS", True, "of the whole waiting time; lower is better"),
    )  # fmt: skip
    cells = (
        (
            name, f"{scores['forecasts']:,}", f"{scores['none']:,}", share(scores["nominal"]),
            share(scores["coverage"]),
            _figure(scores["mean_spread"]), _figure(scores["mae"]), _figure(scores["interval_score"]),
            _figure(crps),
        )
        for name, scores, crps in held
    )  # fmt: skip
    remark = note("Widths and errors are in events. Coverage should be at least the nominal share.")
    return _folded("Forecasts of an interval", table(columns, cells, "dense") + remark)


def features_table(pattern: Json) -> Markup:
    """The features that were learned, those nearest to a match first."""
    if not pattern.get("features"):
        return Markup("")
    columns = (Column("it is"), Column("written as"), Column("events", True), Column("events until a match", True))
    cells = (
        (in_words(held["text"]), tag("code", held["text"]), f"{held['events']:,}", _figure(held["mean_until"]))
        for held in sorted(pattern["features"], key=lambda held: held["mean_until"])
    )
    remark = note(
        "Learned from training events with a decision tree; the model tells these apart, beside the pattern's own."
    )
    return _folded("Learned conditions", remark + table(columns, cells, "dense"))


def _folded(title: str, body: Markup) -> Markup:
    return tag("details", tag("summary", tag("span", title)), tag("div", body), class_="match")


def _figure(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"


def _range(values: Sequence[float]) -> str:
    return f"{min(values):.2f} – {max(values):.2f}" if values else "–"


EVALUATION_FILE = "evaluation.html"

OUTCOMES = {
    "tp": ("Right: foretold, and it came", Sign(2, "circle")),
    "fp": ("False alarm: foretold, and it did not come", Sign(1, "triangle")),
    "fn": ("Missed: it came and was not foretold", Sign(6, "diamond")),
}


def write_evaluation_page(file: Path, evaluation: Json, layers: Sequence[Layer] = ()) -> Path:
    """Write the page of what `evaluation.json` holds; `layers` are drawn on its maps."""
    return write_page(file, evaluation_page(evaluation, layers))


def evaluation_page(evaluation: Json, layers: Sequence[Layer] = ()) -> Page:
    """The page."""
    parts = [pattern_evaluation(pattern, evaluation, layers) for pattern in evaluation["patterns"]]
    names = [pattern["pattern"] for pattern in evaluation["patterns"]]
    sections = [Section(f"pattern-{name}", titled(name), body) for name, (body, _) in zip(names, parts, strict=True)]
    return Page(
        title="How good the forecasts are",
        lead=in_short(evaluation),
        figures=_figures(evaluation),
        sections=(*sections, Section("how", "How this was measured", how_measured(evaluation))),
        foot=FOOT,
        data={key: value for _, data in parts for key, value in data.items()},
    )


def pattern_evaluation(
    pattern: Json, evaluation: Json, layers: Sequence[Layer] = (), tracks: Sequence[TrackLine] = ()
) -> tuple[Markup, dict[str, Any]]:
    """All about one pattern, and the data of its map."""
    rows = [row for row in evaluation["rows"] if row["pattern"] == pattern["pattern"]]
    view = outcome_map(pattern, layers, tracks)
    key = f"places-{pattern['pattern']}"
    body = joined(
        (
            tag("p", pattern["says"], class_="says"),
            tag("blockquote", tag("p", verdict(pattern, rows))),
            models_table(pattern, rows),
            model_plots(pattern, rows),
            _where(view, key),
            folds_table(rows),
            intervals_table(pattern),
            features_table(pattern),
        )
    )
    return body, {} if view.is_empty else {key: map_data(view)}


def _where(view: MapView, key: str) -> Markup:
    if view.is_empty:
        return Markup("")
    return tag("h3", "Where forecasts were right and wrong") + map_markup(view, key)


def outcome_map(pattern: Json, layers: Sequence[Layer], tracks: Sequence[TrackLine]) -> MapView:
    """The places of forecasts by what came of them; the many events where nothing was said and nothing came are not."""
    groups = []
    for outcome, (label, sign) in OUTCOMES.items():
        marks = tuple(_place(place) for place in pattern["places"] if place["outcome"] == outcome)
        groups.append(MarkGroup(outcome, label, sign, marks, len(marks)))
    bare = MapView((), tuple(tracks), tuple(groups), marks_are="Forecasts")
    if bare.is_empty:
        return bare
    drawn: tuple[MapLayer, ...]
    drawn, left_out = map_layers(layers, bounds(bare))
    land = land_around(bounds(bare))
    return MapView(drawn, tuple(tracks), tuple(groups), (*left_out, SAID), "Forecasts", land)


def _place(place: Json) -> Mark:
    time = datetime.fromisoformat(place["time"]).timestamp()
    lines = (place["track"], str(place["time"]), f"chance {share(place['probability'])}")
    return Mark(place["lon"], place["lat"], time, time, lines, track=place["track"])


def how_measured(evaluation: Json) -> Markup:
    """The method in a few sentences."""
    split = {"time": "Each track was cut into stretches of time", "track": "The tracks were dealt out"}
    way = split.get(evaluation["by"], f"The events were split by {evaluation['by']}")
    said = (
        f"{way}, {evaluation['folds']} folds: models learned from the others and were scored on the one held back, "
        f"with {count_of(evaluation['gap'], 'event')} left out between: no event was both learned from and scored. "
        f"Truth is what the recogniser detected. The threshold of each model was chosen on training data for the best "
        f"{str(evaluation['criterion']).upper()}."
    )
    body = tag("p", said)
    if evaluation["sampled_events"] < evaluation["events"]:
        body += note(
            f"Of {count_of(evaluation['events'], 'event')} a sample of "
            f"{count_of(evaluation['sampled_tracks'], 'whole track')} with "
            f"{count_of(evaluation['sampled_events'], 'event')} was evaluated."
        )
    skipped = [(plain(name), reason) for name, reason in evaluation.get("skipped", {}).items()]
    if skipped:
        body += tag("h3", "Not evaluated") + table((Column("pattern"), Column("why")), skipped, "dense")
    return body


def _figures(evaluation: Json) -> tuple[tuple[str, str], ...]:
    return (
        counted(len(evaluation["patterns"]), "pattern forecast", "patterns forecast"),
        counted(
            sum(pattern["matches"] for pattern in evaluation["patterns"]), "match to foretell", "matches to foretell"
        ),
        counted(evaluation["sampled_events"], "event evaluated", "events evaluated"),
        counted(evaluation["sampled_tracks"], "track"),
        (f"{evaluation['folds']}", f"folds by {evaluation['by']}"),
    )
