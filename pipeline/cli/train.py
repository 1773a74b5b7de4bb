"""`foresail train`: learn a model of each pattern from events, and keep it in a model store."""

from datetime import UTC, datetime
from typing import Any

import click

from foresail.pipeline.cli.options import SharedOptions, end_failed_if_rejected, per_option, shared_options
from foresail.pipeline.progress import write_summary

HEAD = ("pattern", "model", "order", "symbols", "contexts", "matches", "threshold", "F1 held out")
LEAST = ("contexts", "symbols", "order", "threshold", "matches", "F1 held out")
"""Columns in the order in which a narrow terminal does without them."""
MOST_NAMED = 10
"""Groups that are named in the table."""


@click.command()
@shared_options
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
@per_option
def command(
    asked: SharedOptions,
    models: str,
    add: bool,
    half_life_days: float | None,
    since: datetime | None,
    until: datetime | None,
    count_only: bool,
    each_day: bool,
    order: int | None,
    horizon: int | None,
    per: str | None,
) -> None:
    """Learn when patterns come: counts on Spark, one model per pattern, its threshold chosen on held-out events."""
    from foresail.pipeline.jobs.count_interval import count_each_day, count_interval
    from foresail.pipeline.jobs.train import TrainRequest, run_train

    if half_life_days is not None and not add:
        msg = "--half-life-days makes earlier counts fade: give --add too."
        raise click.UsageError(msg)
    if per is not None and count_only:
        msg = "--per: counts of intervals tell no groups apart. Leave out --count-only, or --per."
        raise click.UsageError(msg)
    if count_only and (since is None or until is None):
        msg = "--count-only: counts are kept by interval. Give --from and --to."
        raise click.UsageError(msg)
    settings = asked.settings()
    request = TrainRequest(
        **asked.input(settings),
        models=models,
        add=add,
        half_life_days=half_life_days,
        since=_utc(since),
        until=_utc(until),
        order=order,
        horizon=horizon,
        per=per,
        settings=settings.forecasting,
    )
    if not count_only:
        summary = asked.run("train", settings, run_train, request)
        _show(summary, asked.as_json)
        end_failed_if_rejected(summary, settings)
        return
    count = count_each_day if each_day else count_interval

    def job(spark: Any, request: Any, progress: Any) -> dict[str, Any]:
        return count(spark, request, settings.training, progress)

    summary = asked.run("train", settings, job, request)
    _show_count(summary, asked)
    end_failed_if_rejected(summary, settings)


def _show_count(summary: dict[str, Any], asked: SharedOptions) -> None:
    if asked.as_json:
        write_summary(summary)
        return
    for row in summary.get("intervals", [summary]):
        click.echo(f"{row['interval']}: {len(row['patterns'])} patterns counted, {row['seconds']:.1f} s")


def _utc(moment: datetime | None) -> datetime | None:
    return moment.replace(tzinfo=UTC) if moment else None


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    f1 = row["scores"].get("f1")
    facts = (row["order"], row["symbols"], row["contexts"], f"{row['matches']:,}", f"{row['threshold']:.3f}")
    return row["pattern"], row["model_version"], *map(str, facts), "" if f1 is None else f"{f1:.3f}"


def _show(summary: dict[str, Any], as_json: bool) -> None:
    if as_json:
        write_summary(summary)
        return
    from foresail.pipeline.cli.tables import print_table, result_console
    from foresail.pipeline.fitting import left_out_lines
    from foresail.pipeline.reports.page import count_of

    console = result_console()
    title = f"{count_of(summary['events'], 'event')} of {count_of(summary['tracks'], 'track')}"
    print_table(console, HEAD, map(_cells, summary["patterns"]), LEAST, title)
    for row in summary["patterns"]:
        if "groups" in row:
            names = ", ".join(row["groups"][:MOST_NAMED]) + (", ..." if len(row["groups"]) > MOST_NAMED else "")
            console.print(
                f"{row['pattern']}: {len(row['groups'])} models per {row['per']} beside it ({names or 'none'})"
            )
    for row in summary["patterns"]:
        for note in row["notes"]:
            console.print(f"{row['pattern']}: {note}", markup=False, soft_wrap=True)
    for line in left_out_lines(summary["skipped"]):
        console.print(f"not trained: {line}", markup=False)
    console.print(f"models kept in {summary['models']}; {summary['seconds']:.1f} s")
