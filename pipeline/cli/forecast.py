"""`foresail forecast`: say for every event how soon each pattern will come, by the models of a store."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from foresail.pipeline.cli.options import SharedOptions, end_failed_if_rejected, engine_option, shared_options
from foresail.pipeline.progress import write_summary

if TYPE_CHECKING:
    from foresail.models.model import Emission


@click.command()
@shared_options
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
@engine_option
def command(
    asked: SharedOptions,
    models: str,
    out: Path,
    form: str,
    emit: str,
    model_version: str,
    threshold: float | None,
    engine: str | None,
) -> None:
    """Forecast patterns: for every event the probability that one comes soon, or when."""
    from foresail.pipeline.jobs.forecast_request import ForecastRequest
    from foresail.pipeline.preflight import check_models

    settings = asked.settings()
    request = ForecastRequest(
        **asked.input(settings),
        models=models,
        out=out,
        form=form,
        emission=cast("Emission", emit),
        version=model_version,
        threshold=threshold,
    )
    check_models(models, request.catalog)
    if (engine or settings.jobs.engine) == "local":
        from foresail.pipeline.local.forecast_job import run_local_forecast

        summary = asked.run_here("forecast", settings, run_local_forecast, request, out)
    else:
        from foresail.pipeline.jobs.forecast import run_forecast

        summary = asked.run("forecast", settings, run_forecast, request, out) | {"engine": "spark"}
    _show(summary, asked.as_json)
    end_failed_if_rejected(summary, settings)


def _show(summary: dict[str, Any], as_json: bool) -> None:
    if as_json:
        write_summary(summary)
        return
    from foresail.pipeline.cli.tables import print_table, result_console
    from foresail.pipeline.fitting import left_out_lines
    from foresail.pipeline.reports.page import count_of

    title = f"{count_of(summary['forecasts'], 'forecast')} for {count_of(summary['events'], 'event')}"
    rows = [
        (
            row["pattern"],
            row["model_version"],
            f"{row['forecasts']:,}",
            f"{row['positive']:,}",
            f"{row['threshold']:.3f}",
        )
        for row in summary["patterns"]
    ]
    console = result_console()
    head = ("pattern", "model", "forecasts", "positive", "threshold")
    print_table(console, head, rows, ("threshold", "forecasts", "positive"), title)
    for line in left_out_lines(summary["skipped"]):
        console.print(f"not forecast: {line}", markup=False)
    console.print(f"{summary['events_per_second']:,} events/s; written to {summary['output']}")
