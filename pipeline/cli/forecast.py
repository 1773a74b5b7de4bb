"""`foresail forecast`: say for every event how soon each pattern will come, by the models of a store."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from pipeline.cli.forecast_options import catalog_of, input_options, types_of
from pipeline.cli.options import output_options, settings_from, settings_options
from pipeline.progress import open_progress, write_summary

if TYPE_CHECKING:
    from models.model import Emission


@click.command()
@input_options
@click.option("--models", required=True, metavar="DIR", help="The model store: a folder or a URI.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The folder to write to.")
@click.option("--format", "form", type=click.Choice(["parquet", "jsonl"]), default="parquet", show_default=True)
@click.option(
    "--emit",
    type=click.Choice(["all", "positive", "changes"]),
    default="all",
    show_default=True,
    help="Every forecast, the positive ones, or only where positive begins or ends.",
)
@click.option("--model-version", default="champion", show_default=True, help="Which version of the model to use.")
@click.option("--threshold", type=click.FloatRange(0, 1), help="In place of the one that training chose.")
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
    out: Path,
    form: str,
    emit: str,
    model_version: str,
    threshold: float | None,
    settings_file: Path | None,
    master: str | None,
    conf: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> None:
    """Forecast patterns: for every event the probability that one comes soon, or when."""
    from pipeline.jobs.forecast import ForecastRequest, run_forecast
    from pipeline.session import start_spark

    catalog = catalog_of(patterns, domain, sets)
    settings = settings_from(settings_file, master, conf)
    request = ForecastRequest(
        events,
        catalog,
        models,
        out,
        form,
        cast("Emission", emit),
        types_of(types),
        time_unit,
        layers,
        settings.layers.directory,
        skip_unfit=not patterns,
        version=model_version,
        threshold=threshold,
    )
    progress = open_progress(quiet)
    spark = start_spark(settings, "foresail forecast", progress)
    try:
        summary = run_forecast(spark, request, progress)
    finally:
        spark.stop()
    _show(summary, as_json)


def _show(summary: dict[str, Any], as_json: bool) -> None:
    if as_json:
        write_summary(summary)
        return
    from rich.console import Console
    from rich.table import Table

    title = f"{summary['forecasts']:,} forecasts for {summary['events']:,} events"
    table = Table("pattern", "model", "forecasts", "positive", "threshold", title=title)
    for row in summary["patterns"]:
        cells = (f"{row['forecasts']:,}", f"{row['positive']:,}", f"{row['threshold']:.3f}")
        table.add_row(row["pattern"], row["model_version"], *cells)
    console = Console()
    console.print(table)
    for name, reason in summary["skipped"].items():
        console.print(f"not forecast: {name} ({reason})")
    console.print(f"{summary['events_per_second']:,} events/s; written to {summary['output']}")
