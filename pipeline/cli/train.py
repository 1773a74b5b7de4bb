"""`foresail train`: learn a model of each pattern from events, and keep it in a model store."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from pipeline.cli.forecast_options import catalog_of, input_options, types_of
from pipeline.cli.options import output_options, settings_from, settings_options
from pipeline.progress import open_progress, write_summary


@click.command()
@input_options
@click.option("--models", required=True, metavar="DIR", help="The model store: a folder or a URI.")
@click.option("--add", is_flag=True, help="Add to the counts of earlier training; otherwise they are counted anew.")
@click.option("--half-life-days", type=click.FloatRange(min=0, min_open=True), help="With --add: old counts fade.")
@click.option("--from", "since", type=click.DateTime(), help="Only events from this time on (UTC).")
@click.option("--to", "until", type=click.DateTime(), help="Only events before this time (UTC).")
@click.option(
    "--count-only", is_flag=True, help="Only count --from to --to; `foresail models learn` goes on from there."
)
@click.option("--each-day", is_flag=True, help="With --count-only: every day (UTC) is an interval of its own.")
@click.option("--order", type=click.IntRange(min=0), help="The longest context to keep; the catalog says otherwise.")
@click.option("--horizon", type=int, help="How many events ahead to look; the catalog says otherwise.")
@settings_options
@output_options
def command(
    events: tuple[str, ...],
    patterns: tuple[str, ...],
    domain: str | None,
    layers: Path | None,
    types: str | None,
    time_unit: str | None,
    sets: tuple[str, ...],
    models: str,
    add: bool,
    half_life_days: float | None,
    since: datetime | None,
    until: datetime | None,
    count_only: bool,
    each_day: bool,
    order: int | None,
    horizon: int | None,
    settings_file: Path | None,
    master: str | None,
    conf: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> None:
    """Learn when patterns come: counts on Spark, one model per pattern, its threshold chosen on held-out events."""
    from pipeline.jobs.train import TrainRequest, run_train
    from pipeline.session import start_spark

    if half_life_days is not None and not add:
        msg = "--half-life-days makes earlier counts fade: give --add too."
        raise click.UsageError(msg)
    catalog = catalog_of(patterns, domain, sets)
    settings = settings_from(settings_file, master, conf)
    request = TrainRequest(
        events,
        catalog,
        models,
        types_of(types),
        time_unit,
        layers,
        settings.layers.directory,
        skip_unfit=not patterns,
        add=add,
        half_life_days=half_life_days,
        since=_utc(since),
        until=_utc(until),
        order=order,
        horizon=horizon,
        settings=settings.forecasting,
    )
    progress = open_progress(quiet)
    spark = start_spark(settings, "foresail train", progress)
    try:
        if count_only:
            _count(spark, request, settings, progress, each_day, as_json)
            return
        summary = run_train(spark, request, progress)
    finally:
        spark.stop()
    _show(summary, as_json)


def _count(spark: Any, request: Any, settings: Any, progress: Any, each_day: bool, as_json: bool) -> None:
    from pipeline.jobs.count_interval import count_each_day, count_interval

    count = count_each_day if each_day else count_interval
    summary = count(spark, request, settings.training, progress)
    if as_json:
        write_summary(summary)
        return
    for row in summary.get("intervals", [summary]):
        click.echo(f"{row['interval']}: {len(row['patterns'])} patterns counted, {row['seconds']:.1f} s")


def _utc(moment: datetime | None) -> datetime | None:
    return moment.replace(tzinfo=UTC) if moment else None


def _show(summary: dict[str, Any], as_json: bool) -> None:
    if as_json:
        write_summary(summary)
        return
    from rich.console import Console
    from rich.table import Table

    head = ("pattern", "model", "order", "symbols", "contexts", "matches", "threshold", "F1 held out")
    table = Table(*head, title=f"{summary['events']:,} events of {summary['tracks']:,} tracks")
    for row in summary["patterns"]:
        f1 = row["scores"].get("f1")
        cells = (row["order"], row["symbols"], row["contexts"], f"{row['matches']:,}", f"{row['threshold']:.3f}")
        table.add_row(row["pattern"], row["model_version"], *map(str, cells), "" if f1 is None else f"{f1:.3f}")
    console = Console()
    console.print(table)
    for name, reason in summary["skipped"].items():
        console.print(f"not trained: {name} ({reason})")
    console.print(f"models kept in {summary['models']}; {summary['seconds']:.1f} s")
