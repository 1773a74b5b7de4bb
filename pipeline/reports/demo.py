"""The page of the demonstration: what the line found and foretold, for someone who sees it the first time."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession

from foresail.geo import read_layers
from foresail.models.model import Model
from foresail.models.store import ModelStore
from foresail.patterns.catalog.loader import Catalog
from foresail.pipeline.reports.evaluation import how_measured, pattern_evaluation
from foresail.pipeline.reports.evaluation_plots import in_short
from foresail.pipeline.reports.forecast_section import explained, warning_groups, warnings_table
from foresail.pipeline.reports.map_view import MapView, map_data, map_markup
from foresail.pipeline.reports.page import (
    Column,
    Markup,
    Page,
    Section,
    count_of,
    joined,
    listed,
    moment,
    note,
    paragraphs,
    plain,
    span,
    table,
    tag,
    times,
    titled,
    write_page,
)
from foresail.pipeline.reports.pattern_section import counts_table
from foresail.pipeline.reports.recognition import (
    FOOT,
    MAP_DATA,
    Recognition,
    not_found,
    pattern_by_pattern,
    read_recognition,
    recognition_map,
    unknown_to,
)
from foresail.pipeline.reports.spark_reading import SparkReading
from foresail.pipeline.reports.timeline import TimeRow, timeline
from foresail.pipeline.reports.tracks import search_box, track_section
from foresail.pipeline.reports.warned import Warnings, read_warnings
from foresail.pipeline.simulator.score import PatternScore
from foresail.pipeline.sources.table import read_events

if TYPE_CHECKING:
    from foresail.pipeline.jobs.demo import DemoResult


def write_demo_report(
    spark: SparkSession,
    result: "DemoResult",
    catalog: Catalog,
    layers_file: Path,
    layer_cache: Path,
    recognised: Mapping[str, Any],
) -> Path:
    """Write the page of a finished demonstration; `recognised` is the summary of its recognition."""
    folder = result.folder
    events = read_events(spark, [str(folder / "enriched" / "events")]).good
    layers = read_layers(layers_file, layer_cache)
    matches = folder / "recognised" / "matches"
    reading = SparkReading(spark, matches, events)
    read = read_recognition(reading, catalog, layers, recognised["skipped"], recognised["little_known"])
    store = ModelStore(folder / "models")
    models = {row["pattern"]: store.load(row["pattern"]) for row in result.trained["patterns"]}
    within = {name: model.settings.events_ahead for name, model in models.items()}
    warnings = read_warnings(spark, Path(result.forecast["output"]), matches, within, result.learned_until)
    return write_page(result.report, demo_page(result, read, models, warnings))


def demo_page(result: "DemoResult", read: Recognition, models: Mapping[str, Model], warnings: Warnings) -> Page:
    """The page: in short, the map, what was found, the forecasts, how good they are, each pattern, how it was made."""
    view = _map(read, warnings)
    judged, data = _judged(result.evaluation, read)
    rows = [TimeRow(titled(p.name), p.sign, dict(p.count.bins)) for p in read.patterns]
    return Page(
        title="A simulated fleet, watched",
        kicker="Foresail demonstration",
        lead=_lead(result, read, warnings),
        figures=_figures(result, read, warnings),
        sections=(
            Section(
                "map",
                "Where and when",
                search_box(view)
                + map_markup(view, MAP_DATA)
                + tag("h3", "When it happened")
                + timeline(rows, read.facts.span),
            ),
            Section("found", "What was found", _found(read, result.scores)),
            *track_section(read.found, read.facts.tracks, [p.name for p in read.patterns]),
            Section("forecasts", "What was foretold", _foretold(result, read, models, warnings)),
            Section("evaluation", "How good the forecasts are", judged),
            Section("patterns", "Pattern by pattern", pattern_by_pattern(read)),
            Section("made", "How this was made", _made(result)),
        ),
        foot=f"Simulated data: no vessel here is real. {FOOT}",
        data={MAP_DATA: map_data(view), **data},
    )


def _map(read: Recognition, warnings: Warnings) -> MapView:
    view = recognition_map(read)
    groups = (*warning_groups(warnings, read.names), *view.groups)
    left_out = view.left_out
    if len(warnings.shown) < warnings.total:
        left_out = (*left_out, f"{len(warnings.shown):,} of {warnings.total:,} warnings are marked.")
    return replace(view, groups=groups, left_out=left_out, marks_are="Warnings and matches")


def _lead(result: "DemoResult", read: Recognition, warnings: Warnings) -> Markup:
    right = sum(warned.came_true for warned in warnings.shown)
    happened = sum(score.injected + score.incidental for score in result.scores)
    found = sum(score.injected_found + score.incidental_found for score in result.scores)
    hit = sum(score.near_misses_hit for score in result.scores)
    near = sum(score.near_misses for score in result.scores)
    top = [f"{plain(p.name)} ({times(p.count.matches)})" for p in read.patterns[:3]]
    first = (
        f"{count_of(result.tracks, 'simulated vessel')} sailed for {span(read.facts.span.length)} and sent "
        f"{result.positions:,} usable positions. Foresail recognised what they did, {times(read.found.total)}: most "
        f"often {listed(top)}. The simulation knows what is true: {found:,} of {happened:,} happenings were found, and "
        f"{hit:,} of {count_of(near, 'near-miss', 'near-misses')} were taken for one."
    )
    second = (
        f"It also learned, from the first day alone, what comes before {listed(_names(result))}. On the second day it "
        f"gave {count_of(len(warnings.shown), 'warning')} before anything had happened; {right:,} came true."
    )
    return paragraphs(first, second)


def _names(result: "DemoResult") -> list[str]:
    return [plain(row["pattern"]) for row in result.trained["patterns"]]


def _figures(result: "DemoResult", read: Recognition, warnings: Warnings) -> tuple[tuple[str, str], ...]:
    return (
        (f"{result.tracks}", "vessels"),
        (f"{result.positions:,}", "positions"),
        (f"{read.found.total:,}", "matches"),
        (f"{warnings.total:,}", "warnings on the second day"),
        (span(result.seconds), "from nothing to this page"),
    )


def _found(read: Recognition, scores: "tuple[PatternScore, ...]") -> Markup:
    by_name = {score.pattern: score for score in scores}
    happened = {name: f"{score.injected + score.incidental:,}" for name, score in by_name.items()}
    near = {
        name: f"{score.near_misses_hit} of {score.near_misses}" for name, score in by_name.items() if score.near_misses
    }
    body = counts_table(
        read.patterns,
        (
            (Column("true happenings", numeric=True, hint="What the simulation knows to have happened"), happened),
            (Column("near-misses hit", numeric=True, hint="Behaviour that stops just short of the definition"), near),
        ),
    )
    remark = "A pattern without true happenings is a variant of another one, for which the simulation keeps no truth."
    return body + note(remark) + (not_found(read.absent) if read.absent else Markup("")) + unknown_to(read)


def _foretold(result: "DemoResult", read: Recognition, models: Mapping[str, Model], warnings: Warnings) -> Markup:
    said = (
        f"The models saw the events until {moment(result.learned_until)} UTC. These are their warnings after that: a "
        "warning begins where the chance of a match within the next events reaches a threshold chosen in training, "
        "and is right if the match comes within just these events."
    )
    return joined(
        (
            tag("p", said),
            warnings_table(warnings, models),
            tag("h3", "Some warnings, explained"),
            explained(warnings, models, read.names),
        )
    )


def _judged(evaluation: Mapping[str, Any], read: Recognition) -> tuple[Markup, dict[str, Any]]:
    body = in_short(evaluation)
    data: dict[str, Any] = {}
    for pattern in evaluation["patterns"]:
        part, held = pattern_evaluation(pattern, evaluation, read.layers, read.tracks)
        data |= held
        summary = tag(
            "summary", tag("span"), tag("span", titled(pattern["pattern"]), class_="title"),
            tag("span", count_of(pattern["matches"], "match", "matches"), class_="found"),
        )  # fmt: skip
        body += tag(
            "details", summary, tag("div", part, class_="inside"), class_="pattern", open=not held or len(data) == 1
        )
    return body + how_measured(evaluation), data


def _made(result: "DemoResult") -> Markup:
    rows = [(titled(step.name), step.said, f"{step.seconds:.1f} s") for step in result.steps]
    body = table((Column("step"), Column("what it did"), Column("time", numeric=True)), rows, "steps")
    remark = (
        "Each step is a command of its own, and what it wrote lies beside this page. Starting Spark is not counted."
    )
    return body + note(remark)
