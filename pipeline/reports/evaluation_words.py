"""An evaluation said plainly: what can be forecast, how early, how often it is wrong."""

from collections.abc import Mapping, Sequence
from typing import Any

from foresail.pipeline.reports.markup import Markup
from foresail.pipeline.reports.page import paragraphs
from foresail.pipeline.reports.words import count_of, listed, plain, share, span

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
    told = [f"{matches - missed:,} of {count_of(matches, 'match', 'matches')} were foretold at least once"]
    if earliness["median"] is not None:
        told.append(f", half of them {_ahead(round(earliness['median']), step_s)} ahead or earlier")
    return ["".join(told) + (f"; {missed:,} came unannounced." if missed else ".")]


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
