"""The page of an evaluation: what can be forecast, how early, how often wrong; in words first, then in plots."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from foresail.geo import Layer
from foresail.pipeline.reports.evaluation_plots import model_plots
from foresail.pipeline.reports.evaluation_tables import features_table, folds_table, intervals_table, models_table
from foresail.pipeline.reports.evaluation_words import in_short, verdict
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
from foresail.pipeline.reports.markup import Column, Markup, joined, note, table, tag
from foresail.pipeline.reports.page import Page, Section, write_page
from foresail.pipeline.reports.palette import Sign
from foresail.pipeline.reports.recognition import FOOT
from foresail.pipeline.reports.words import count_of, counted, plain, share, titled

EVALUATION_FILE = "evaluation.html"
ALL = "all"
OUTCOMES = {
    "tp": ("Right: foretold, and it came", Sign(2, "circle")),
    "fp": ("False alarm: foretold, and it did not come", Sign(1, "triangle")),
    "fn": ("Missed: it came and was not foretold", Sign(6, "diamond")),
}

Json = Mapping[str, Any]


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
