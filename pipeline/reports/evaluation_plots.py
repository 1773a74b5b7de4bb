"""The plots of one pattern's evaluation: reliability, thresholds, models compared, distance, reach, earliness.

An evaluation said plainly: what can be forecast, how early, how often it is wrong.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from foresail.pipeline.reports.page import Markup, count_of, listed, paragraphs, plain, share, span, tag
from foresail.pipeline.reports.plots import Axis, Curve, Plot, bars, curves, diagonal, figure, upright

ALL = "all"
GRADES = ((0.8, "well"), (0.6, "fairly well"), (0.35, "roughly"), (0.0, "hardly"))
"""From this F1 on a pattern can be forecast so."""
CALIBRATED = 0.05
BASELINES = ("order 0", "mean waiting time", "gradient boosting")

Json = Mapping[str, Any]


def in_short(evaluation: Json) -> Markup:
    """The paragraph at the top of the page."""
    graded: dict[str, list[str]] = {}
    for pattern in evaluation["patterns"]:
        row = chosen_row(pattern, evaluation["rows"])
        if row is not None:
            graded.setdefault(grade(row["f1"]), []).append(plain(pattern["pattern"]))
    if not graded:
        return paragraphs("No pattern could be evaluated: the events hold no match to foretell.")
    can = "; ".join(f"{listed(graded[word])} {word}" for _, word in GRADES if word in graded)
    texts = [f"What can be forecast: {can}."]
    best = max(evaluation["patterns"], key=lambda pattern: (chosen_row(pattern, evaluation["rows"]) or {"f1": 0})["f1"])
    return paragraphs(*texts, _best(best, evaluation["rows"]))


def _best(pattern: Json, rows: Sequence[Json]) -> str:
    """The pattern that is forecast best, in a sentence or two."""
    row, model = chosen_row(pattern, rows), chosen_model(pattern)
    if row is None or model is None:
        return ""
    said = [f"Best of all {plain(pattern['pattern'])}:", *_early(model["earliness"], pattern["step_s"]), _wrong(row)]
    return " ".join(said)


def grade(f1: float) -> str:
    """How well something with this F1 can be forecast, in a word or two."""
    return next(word for least, word in GRADES if f1 >= least)


def chosen_row(pattern: Json, rows: Sequence[Json]) -> Json | None:
    """The scores over all folds of the model that the page is about."""
    mine = [row for row in rows if row["pattern"] == pattern["pattern"] and row["fold"] == ALL]
    return next((row for row in mine if row["model"] == pattern["places_of"]), mine[0] if mine else None)


def chosen_model(pattern: Json) -> Json | None:
    """The curves of the model that the page is about."""
    models = pattern["models"]
    return next((model for model in models if model["model"] == pattern["places_of"]), models[0] if models else None)


def verdict(pattern: Json, rows: Sequence[Json]) -> str:
    """One pattern in a few sentences."""
    row, model = chosen_row(pattern, rows), chosen_model(pattern)
    name = plain(pattern["pattern"])
    if row is None or model is None:
        return f"{name.capitalize()} could not be evaluated."
    ahead = _ahead(pattern["within"], pattern["step_s"])
    said = [f"Whether a match of {name} comes within the next {ahead} can be forecast {grade(row['f1'])}."]
    said += _early(model["earliness"], pattern["step_s"])
    said.append(_wrong(row))
    if row["calibration_error"] is not None:
        said.append(_honest(row["calibration_error"]))
    said += _compared(pattern, row, rows)
    return " ".join(said)


def _ahead(events: int, step_s: float | None) -> str:
    text = count_of(events, "event")
    return f"{text} (about {span(events * step_s)})" if step_s else text


def _early(earliness: Json, step_s: float | None) -> list[str]:
    matches, missed = earliness["matches"], earliness["missed"]
    if not matches:
        return []
    remarks = [f"{matches - missed:,} of {count_of(matches, 'match', 'matches')} were foretold at least once"]
    if earliness["median"] is not None:
        remarks.append(f", half of them {_ahead(round(earliness['median']), step_s)} ahead or earlier")
    return ["".join(remarks) + (f"; {missed:,} came unannounced." if missed else ".")]


def _wrong(row: Json) -> str:
    if not row["tp"] + row["fp"]:
        return "The model never gave a positive forecast."
    return (
        f"Of the positive forecasts {share(row['precision'])} came true, {share(1 - row['precision'])} were false "
        f"alarms; of the moments before a match {share(row['recall'])} were recognised as such."
    )


def _honest(error: float) -> str:
    if error <= CALIBRATED:
        return f"Its probabilities can be taken at their word: they are off by {share(error)} on average."
    return f"Its probabilities are to be taken with care: they are off by {share(error)} on average."


def _compared(pattern: Json, row: Json, rows: Sequence[Json]) -> list[str]:
    others = [
        f"{other['f1']:.2f} for {other['model']}"
        for other in rows
        if other["pattern"] == pattern["pattern"] and other["fold"] == ALL and other["model"] in BASELINES
        and other["model"] != row["model"]
    ]  # fmt: skip
    return [f"Its F1 is {row['f1']:.2f} ({row['model']}); it is {listed(others)}."] if others else []


MOST_COMPARED = 6
SHARE = Axis("", 0.0, 1.0)


def model_plots(pattern: Json, rows: Sequence[Json]) -> Markup:
    """All plots that there is data for."""
    chosen, row = chosen_model(pattern), chosen_row(pattern, rows)
    if chosen is None or row is None:
        return Markup("")
    drawn = (
        _reliability(chosen),
        _thresholds(chosen, row["threshold"]),
        _precision_recall(pattern, rows),
        _distance(chosen),
        _reach(pattern, rows),
        _earliness(chosen, pattern["step_s"]),
    )
    return tag("div", *filter(None, drawn), class_="plots")


def compared(pattern: Json, rows: Sequence[Json]) -> list[Json]:
    """The models whose curves are drawn together: the one the page is about, then those with the best F1."""
    f1 = {row["model"]: row["f1"] for row in rows if row["pattern"] == pattern["pattern"] and row["fold"] == "all"}
    order = sorted(pattern["models"], key=lambda m: (m["model"] != pattern["places_of"], -f1.get(m["model"], 0.0)))
    return order[:MOST_COMPARED]


def _lines(pattern: Json, rows: Sequence[Json], points: Callable[[Json], list[tuple[float, float]]]) -> list[Curve]:
    models = compared(pattern, rows)
    made = [Curve(m["model"], tuple(points(m)), n, n == 0) for n, m in enumerate(models)]
    return [line for line in made if line.points]


def _reliability(model: Json) -> Markup | None:
    held = [part for part in model["reliability"] if part["events"]]
    if not held:
        return None
    plot = Plot(Axis("what was forecast", 0, 1, True), Axis("what came true", 0, 1, True))
    line = Curve(model["model"], tuple((part["forecast"], part["observed"]) for part in held), dots=True)
    return figure(
        "Can a probability be believed?",
        "Of the events given 30%, three in ten should come true: the nearer to the dashed line, the better.",
        curves(plot, "reliability", [line], diagonal(plot, "perfect")),
    )


def _thresholds(model: Json, threshold: float) -> Markup | None:
    held = model["thresholds"]
    if not held:
        return None
    plot = Plot(Axis("threshold", 0, 1), SHARE)
    names = ("f1", "precision", "recall", "mcc")
    labels = {"f1": "F1", "mcc": "MCC"}
    lines = [
        Curve(labels.get(name, name), tuple((point["threshold"], point[name]) for point in held), hue, name == "f1")
        for hue, name in enumerate(names)
    ]
    return figure(
        "Where to draw the line",
        "From which probability on a forecast counts as positive, and what that costs in precision or recall.",
        curves(plot, "scores by threshold", lines, upright(plot, threshold, "chosen")),
        lines,
    )


def _precision_recall(pattern: Json, rows: Sequence[Json]) -> Markup | None:
    lines = _lines(pattern, rows, lambda m: [(p["recall"], p["precision"]) for p in m["thresholds"] if p["recall"] > 0])
    if not lines:
        return None
    plot = Plot(
        Axis("recall: matches' moments that were foretold", 0, 1, True),
        Axis("precision: forecasts that came true", 0, 1, True),
    )
    return figure(
        "Models at every threshold",
        "The further a curve reaches to the upper right, the better the model.",
        curves(plot, "precision against recall", lines),
        lines,
    )


def _distance(model: Json) -> Markup | None:
    held = model["by_distance"]
    if not held:
        return None
    most = max(part["distance"] for part in held)
    plot = Plot(Axis("least number of events to a match", 0.5, most + 0.5), SHARE)
    lines = [
        Curve("F1", tuple((part["distance"], part["scores"]["f1"]) for part in held), 0, dots=True),
        Curve("MCC", tuple((part["distance"], part["scores"]["mcc"]) for part in held), 3, strong=False, dots=True),
    ]
    return figure(
        "Near and far from completion",
        "The further the pattern still has to go, the harder the forecast.",
        curves(plot, "scores by distance to completion", lines),
        lines,
    )


def _reach(pattern: Json, rows: Sequence[Json]) -> Markup | None:
    lines = _lines(pattern, rows, lambda m: [(p["within"], p["scores"]["f1"]) for p in m["by_within"]])
    if not lines:
        return None
    most = max(x for line in lines for x, _ in line.points)
    plot = Plot(Axis("a match counts within so many events", 0, most), Axis("F1", 0, 1))
    marked = upright(plot, pattern["within"], "used here")
    lines = [Curve(line.label, line.points, line.hue, line.strong, dots=True) for line in lines]
    return figure(
        "Looking further ahead",
        "How good the models are when a match may come sooner or later.",
        curves(plot, "F1 by reach", lines, marked),
        lines,
    )


def _earliness(model: Json, step_s: float | None) -> Markup | None:
    counted = model["earliness"]["histogram"]
    if not any(counted):
        return None
    plot = Plot(Axis("events ahead of the match", 0.5, len(counted) + 0.5), Axis("matches", 0, max(counted)))
    pace = f" One event is about {step_s:.0f} s." if step_s else ""
    missed, matches = model["earliness"]["missed"], model["earliness"]["matches"]
    return figure(
        "How early",
        f"When each match was first foretold; {missed:,} of {matches:,} never were.{pace}",
        bars(plot, "earliness", [(n + 1.0, float(value)) for n, value in enumerate(counted)], width=0.9),
    )
